"""Maximising utilisation: start the jobs of the queue order that uses most nodes and burst buffers now.

References
----------
Kopanski, master's thesis 2020, section 3.2, Algorithm 6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.policykit.balance import nodes_first
from spillway.schedulers.policykit.filling import Filling, Order, all_orders, sorted_by
from spillway.schedulers.policykit.ordering import THESIS_STARTS, key_column
from spillway.schedulers.policykit.passes import fill, serve_first
from spillway.schedulers.policykit.view import View

ALL_ORDERS_JOBS = 6
"""Largest number of jobs of which all orders are tried."""


@dataclass(frozen=True)
class MaxUtil:
    """Serve the first jobs, then fill in the order that starts most nodes and bytes (or bytes and nodes)."""

    source: ClassVar[str] = "Kopanski 2020, section 3.2, Algorithm 6"
    starts_moldable: ClassVar[bool] = True

    depth: int = option(
        1, unit="jobs", low=0, high=1_000_000, help="reservation depth: first jobs that start or get a reservation"
    )
    balance: float = option(
        1.0, low=0.0, high=1e6, help="nodes come first while burst-buffer load <= balance x compute load of the queue"
    )
    evaluations: int = option(
        5000, unit="evaluations", low=0, high=100_000_000, help="swaps that hill climbing tries per pass"
    )
    literal_depth: bool = option(
        False,
        help="the thesis's code for depth >= 2: a reserved job never starts in the pass that reserves for it, even "
        "when its reservation begins now",
    )

    def __call__(self, view: View) -> Iterable[Decision]:
        """Serve the first ``depth`` jobs, then fill with the others in the best order found."""
        first, others = view.queue[: self.depth], view.queue[self.depth :]
        waiting_before = yield from serve_first(view, first, self.literal_depth)
        if not others or (view.notes is None and not view.may_start):
            return
        in_order = others
        if len(others) > 1:
            filling = Filling(
                view.timeline, others, view.estimate_s, nodes_first(view.machine, view.queue, self.balance)
            )
            if filling.anything_starts:
                in_order = [others[index] for index in self._search(view, filling).tolist()]
        yield from fill(view, in_order, waiting_before[0].id if waiting_before else "")

    def _search(self, view: View, filling: Filling) -> Order:
        """Best of all orders for few jobs; else the best of the thesis's nine, improved by swaps."""
        if len(filling.jobs) <= ALL_ORDERS_JOBS:
            return filling.best_of(all_orders(len(filling.jobs)))[0]
        columns = (key_column(filling.jobs, name, view.now_s) for name in THESIS_STARTS)
        best, _ = filling.best_of(sorted_by(columns))
        return filling.climb(best, self.evaluations)[0]
