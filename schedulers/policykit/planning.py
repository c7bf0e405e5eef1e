"""Plans: place every job of an order at its earliest start, score the result, search for a better order.

References
----------
Kopanski, master's thesis 2020, section 3.4 and Algorithm 8; Zheng et al., *Exploring plan-based scheduling for
large-scale computing systems*, CLUSTER 2016.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from spillway.base.lazy_modules import late
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.pass_limit import Over, never
from spillway.schedulers.timeline import Timeline
from spillway.schedulers.timeline.demand_keys import DemandKeys, demand_keys
from spillway.schedulers.timeline.layout import FREE_BYTES, FREE_NODES, STRIPED, Demand

if TYPE_CHECKING:
    from spillway.schedulers.timeline import easy_kernels, plan_kernels
else:
    easy_kernels = late("spillway.schedulers.timeline.easy_kernels")
    plan_kernels = late("spillway.schedulers.timeline.plan_kernels")

Order = npt.NDArray[np.int32]
"""An order: positions in the planner's list of jobs."""


@dataclass(frozen=True, slots=True)
class Annealing:
    """Settings of annealing.

    Attributes
    ----------
    steps
        Moves tried (evaluations), at least 0.
    temperature
        Temperature of the first move, in units of the score.
    cooling
        Factor of the temperature after every ``period`` moves, above 0, at most 1.
    period
        Moves at one temperature.
    coolest
        The temperature never falls below this.
    swaps_only
        Exchange two positions; else half of the moves insert a job elsewhere.
    delayed_only
        Only move jobs that start later than they would with no job before them.
    """

    steps: int
    temperature: float
    cooling: float = 0.9
    period: int = 6
    coolest: float = 1.0
    swaps_only: bool = True
    delayed_only: bool = False


_PLACED_AT_ONCE = 500
"""Jobs placed between two readings of a clock: less than a millisecond."""

_WORKING_MEMORY = ("_slots", "_plan", "_scratch")
"""Groups of arrays of a planner that annealing writes to."""


