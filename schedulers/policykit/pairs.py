"""Waiting jobs in each of their partitions, as columns that kernels read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.policykit.view import View

_MEMORY = "pairs"
"""Key of the cache."""

_COLUMNS = 6
"""Those of :attr:`Pairs.table`, and the tier of the partition with the other sign."""

_SPARE = 1000
"""Jobs that need not wait any more whose columns are kept."""


Indices = npt.NDArray[np.intp]
InPartitions = Callable[[Sequence[Job], Indices, Indices], Indices]
"""From jobs, and the place of the job and the partition of each pair, to the order of the pairs."""


class Pair(NamedTuple):
    """A job in one of its partitions: row of the partition's set of nodes, places of the pair and of the job."""

    job: Job
    row: int
    number: int
    place: int


class Pairs:
    """Waiting jobs in each of their partitions: higher tiers first, then in the order given.

    Attributes
    ----------
    jobs
        The jobs, in that order.
    table
        ``int64[pairs, 5]``: place of the job, nodes, row of the set of nodes (0: all, then a partition each), number of
        the user, 1 where the job holds something counted.
    durations_s
        How long each is expected to run (s).
    """

    __slots__ = ("durations_s", "jobs", "table")

    def __init__(self, jobs: Sequence[Job], table: npt.NDArray[np.int64], durations_s: npt.NDArray[np.float64]) -> None:
        self.jobs, self.table, self.durations_s = jobs, table, durations_s

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.table)

    @classmethod
    def of(cls, view: View, jobs: Sequence[Job], in_partitions: InPartitions | None = None) -> Pairs:
        """Those of jobs in an order; ``in_partitions``: the order of the pairs, where jobs with several partitions have
        another place in each.
        """
        columns: _Columns | None = view.cache.get(_MEMORY)
        if columns is None:
            columns = view.cache[_MEMORY] = _Columns(view.machine)
        places, counts = columns.places(jobs)
        at = np.arange(len(jobs))
        if counts is not None:
            at = np.repeat(at, counts)
            places = np.repeat(places - np.cumsum(counts) + counts, counts) + np.arange(len(at))
        order: Indices | None = None
        if in_partitions is not None and len(at) > len(jobs):
            order = in_partitions(jobs, at, columns.rows[places, 2] - 1)
        elif columns.tiers:
            order = np.argsort(columns.rows[places, -1], kind="stable")
        if order is not None:
            at, places = at[order], places[order]
        table = columns.rows[places, :-1]
        table[:, 0] = at
        if view.estimate_s is Walltimes.estimate_s:
            return cls(jobs, table, columns.walltimes_s[places])
        return cls(jobs, table, np.fromiter(map(view.estimate_s, jobs), np.float64, len(jobs))[at])

    def __getitem__(self, number: int) -> Pair:
        """One of them."""
        place, _, row, *_ = self.table[number].tolist()
        return Pair(self.jobs[place], row, number, place)

    def of_waiting(self, waiting: npt.NDArray[np.int64], most: int) -> Pairs:
        """The first so many of jobs that wait, with a number that is not 0 at their places."""
        chosen = np.flatnonzero(waiting[self.table[:, 0]])[:most]
        return Pairs(self.jobs, self.table[chosen], self.durations_s[chosen])


class _Columns:
    """What does not change of pairs, by a place for each; those of a job stand one after another.

    Attributes
    ----------
    rows, walltimes_s
        Their columns, and the walltimes of their jobs (s).
    tiers
        Whether partitions differ in their tiers.
    """

    def __init__(self, machine: Machine) -> None:
        self._places: dict[Job, int] = {}
        self._several: dict[Job, int] = {}
        self._users: dict[str, int] = {}
        self._count = 0
        self._tiers = [one.tier for one in machine.partitions]
        self.tiers = len(set(self._tiers)) > 1
        self.rows = np.empty((64, _COLUMNS), np.int64)
        self.walltimes_s = np.empty(64)

    def places(self, jobs: Sequence[Job]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp] | None]:
        """Where the pairs of these jobs begin, and how many each has; ``None`` where each has one."""
        if len(self._places) > 2 * len(jobs) + _SPARE:
            self._places.clear()
            self._several.clear()
            self._count = 0
        found, several = self._places, self._several
        try:
            places = [found[job] for job in jobs]
        except KeyError:
            for job in jobs:
                if job not in found:
                    self._add(job)
            places = [found[job] for job in jobs]
        counts = np.array([several.get(job, 1) for job in jobs], np.intp) if several else None
        return np.array(places, np.intp), counts

    def _add(self, job: Job) -> None:
        partitions = job.partitions if self._tiers else (-1,)
        self._places[job] = self._count
        if len(partitions) != 1:
            self._several[job] = len(partitions)
        user = self._users.setdefault(job.user, len(self._users))
        for partition in partitions:
            if self._count == len(self.rows):
                self.rows = np.concatenate((self.rows, np.empty_like(self.rows)))
                self.walltimes_s = np.concatenate((self.walltimes_s, np.empty_like(self.walltimes_s)))
            tier = self._tiers[partition] if self._tiers else 0
            self.rows[self._count] = 0, job.nodes, partition + 1, user, any(job.pools), -tier
            self.walltimes_s[self._count] = job.walltime_s
            self._count += 1
