"""Orders of waiting jobs, scored by the jobs that greedy filling starts now in that order.

Between now and the end of a job that starts now, resources are released when running jobs end, and taken where
reservations begin. A job that starts now holds its resources from now on, so only the *narrow points* of the timeline
count: the present, and later segments with less of some resource than all segments before. There are at most as many as
reservations, so filling is cheap, and yet exact: by identity of nodes, free bytes of each storage node and bandwidth of
each link, with the timeline's own rules of placement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.core import FillSearch, Timeline
from spillway.schedulers.model.job import Job

Order = npt.NDArray[np.int64]
"""An order: positions in the list of jobs."""


class Score(NamedTuple):
    """Score of the jobs that a filling starts; larger is better, compared from the left.

    Attributes
    ----------
    first, second
        Nodes and burst-buffer bytes of the started jobs; bytes first where the objective puts them first.
    mean_wait_s
        Mean time that the started jobs have waited (s), 0 if no job starts.
    """

    first: float
    second: float
    mean_wait_s: float


class Filling:
    """Scores orders of some jobs; the timeline stays as it is.

    A job that stages in before it gets its nodes is scored as if it got both now.

    Parameters
    ----------
    timeline
        Free resources, with running jobs and reservations booked.
    jobs
        The jobs to order.
    estimate_s
        Expected duration of a job in seconds.
    nodes_first
        Whether nodes or burst-buffer bytes come first in the score.

    Attributes
    ----------
    evaluations
        Orders scored so far.
    """

    def __init__(
        self, timeline: Timeline, jobs: Sequence[Job], estimate_s: Callable[[Job], float], nodes_first: bool
    ) -> None:
        self.jobs = jobs
        self.evaluations = 0
        now_s, number = timeline.now_s, len(jobs)
        demands = np.array([timeline.demand_of(job) for job in jobs], np.int64).reshape(number, 6)
        spans = np.array([(estimate_s(job), now_s - job.submit_time_s) for job in jobs], np.float64).reshape(number, 2)
        self._search = FillSearch(timeline, demands, spans, nodes_first)

    @property
    def anything_starts(self) -> bool:
        """Whether any job fits now."""
        return not all(self._search.never_fits)

    def score(self, order: Order) -> tuple[Score, int]:
        """Score of an order, and the position of the last job that starts (-1 if no job does)."""
        self.evaluations += 1
        _, last, score = self._search.climb(order, 0)
        return Score(*score), last

    def best_of(self, orders: Iterable[Order]) -> tuple[Order, Score]:
        """Best order and its score; the first of equals wins. Raises ValueError for no orders."""
        found = [(order, self.score(order)[0]) for order in orders]
        if not found:
            raise ValueError("there must be at least one order")
        return max(found, key=lambda entry: entry[1])

    def climb(self, order: Order, budget: int) -> tuple[Order, Score]:
        """Improve an order by hill climbing; at most ``budget`` swaps are tried.

        Positions at distance 1 are exchanged first, then at distance 2, and so on, from the front up to the last job
        that starts. The first exchange that improves the score is kept, and the search begins again (Kopanski, master's
        thesis 2020, section 3.2, Algorithm 6, lines 16-31).
        """
        best = order.copy()
        steps, _, score = self._search.climb(best, budget)
        self.evaluations += steps
        return best, Score(*score)


def all_orders(number: int) -> Iterator[Order]:
    """Yield every order of ``number`` things, beginning with the given one; lexicographic."""
    for order in permutations(range(number)):
        yield np.array(order, np.int64)


def sorted_by(columns: Iterable[Sequence[float]]) -> Iterator[Order]:
    """Yield the order by each column of keys, smallest first; equal keys stay in the given order."""
    for column in columns:
        yield np.argsort(np.asarray(column, np.float64), kind="stable")
