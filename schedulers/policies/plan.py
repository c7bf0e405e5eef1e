"""Plan-based scheduling: plan the whole queue in the best order found, start the jobs planned for now.

References
----------
Kopanski, master's thesis 2020, section 3.4, Algorithm 8; Zheng et al., CLUSTER 2016. Further starting orders: see
:mod:`spillway.schedulers.policykit.ordering`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from spillway.base.errors import OptionError
from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.explanations import Role
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.evolution import Evolution, evolve
from spillway.schedulers.policykit.history import RecentWaits
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.ordering import THESIS_STARTS, positions
from spillway.schedulers.policykit.pass_limit import Bounded, Over, PassLimit, never, told
from spillway.schedulers.policykit.passes import binding_now, fill, serve_first
from spillway.schedulers.policykit.planning import Annealing, Order, Planner
from spillway.schedulers.policykit.view import View

_LAST_PLAN = "last plan"
_LAST_STARTS = "last starts"
WAITS = "waits"
"""Keys of the notebook: order of the last plan, its starts by job in that order (with ``keep``), recent waits."""

_MORE_ORDERS = ("small-bb", "large-bb", "area", "expansion", "wfp3", "unicef", "f1", "f2", "f3", "f4")
ALL_ORDERS = THESIS_STARTS + _MORE_ORDERS
_EASY_ORDERS = ("fcfs", "sjf", "area", "wfp3", "f1", "f4")
CANDIDATES: dict[str, tuple[str, ...]] = {
    "thesis": THESIS_STARTS,
    "all": ALL_ORDERS,
    "portfolio": ALL_ORDERS,
    "easy": _EASY_ORDERS,
}
"""Starting orders by name of the set; ``all`` adds published ones (and the last plan, with ``warm_start``)."""

BACKFILLED: dict[str, tuple[str, ...]] = {"portfolio": ("area",), "easy": _EASY_ORDERS}
"""Orders that also give EASY backfilling's schedules as starting orders, by name of the set."""


