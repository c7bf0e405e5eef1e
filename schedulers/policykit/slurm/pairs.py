"""Waiting jobs in each of their partitions, in order, as columns for searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.core import pair_columns
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.policykit.ordering import MULTIFACTOR, positions
from spillway.schedulers.policykit.slurm.priority import priorities_of
from spillway.schedulers.policykit.view import View


class Pair(NamedTuple):
    """A job in one of its partitions: row of the partition's set of nodes, places of the pair and of the job."""

    job: Job
    row: int
    number: int
    place: int


class Pairs:
    """Waiting jobs in each of their partitions: higher tiers first, then in their order.

    Attributes
    ----------
    jobs
        The queue's jobs by place.
    waiting
        ``int64[places]``: 0 for a job that does not wait any more, else not 0.
    table
        ``int64[pairs, 5]``: place of the job, nodes, row of the set of nodes (0: all, then a partition each), number of
        the user, flags.
    durations_s
        Expected duration of each pair (s).
    """

    __slots__ = ("durations_s", "jobs", "table", "waiting")

    def __init__(
        self,
        jobs: Sequence[Job],
        waiting: npt.NDArray[np.int64],
        table: npt.NDArray[np.int64],
        durations_s: npt.NDArray[np.float64],
    ) -> None:
        self.jobs, self.waiting, self.table, self.durations_s = jobs, waiting, table, durations_s

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.table)

    @classmethod
    def of(cls, view: View, order: str) -> Pairs:
        """Pairs of a view's queue in an order (a name of :data:`~spillway.schedulers.policykit.ordering.ORDER_NAMES`).

        By the site's priorities a job with several partitions has a position in each.
        """
        jobs, tiers = view.queue, [0, *(-partition.tier for partition in view.machine.partitions)]
        numbers, table, durations_s = pair_columns(jobs, len(tiers) > 1)
        if view.estimate_s is not Walltimes.estimate_s:
            durations_s = np.array([view.estimate_s(job) for job in jobs], np.float64)[table[:, 0]]
        if order == MULTIFACTOR:
            ordered = priorities_of(view).in_partitions(jobs, numbers, table[:, 0])[1]
        else:
            ranks = np.arange(len(jobs))
            if order != "fcfs":
                (these,) = positions(jobs, (order,), view.now_s)
                ranks[these] = np.arange(len(jobs))
            ordered = np.lexsort((ranks[table[:, 0]], np.array(tiers)[table[:, 2]]))
        return cls(jobs, np.ones(len(jobs), np.int64), table[ordered], durations_s[ordered])

    def __getitem__(self, number: int) -> Pair:
        """Return a pair by its number."""
        place, _, row, *_ = self.table[number].tolist()
        return Pair(self.jobs[place], row, number, place)

    def left(self) -> list[Job]:
        """Jobs that still wait."""
        return [job for job, waits in zip(self.jobs, self.waiting.tolist(), strict=True) if waits]

    def of_waiting(self, most: int) -> Pairs:
        """The first ``most`` pairs of jobs that still wait, in a new table."""
        chosen = np.flatnonzero(self.waiting[self.table[:, 0]])[:most]
        return Pairs(self.jobs, self.waiting, self.table[chosen], self.durations_s[chosen])
