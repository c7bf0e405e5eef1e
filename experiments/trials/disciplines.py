"""Requirements: of a scheduler by its discipline, and of every policy."""

from __future__ import annotations

from collections.abc import Mapping

REQUIREMENTS: Mapping[str, str] = {
    "protocol": "each message is answered by a reply that Batsim accepts",
    "nodes": "each job gets as many compute nodes as it requests, each used by one job at a time",
    "buffers": "running jobs fit on the storage nodes, each request on a single one",
    "once": "each job that can run is started once, and neither rejected nor killed within its walltime",
    "ends": "no job waits for ever, and a job that can never run is rejected",
    "order": "no job starts while an earlier one waits",
    "first": "the first job of the queue starts as soon as its nodes and its buffer are free",
    "promise": "no other job delays the first one beyond its shadow time (for nodes and buffer, by the walltimes)",
    "backfill": "a job that fits now and ends before the first one can start, is started",
    "spare": "so is one that ends later, on nodes and bytes that the first one does not need",
    "promises": "no job starts later than promised: its start without later jobs and with whole walltimes for all runs",
}
"""Requirements by name, in words."""

SAFETY = ("protocol", "nodes", "buffers", "once", "ends")

DISCIPLINES: Mapping[str, tuple[str, ...]] = {
    "any": SAFETY,
    "fcfs": (*SAFETY, "order", "first"),
    "easy": (*SAFETY, "first", "promise", "backfill"),
    "easy-counted": (*SAFETY, "first", "promise", "backfill", "spare"),
    "conservative": (*SAFETY, "promises"),
}
"""Requirements by discipline. The queue is in order of submission.

``easy`` leaves open whether the reservation of the first job is a number of nodes or names them: if it names them, a
job that would fit by numbers may be refused. ``easy-counted`` is EASY as defined by its authors, by numbers.

References
----------
Lifka, *The ANL/IBM SP scheduling system*, JSSPP 1995; Mu'alem, Feitelson, IEEE TPDS 12(6),
2001, section 2.2 (EASY and conservative backfilling); Kopanski 2020, section 3 (reservations that cover burst buffers).
"""

CHECKS: Mapping[str, str] = {
    "decisions": "the guard accepts each decision, and no pass fails",
    "nothing over-committed": "no node is held twice, no burst buffer beyond its capacity, no host that is out",
    "stops": "each pass ends, and the policy does not request further calls for ever",
    "ends": "once arrivals stop, every job ends, is killed or is rejected",
    "view": "the policy does not change the view",
    "clock and chance": "no clock, no randomness but view.rng",
    "same again": "the same seed gives the same tables, in this process and with other hash seeds",
    "players": "messages as objects and as bytes of Batsim's protocol give the same tables",
}
"""Checks of a policy in this process, independent of its discipline, in the order of the report."""
