"""What is required: of a scheduler by its discipline, and of every policy."""

from __future__ import annotations

from collections.abc import Mapping

REQUIREMENTS: Mapping[str, str] = {
    "protocol": "each reply is one that Batsim accepts, and comes",
    "nodes": "each job gets as many compute nodes as it requests, none of them twice at a time",
    "buffers": "what runs together fits the storage nodes, each request whole on one of them",
    "once": "each job that can run is started once, and neither rejected nor killed within its walltime",
    "ends": "no job waits for ever, and what can never run is rejected",
    "order": "no job starts while one waits that was submitted before",
    "first": "the first job of the queue starts as soon as its nodes and its buffer are free",
    "promise": "no other job delays the first one beyond when, by the walltimes, its nodes and its buffer are there",
    "backfill": "a job that is free to start and ends before the first one can start, is started",
    "spare": "so is one that ends later, on nodes and bytes that the first one leaves",
    "promises": "no job starts later than promised: when it would without later jobs, all runs taking their walltimes",
}
"""What can be broken, in words."""

SAFETY = ("protocol", "nodes", "buffers", "once", "ends")

DISCIPLINES: Mapping[str, tuple[str, ...]] = {
    "any": SAFETY,
    "fcfs": (*SAFETY, "order", "first"),
    "easy": (*SAFETY, "first", "promise", "backfill"),
    "easy-counted": (*SAFETY, "first", "promise", "backfill", "spare"),
    "conservative": (*SAFETY, "promises"),
}
"""Requirements by discipline. The queue is in order of submission.

``easy`` leaves open whether the reservation of the first job is a number of nodes or names them: where it names them,
a job may be refused that would fit by numbers. ``easy-counted`` is EASY as its authors define it, by numbers.

References
----------
Lifka, *The ANL/IBM SP scheduling system*, JSSPP 1995; Mu'alem, Feitelson, IEEE TPDS 12(6),
2001, section 2.2 (EASY and conservative backfilling); Kopanski 2020, section 3 (reservations that cover burst buffers).
"""

CHECKS: Mapping[str, str] = {
    "decisions": "each decision is one that the guard accepts, and no pass fails",
    "nothing over-committed": "no node is held twice, no burst buffer beyond its capacity, nothing where hosts are out",
    "stops": "each pass comes to its end, and the policy does not have itself called for ever",
    "ends": "once arrivals stop, every job ends, is killed or is rejected",
    "view": "what is shown to the policy is left as it is",
    "clock and chance": "no clock, no chance but view.rng",
    "same again": "the same seed gives the same tables, in this process and with other hash seeds",
    "players": "the direct player and messages over the wire give the same tables",
}
"""Of a policy in this process, whatever its discipline; the order is that of the report."""