@dataclass(frozen=True)
class Plan:
    """Plan all waiting jobs in the best order found by annealing; start the jobs planned for now."""

    source: ClassVar[str] = "Kopanski 2020, section 3.4, Algorithm 8"
    starts_moldable: ClassVar[bool] = True

    depth: int = option(0, unit="jobs", low=0, high=1_000_000, help="reservation depth: jobs served before planning")
    alpha: float = option(2.0, low=0.01, high=10.0, help="power of the waiting times in the score")
    beta: float = option(0.0, low=0.0, high=2.0, help="power of max(walltime, 600 s) that divides each job's term")
    guard: float = option(
        float("inf"), unit="s", low=1.0, high=float("inf"), help="waits beyond this weigh more and more; inf: no guard"
    )
    guard_quantile: float = option(
        0.0, low=0.0, high=1.0, help="guard by this quantile of the waits of the last 1,000 jobs; 0: the option guard"
    )
    guard_times: float = option(1.0, low=0.01, high=1000.0, help="factor from that quantile to the guard")
    guard_power: float = option(1.5, low=0.1, high=10.0, help="power of wait / guard in the additional weight")
    latest: bool = option(False, help="minimise the latest planned start instead (the thesis's text for plan-start)")
    exhaustive: int = option(5, unit="jobs", low=0, high=8, help="largest number of jobs of which all orders are tried")
    candidates: str = option(
        "all",
        choices=tuple(CANDIDATES),
        help="starting orders; portfolio: all, and EASY's schedule by area; easy: six, and EASY's schedule in each",
    )
    warm_start: bool = option(True, help="add the last pass's plan to the starting orders")
    keep: bool = option(
        False, help="no search while the last plan holds: no job arrived, and all planned starts are unchanged"
    )
    expected: float = option(
        1.0, low=0.01, high=1.0, help="share of its estimated duration for which a waiting job is planned"
    )
    search: str = option(
        "annealing",
        choices=("annealing", "genetic"),
        help="method of search from the starting orders, with the same number of evaluations",
    )
    steps: int = option(180, unit="evaluations", low=0, high=10_000_000, help="annealing moves (or children) per pass")
    placements: int = option(
        0, unit="jobs", low=0, high=10**12, help="most jobs that the moves of a search place; 0: no bound"
    )
    population: int = option(20, unit="orders", low=3, high=10_000, help="orders of a generation of the genetic search")
    chains: int = option(
        1, low=1, high=64, help="parallel annealing runs with all moves each, on as many cores; the best is taken"
    )
    restarts: int = option(1, low=1, high=100, help="annealing runs per pass, each with its share of the moves")
    schedule: str = option(
        "bound",
        choices=("bound", "spread"),
        help="temperatures: geometric from (best - lower bound) / jobs, or the thesis's from worst - best",
    )
    moves: str = option(
        "delayed", choices=("delayed", "mixed", "swap"), help="moves: of delayed jobs, of any, or the thesis's swaps"
    )
    finish: str = option(
        "plan",
        choices=("plan", "fill"),
        help="start the jobs planned for now (the thesis's code), or fill in plan order",
    )
    whole_seconds: bool = option(False, help="round scores to whole numbers, as the thesis's code does")
    literal_depth: bool = option(False, help="the thesis's code for depth >= 2, as in backfilling")
    limit: PassLimit | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse options without effect: two guards, or options of annealing with the genetic search."""
        if self.guard_quantile > 0 and self.guard < float("inf"):
            raise OptionError(
                f"options 'guard' and 'guard_quantile' both place the guard, got {self.guard:g} s and "
                f"{self.guard_quantile:g}: give one of them (guard=inf or guard_quantile=0: no such guard)"
            )
        if self.search == "genetic" and (self.chains > 1 or self.restarts > 1):
            raise OptionError(
                "options 'chains' and 'restarts' are of search=annealing, got search=genetic with "
                f"chains={self.chains}, restarts={self.restarts}: leave them out, or take more steps"
            )

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
            Objective(self.alpha, self.beta, self.latest, self._guard_s(view), self.guard_power),
        )
        order = self._standing(view, planner)
        if order is None:
            order = self._search(view, planner)
        if self.keep:
            planner.score(order)
            view.notebook[_LAST_STARTS] = {jobs[index].id: planner.starts_s.item(index) for index in order.tolist()}
        if self.warm_start:
            view.notebook[_LAST_PLAN] = [jobs[index].id for index in order.tolist()]
        in_order = [jobs[index] for index in order.tolist()]
        if self.finish == "fill":
            yield from fill(view, in_order)
            return
        planner.score(order)
        planned_now = [
            position for position, index in enumerate(order.tolist()) if planner.starts_s[index] <= view.now_s
        ]
        last = len(in_order) if view.notes is not None else max(planned_now, default=-1) + 1
        for job in in_order[:last]:
            yield from self._enact(view, job)

    def _standing(self, view: View, planner: Planner) -> Order | None:
        """The last plan's order if it has all waiting jobs and still gives the same starts, else ``None``."""
        planned: dict[str, float] = view.notebook.get(_LAST_STARTS, {}) if self.keep else {}
        rank = {job.id: index for index, job in enumerate(planner.jobs)}
        if not rank.keys() <= planned.keys():
            return None
        order = np.array([rank[job_id] for job_id in planned if job_id in rank], np.int32)
        planner.score(order)
        if any(planner.starts_s[index] != planned[job_id] for job_id, index in rank.items()):
            return None
        if view.notes is not None:
            view.notes.remarks.append("plan: the last plan holds")
        return order

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
            return self.guard
        waits: RecentWaits = view.notebook.setdefault(WAITS, RecentWaits())
        so_far_s = [view.now_s - job.submit_time_s for job in view.queue]
        return self.guard_times * waits.quantile_s(view.finished, so_far_s, self.guard_quantile)

    def _planned_s(self, view: View, job: Job) -> float:
        """Planned duration of a waiting job (s); running jobs hold their resources to the end of their estimate.

        Most jobs end before their walltime. Shorter planned durations let jobs into gaps that are a little shorter than
        their walltimes; the job for which the gap was kept is late only if they outlast their planned durations. No gap
        ends in a window of maintenance.
        """
        whole_s = view.estimate_s(job)
        return whole_s if view.now_s + whole_s > view.taken_from_s else whole_s * self.expected

    def _search(self, view: View, planner: Planner) -> Order:
        bounded = Bounded(self.limit)
        order = self._search_until(view, planner, never if self.limit is None else bounded.over)
        bounded.count(view.notebook)
        if bounded.ended and view.notes is not None:
            view.notes.remarks.append(f"plan: ended by the pass limit after {planner.evaluations} evaluations")
        return order

    def _search_until(self, view: View, planner: Planner, over: Over) -> Order:
        if len(planner.jobs) <= self.exhaustive:
            return planner.exhaust(over)[0]
        moves = self._moves_for(len(planner.jobs))
        if self.search == "genetic":
            return self._evolved(view, planner, moves, over)
        best, score, worst = planner.best_of(self._starting_orders(view, planner), over)
        if self.whole_seconds:
            score, worst = float(round(score)), float(round(worst))
        if moves == 0 or worst == score:
            return best
        how = self._annealing(planner, score, worst, moves)
        if how is None:
            return best
        for _ in range(self.restarts):
            seeds = [view.rng.getrandbits(64) for _ in range(self.chains)]
            found, found_score = planner.anneal_side_by_side(best, score, how, seeds, over)
            if found_score < score:
                best, score = found, found_score
        return best

    def _evolved(self, view: View, planner: Planner, moves: int, over: Over) -> Order:
        """Run the genetic search from the starting orders; the first of them is always planned."""
        starts: list[tuple[float, Order]] = []
        for order in self._starting_orders(view, planner):
            if starts and over():
                break
            starts.append((planner.score(order), order))
        return evolve(planner, starts, Evolution(moves, self.population), view.rng.getrandbits(64), over)[0]

    def _moves_for(self, jobs: int) -> int:
        """Moves of a search for this number of jobs, bounded by the jobs that they place, alike on every machine."""
        return min(self.steps, self.placements // jobs) if self.placements else self.steps

    def _annealing(self, planner: Planner, score: float, worst: float, moves: int) -> Annealing | None:
        """Temperatures and moves; ``None`` if the best order cannot be improved."""
        steps = max(1, moves // self.restarts)
        swaps, delayed = self.moves == "swap", self.moves == "delayed"
        if self.schedule == "spread":
            return Annealing(steps, worst - score, swaps_only=swaps, delayed_only=delayed)
        gap = score - planner.least
        if gap <= 1e-9 * abs(score):
            return None
        return Annealing(steps, gap / len(planner.jobs), 1e-3 ** (1.0 / steps), 1, 0.0, swaps, delayed)

    def _starting_orders(self, view: View, planner: Planner) -> Iterator[Order]:
        jobs, names = planner.jobs, CANDIDATES[self.candidates]
        orders = positions(jobs, names, view.now_s)
        for name, order in zip(names, orders, strict=True):
            yield order
            if name in BACKFILLED.get(self.candidates, ()):
                yield planner.backfilled(order)
        if self.warm_start:
            rank = {job.id: index for index, job in enumerate(jobs)}
            last = [rank[job_id] for job_id in view.notebook.get(_LAST_PLAN, ()) if job_id in rank]
            if last:
                known = set(last)
                yield np.array(last + [index for index in range(len(jobs)) if index not in known], np.int32)