class Planner:
    """Scores orders of jobs on a timeline, which does not change.

    Parameters
    ----------
    timeline
        Free resources, with running jobs and reservations booked.
    jobs
        The jobs to plan.
    estimate_s
        Expected duration of a job in seconds.
    objective
        Score of a plan.
    stride
        Positions between two checkpoints of the timeline, at least 1; ``None``: by the number of jobs.
    """

    def __init__(
        self,
        timeline: Timeline,
        jobs: Sequence[Job],
        estimate_s: Callable[[Job], float],
        objective: Objective,
        stride: int | None = None,
    ) -> None:
        self.jobs = jobs
        self.objective = objective
        self.evaluations = 0
        shape = (float(objective.alpha), float(objective.guard_s), float(objective.guard_power))
        times, rows, tables = timeline.arrays
        count, width, number = len(times), rows.shape[1], len(jobs)
        stride = stride or max(4, number // 8)
        levels = max(1, -(-number // stride))
        held = timeline.holds_nodes_longer
        apart = any(job.lives is not None for job in jobs)
        capacity = count + (6 if apart else 4 if held else 2) * number + 6
        tables.make_room(capacity)
        self._plan = tuple(
            plan_kernels.Plan(
                times=np.empty(capacity),
                rows=np.empty((capacity, width), np.int64),
                starts=np.zeros(number),
                placed=np.zeros((3, number), np.int64),
            )
        )
        slots = plan_kernels.Slots(
            times=np.empty((2 * levels, capacity)),
            rows=np.empty((2 * levels, capacity, width), np.int64),
            counts=np.zeros(2 * levels, np.int64),
            score=np.zeros((2 * levels, 2)),
            which=np.array([range(levels), range(levels, 2 * levels)], np.int64),
        )
        slots.times[0, :count] = times
        slots.rows[0, :count] = rows
        slots.counts[0] = count
        self._slots = tuple(slots)
        demands = np.array([timeline.demand_of(job) for job in jobs], np.int64).reshape(number, len(Demand._fields))
        self._machine, self._scratch = tables.for_kernels, tables.scratch
        weights = objective.weights([job.walltime_s for job in jobs])
        spans = [
            (estimate_s(job), job.submit_time_s - _lead_s(job), weight, timeline.now_s, *_apart(job))
            for job, weight in zip(jobs, weights.tolist(), strict=True)
        ]
        durations = np.array(spans, np.float64).reshape(number, 8)
        keys = _keys(demands, durations)
        self._rules = tuple(plan_kernels.Rules(stride, held, objective.latest, shape, keys.guards))
        both = np.array([np.where(durations[:, 4] > 0, keys.nothing, keys.below), keys.above])
        table = plan_kernels.Jobs(demands, durations, np.zeros(number), both)
        self._spans, self._least = table.spans, table.least
        self._jobs = tuple(table)
        plan_kernels.plan_alone(
            np.zeros(1, np.int32), self._rules, self._jobs, self._slots, self._plan, self._machine, self._scratch
        )

    @property
    def starts_s(self) -> npt.NDArray[np.float64]:
        """Planned start of each job (s), of the order planned last."""
        return np.asarray(self._plan[2], np.float64)  # no copy

    @property
    def least(self) -> float:
        """Lower bound of the score: every job planned as if it were the only one in the queue."""
        if self.objective.latest:
            return float(self._spans[:, 3].max(initial=0.0))
        return float(self._least.sum())

    def score(self, order: Order) -> float:
        """Plan an order; its planned starts are in :attr:`starts_s` afterwards (by job)."""
        self.evaluations += 1
        planned: float = plan_kernels.plan_from(
            order, 0, math.inf, self._rules, self._jobs, self._slots, self._plan, self._machine, self._scratch
        )
        return planned

    def backfilled(self, order: Order) -> Order:
        """Jobs in the order of their starts under EASY backfilling in an order, by totals, without further arrivals.

        A plan of this order starts no job later than backfilling would, where only totals count: the earlier jobs that
        run at a time in the plan would run then under backfilling, too.
        """
        now_times, now_rows, counts = self._slots[:3]  # the first checkpoint is the original timeline, and stays
        number, count = len(order), counts[0]
        times, free = np.empty(count + number), np.empty((count + number, 2), np.int64)
        times[:count] = now_times[0, :count]
        free[:count] = now_rows[0, :count, FREE_NODES : FREE_BYTES + 1]
        starts_s = np.empty(number)
        nodes, bb_bytes, _, _, requests, _ = self._jobs[0].T
        demands = np.ascontiguousarray(np.column_stack((nodes, bb_bytes * requests)))
        durations = np.ascontiguousarray(self._spans[:, 0])
        easy_kernels.easy_starts(times, count, free, order.copy(), demands, durations, starts_s)
        return np.asarray(order[np.argsort(starts_s[order], kind="stable")], np.int32)

    def best_of(self, orders: Iterable[Order], over: Over = never) -> tuple[Order, float, float]:
        """Best order, its score, and the worst score; the first of equals wins.

        The first order is always planned, each further one unless the time is ``over``.
        """
        best: Order | None = None
        best_score, worst_score = math.inf, -math.inf
        for order in orders:
            if best is not None and over():
                break
            score = self.score(order)
            worst_score = max(worst_score, score)
            if best is None or score < best_score:
                best, best_score = order, score
        if best is None:
            raise ValueError("there must be at least one order")
        return best, best_score, worst_score

    def exhaust(self, over: Over = never) -> tuple[Order, float]:
        """Best of all orders; for few jobs."""
        every = (np.array(order, np.int32) for order in permutations(range(len(self.jobs))))
        best, score, _ = self.best_of(every, over)
        return best, score

    def anneal(self, order: Order, score: float, how: Annealing, seed: int, over: Over = never) -> tuple[Order, float]:
        """Improve an order by simulated annealing; the same seed gives the same result, unless the time is ``over``."""
        number, best = len(self.jobs), order.copy()
        moves = plan_kernels.Moves(
            how.steps, how.temperature, how.cooling, how.period, how.coolest, how.swaps_only, how.delayed_only
        )
        orders = plan_kernels.Orders(
            np.zeros(number, np.int32), np.zeros(number), np.zeros(number, np.int32), np.zeros(2)
        )
        groups = (
            tuple(moves), np.array([seed], np.uint64), self._rules, self._jobs, self._slots, self._plan, tuple(orders),
            self._machine, self._scratch,
        )  # fmt: skip
        at_once = how.steps if over is never else 1 + _PLACED_AT_ONCE // max(number, 1)
        begin = 0
        while begin < how.steps and not over():
            end = min(begin + at_once, how.steps)
            score, reached = plan_kernels.anneal(best, score, begin, end, *groups)
            self.evaluations += reached - begin
            begin = end if reached == end else how.steps
        return best, float(score)

    def anneal_side_by_side(
        self, order: Order, score: float, how: Annealing, seeds: Sequence[int], over: Over = never
    ) -> tuple[Order, float]:
        """Anneal once per seed from the same order, on all cores; the first of the best wins.

        The result does not depend on the number of cores: every run has its own seed and its own working memory.
        """
        if len(seeds) == 1:
            return self.anneal(order, score, how, seeds[0], over)
        planners = [self, *(self._twin() for _ in seeds[1:])]
        before = self.evaluations
        with ThreadPoolExecutor() as pool:  # the kernels release Python's lock
            runs = [
                pool.submit(planner.anneal, order, score, how, seed, over)
                for planner, seed in zip(planners, seeds, strict=True)
            ]
            found = [run.result() for run in runs]
        self.evaluations += sum(planner.evaluations - before for planner in planners[1:])
        return min(found, key=lambda result: result[1])

    def _twin(self) -> Planner:
        """A planner of the same jobs with its own working memory."""
        twin = copy.copy(self)
        for name in _WORKING_MEMORY:
            setattr(twin, name, tuple(array.copy() for array in getattr(self, name)))
        return twin


def _lead_s(job: Job) -> float:
    """Seconds from a job's burst buffer to its nodes: its wait is longer by as much."""
    return job.lives.storage_lead_s if job.lives is not None else 0.0


def _apart(job: Job) -> tuple[float, float, float, float]:
    """Whether a job's resources have different intervals, and their leads and tails (s), as the kernels read them."""
    if job.lives is None:
        return 0.0, 0.0, 0.0, 0.0
    return 1.0, job.lives.storage_lead_s, job.lives.storage_tail_s, job.lives.bandwidth_tail_s


def _keys(demands: npt.NDArray[np.int64], spans: npt.NDArray[np.float64]) -> DemandKeys:
    """Keys of demands and durations; jobs with other striping or other partitions are not comparable."""
    nodes, bb_bytes, io_rate, uses, requests, sets = demands.T
    stripes = np.where(uses & STRIPED, requests, 0)
    durations = np.ascontiguousarray(spans[:, 0]).view(np.int64)  # bits of doubles are ordered like the doubles
    return demand_keys(np.array([nodes, bb_bytes, io_rate, durations, stripes, -stripes, sets, -sets]))
