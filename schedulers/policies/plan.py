"""Plan-based scheduling: plan the whole queue in the best order found, start the jobs planned for now.

References
----------
Kopanski, master's thesis 2020, section 3.4, Algorithm 8; Zheng et al., CLUSTER 2016. Further starting orders: see
:mod:`spillway.schedulers.policykit.ordering`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.explanations import Role
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.history import RecentWaits
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.ordering import THESIS_STARTS, positions
from spillway.schedulers.policykit.pass_limit import BoundedPass, Over, PassLimit, never, told
from spillway.schedulers.policykit.passes import binding_now, fill, serve_first
from spillway.schedulers.policykit.planning import Annealing, Order, Planner
from spillway.schedulers.policykit.view import View

_LAST_PLAN = "last plan"
WAITS = "waits"
"""Keys of the notebook: order of the last plan, recent waits."""

EXHAUSTIVE_JOBS = 5
"""Largest number of jobs of which all orders are tried (Algorithm 8)."""

GUARD_TIMES, GUARD_POWER = 2.0, 4.0
"""Factor from the quantile of recent waits to the guard, and power of wait / guard in the additional weight."""


@dataclass(frozen=True)
class Search:
    """Starting orders of annealing, and its moves.

    Attributes
    ----------
    orders
        Starting orders by name.
    backfilled
        Orders that also give EASY backfilling's schedules as starting orders.
    published
        As the thesis's code: swaps of any two jobs, temperatures from the spread of the starting scores, scores in
        whole seconds. Else the last plan is a starting order, too, only delayed jobs move, and temperatures are
        geometric from (best - lower bound) / jobs.
    """

    orders: tuple[str, ...]
    backfilled: tuple[str, ...] = ()
    published: bool = False


ALL_ORDERS = (*THESIS_STARTS, "small-bb", "large-bb", "area", "expansion", "wfp3", "unicef", "f1", "f2", "f3", "f4")
SEARCHES: dict[str, Search] = {
    "thesis": Search(THESIS_STARTS, published=True),
    "delayed": Search(ALL_ORDERS),
    "delayed+easy": Search(ALL_ORDERS, ("area",)),
}
"""Searches by name."""


@dataclass(frozen=True)
class Plan:
    """Plan all waiting jobs in the best order found by annealing; start the jobs planned for now."""

    source: ClassVar[str] = "Kopanski 2020, section 3.4, Algorithm 8"
    starts_moldable: ClassVar[bool] = True

    depth: int = option(0, unit="jobs", low=0, high=1_000_000, help="reservation depth: jobs served before planning")
    alpha: float = option(2.0, low=0.01, high=10.0, help="power of the waiting times in the score")
    beta: float = option(0.0, low=0.0, high=2.0, help="power of max(walltime, 600 s) that divides each job's term")
    guard_quantile: float = option(
        0.0,
        low=0.0,
        high=1.0,
        help="waits beyond twice this quantile of the last 1,000 jobs' weigh more and more (1: longest waits 0.98 in "
        "place of 1.06 of the thesis's plan); 0: no guard",
    )
    latest: bool = option(False, help="minimise the latest planned start instead (the thesis's text for plan-start)")
    search: str = option(
        "delayed",
        choices=tuple(SEARCHES),
        help="the thesis's orders, swaps and temperatures; further orders and the last plan, and moves of delayed jobs "
        "(waits 0.97 of the thesis's); the same with EASY's schedule, smallest area first",
    )
    expected: float = option(
        1.0, low=0.01, high=1.0, help="share of its estimated duration for which a waiting job is planned"
    )
    steps: int = option(180, unit="evaluations", low=0, high=10_000_000, help="annealing moves per pass")
    placements: int = option(
        0, unit="jobs", low=0, high=10**12, help="most jobs that the moves of a search place; 0: no bound"
    )
    literal_depth: bool = option(False, help="the thesis's code for depth >= 2, as in backfilling")
    limit: PassLimit | None = field(default=None, repr=False)

    def limited(self, limit: PassLimit) -> Self:
        """Return the same policy with a bound on the time of a search."""
        return replace(self, limit=limit)

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
        """State how many searches the bound ended."""
        return told(notebook)

    def __call__(self, view: View) -> Iterable[Decision]:
        """Serve the first ``depth`` jobs, then plan the others."""
        yield from serve_first(view, view.queue[: self.depth], self.literal_depth)
        waiting = view.queue[self.depth :]
        if len(waiting) == 1:
            yield from fill(view, waiting)
        elif waiting and self._anything_fits(view, waiting):
            yield from self._planned(view, waiting)
        elif waiting and view.notes is not None:  # only for notes on their starts
            deque(self._planned(view.aside(), waiting), maxlen=0)

    def _anything_fits(self, view: View, jobs: Sequence[Job]) -> bool:
        timeline = view.timeline
        return view.may_start and any(timeline.fit_now(job, self._planned_s(view, job)) is not None for job in jobs)

    def _planned(self, view: View, jobs: Sequence[Job]) -> Iterator[Decision]:
        planner = Planner(
            view.timeline,
            jobs,
            lambda job: self._planned_s(view, job),
            Objective(self.alpha, self.beta, self.latest, self._guard_s(view), GUARD_POWER),
        )
        order = self._search(view, planner)
        if not SEARCHES[self.search].published:
            view.notebook[_LAST_PLAN] = [jobs[index].id for index in order.tolist()]
        in_order = [jobs[index] for index in order.tolist()]
        planner.score(order)
        planned_now = [
            position for position, index in enumerate(order.tolist()) if planner.starts_s[index] <= view.now_s
        ]
        last = len(in_order) if view.notes is not None else max(planned_now, default=-1) + 1
        for job in in_order[:last]:
            yield from self._enact(view, job)

    def _enact(self, view: View, job: Job) -> Iterator[Decision]:
        """Book a job at its planned start, and start it if that is now.

        Jobs planned for later are booked, too: else jobs after them would get other nodes and storage nodes than in the
        plan, and the whole requests of a later job might not fit any more.
        """
        duration_s = self._planned_s(view, job)
        binding = binding_now(view, job) if view.notes is not None else None
        fit = view.timeline.earliest_fit(job, duration_s)
        if fit is None:
            return
        view.timeline.reserve(fit.start_s, fit.start_s + duration_s, fit.allocation)
        starts = fit.start_s <= view.now_s
        if view.notes is not None:
            view.notes.write(job.id, Role.PLANNED, None if starts else binding, fit.start_s)
        if starts:
            yield Start(job, fit.allocation)

    def _guard_s(self, view: View) -> float:
        """Wait beyond which jobs weigh more and more (s)."""
        if self.guard_quantile == 0:
            return math.inf
        waits: RecentWaits = view.notebook.setdefault(WAITS, RecentWaits())
        so_far_s = [view.now_s - job.submit_time_s for job in view.queue]
        return GUARD_TIMES * waits.quantile_s(view.finished, so_far_s, self.guard_quantile)

    def _planned_s(self, view: View, job: Job) -> float:
        """Planned duration of a waiting job (s); running jobs hold their resources to the end of their estimate.

        Most jobs end before their walltime. Shorter planned durations let jobs into gaps that are a little shorter than
        their walltimes; the job for which the gap was kept is late only if they outlast their planned durations. No gap
        ends in a window of maintenance.
        """
        whole_s = view.estimate_s(job)
        return whole_s if view.now_s + whole_s > view.taken_from_s else whole_s * self.expected

    def _search(self, view: View, planner: Planner) -> Order:
        bounded = BoundedPass(self.limit)
        order = self._search_until(view, planner, never if self.limit is None else bounded.over)
        bounded.count(view.notebook)
        if bounded.ended and view.notes is not None:
            view.notes.remarks.append(f"plan: ended by the pass limit after {planner.evaluations} evaluations")
        return order

    def _search_until(self, view: View, planner: Planner, over: Over) -> Order:
        if len(planner.jobs) <= EXHAUSTIVE_JOBS:
            return planner.exhaust(over)[0]
        moves = self._moves_for(len(planner.jobs))
        best, score, worst = planner.best_of(self._starting_orders(view, planner), over)
        if SEARCHES[self.search].published:
            score, worst = float(round(score)), float(round(worst))
        if moves == 0 or worst == score:
            return best
        how = self._annealing(planner, score, worst, moves)
        if how is None:
            return best
        return planner.anneal(best, score, how, view.rng.getrandbits(64), over)[0]

    def _moves_for(self, jobs: int) -> int:
        """Moves of a search for this number of jobs, bounded by the jobs that they place, alike on every machine."""
        return min(self.steps, self.placements // jobs) if self.placements else self.steps

    def _annealing(self, planner: Planner, score: float, worst: float, moves: int) -> Annealing | None:
        """Temperatures and moves; ``None`` if the best order cannot be improved."""
        if SEARCHES[self.search].published:
            return Annealing(moves, worst - score)
        gap = score - planner.least
        if gap <= 1e-9 * abs(score):
            return None
        return Annealing(moves, gap / len(planner.jobs), 1e-3 ** (1.0 / moves), 1, 0.0, False, True)

    def _starting_orders(self, view: View, planner: Planner) -> Iterator[Order]:
        jobs, search = planner.jobs, SEARCHES[self.search]
        orders = positions(jobs, search.orders, view.now_s)
        for name, order in zip(search.orders, orders, strict=True):
            yield order
            if name in search.backfilled:
                yield planner.backfilled(order)
        if not search.published:
            rank = {job.id: index for index, job in enumerate(jobs)}
            last = [rank[job_id] for job_id in view.notebook.get(_LAST_PLAN, ()) if job_id in rank]
            if last:
                known = set(last)
                yield np.array(last + [index for index in range(len(jobs)) if index not in known], np.int32)
