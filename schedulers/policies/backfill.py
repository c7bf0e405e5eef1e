"""Backfilling with options for FCFS, greedy filling, EASY with and without burst-buffer reservations, and SJF-EASY.

References
----------
Kopanski, master's thesis 2020 (DOI of the Euro-Par version 10.1007/978-3-030-85665-6_8), Algorithms 1-5 (section 3);
Mu'alem, Feitelson, IEEE TPDS 12(6), 2001 (EASY and conservative backfilling).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spillway.base.options import option
from spillway.core import Resource
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.ordering import ORDER_NAMES, ordered
from spillway.schedulers.policykit.passes import fill, reserve_first, start_in_order
from spillway.schedulers.policykit.view import View

COVERED: dict[str, Resource] = {
    "nodes": Resource.NODES,
    "nodes+bb": Resource.NODES | Resource.BURST_BUFFERS,
    "all": Resource.ALL,
}
"""Resources that reservations cover, by name; ``nodes`` alone is the thesis's EASY, which starves burst-buffer jobs."""


@dataclass(frozen=True)
class Backfill:
    """Start jobs in queue order, reserve for the first that cannot start, fill the gaps with later jobs."""

    source: ClassVar[str] = "Kopanski 2020, section 3, Algorithms 1-5"
    starts_moldable: ClassVar[bool] = True

    depth: int = option(
        1,
        unit="jobs",
        low=0,
        high=1_000_000,
        help="reservation depth: waiting jobs that get a reservation per pass",
    )
    backfilling: bool = option(
        True, help="whether later jobs may start after one that does not fit (off: strict order)"
    )
    order: str = option("fcfs", choices=ORDER_NAMES, help="queue order of the jobs started and reserved in order")
    fill_order: str = option("fcfs", choices=ORDER_NAMES, help="queue order in which the gaps are filled")
    covered: str = option("all", choices=tuple(COVERED), help="resources that reservations cover")
    literal_depth: bool = option(
        False,
        help="the thesis's code for depth >= 2: a reserved job never starts in the pass that reserves for it, even "
        "when its reservation begins now",
    )

    by_number: bool = option(
        False,
        help="reserve as few as possible of the nodes that are idle now, so that spare nodes count by their number "
        "(off: the first nodes, as published)",
    )
    spare: bool = option(
        True,
        help="whether a later job may run beyond the start of the first reservation, on nodes that it leaves spare "
        "(off: it must end before, as in Flux's sched-backfill)",
    )

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass: start in order, reserve for the first jobs that cannot start, fill the gaps with the others."""
        waiting: Sequence[Job] = view.queue
        head = ""
        if self.depth or not self.backfilling:
            waiting = ordered(view, waiting, self.order)
            started: list[Job] = []
            yield from start_in_order(view, waiting, started)
            if started:
                waiting = waiting[len(started) :]
            if not waiting or not self.backfilling:
                return
            head, first = waiting[0].id, waiting[: self.depth]
            yield from reserve_first(view, first, COVERED[self.covered], self.literal_depth, waiting[0], self.by_number)
            if not self.spare:
                _take_all_from(view, min(view.reserved, default=math.inf))
            waiting = waiting[self.depth :]
            if self.fill_order == "fcfs" and self.order != "fcfs":
                waiting = sorted(waiting, key=lambda job: job.number)
        yield from fill(view, ordered(view, waiting, self.fill_order), head)


def _take_all_from(view: View, shadow_s: float) -> None:
    """Take all nodes from the start of the first reservation on, also where it begins now.

    The first job can wait although its reservation begins now: for a resource that reservations do not cover.
    """
    if shadow_s < math.inf:
        view.timeline.take(max(shadow_s, view.now_s), math.inf, range(len(view.machine.nodes)))
