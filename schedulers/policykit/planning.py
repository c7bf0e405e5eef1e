"""Plans: place every job of an order at its earliest start, score the result, search for a better order.

References
----------
Kopanski, master's thesis 2020, section 3.4 and Algorithm 8; Zheng et al., *Exploring plan-based scheduling for
large-scale computing systems*, CLUSTER 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from spillway.core import PlanSearch, Timeline
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.pass_limit import Over, never

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
        demands = np.array([timeline.demand_of(job) for job in jobs], np.int64).reshape(len(jobs), 6)
        weights = objective.weights([job.walltime_s for job in jobs])
        spans = [
            (estimate_s(job), job.submit_time_s - _lead_s(job), weight, *_apart(job))
            for job, weight in zip(jobs, weights.tolist(), strict=True)
        ]
        self._search = PlanSearch(
            timeline,
            demands,
            np.array(spans, np.float64).reshape(len(jobs), 7),
            latest=objective.latest,
            alpha=objective.alpha,
            guard_s=objective.guard_s,
            guard_power=objective.guard_power,
            stride=stride or 0,
        )

    @property
    def starts_s(self) -> npt.NDArray[np.float64]:
        """Planned start of each job (s), of the order planned last."""
        return self._search.starts_s

    @property
    def least(self) -> float:
        """Lower bound of the score: every job planned as if it were the only one in the queue."""
        if self.objective.latest:
            return float(self._search.alone_s.max(initial=0.0))
        return float(self._search.least.sum())

    def score(self, order: Order) -> float:
        """Plan an order; its planned starts are in :attr:`starts_s` afterwards (by job)."""
        self.evaluations += 1
        return self._search.score(order)

    def backfilled(self, order: Order) -> Order:
        """Jobs in the order of their starts under EASY backfilling in an order, by totals, without further arrivals.

        A plan of this order starts no job later than backfilling would, where only totals count: the earlier jobs that
        run at a time in the plan would run then under backfilling, too.
        """
        return self._search.backfilled(order)

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
        search = self._search
        search.begin(
            order, score, seed, how.temperature, how.cooling, how.period, how.coolest, how.swaps_only, how.delayed_only
        )
        at_once = how.steps if over is never else 1 + _PLACED_AT_ONCE // max(len(self.jobs), 1)
        begin = 0
        while begin < how.steps and not over():
            end = min(begin + at_once, how.steps)
            reached = search.anneal(end)
            self.evaluations += reached - begin
            begin = end if reached == end else how.steps
        return search.best, search.best_score


def _lead_s(job: Job) -> float:
    """Seconds from a job's burst buffer to its nodes: its wait is longer by as much."""
    return job.lives.storage_lead_s if job.lives is not None else 0.0


def _apart(job: Job) -> tuple[float, float, float, float]:
    """Whether a job's resources have different intervals, and their leads and tails (s)."""
    if job.lives is None:
        return 0.0, 0.0, 0.0, 0.0
    return 1.0, job.lives.storage_lead_s, job.lives.storage_tail_s, job.lives.bandwidth_tail_s
