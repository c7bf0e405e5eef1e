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

_NODES, _USER, _FIRST, _COUNT, _COUNTED, _COLUMNS = range(6)
"""Columns of a job: nodes, number of its user, where the rows of its partitions begin and how many they are, whether it
holds something counted."""

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
        places = columns.places(jobs)
        rows = columns.rows[places]
        if view.estimate_s is Walltimes.estimate_s:
            durations_s = columns.walltimes_s[places]
        else:
            durations_s = np.fromiter(map(view.estimate_s, jobs), np.float64, len(jobs))
        counts = rows[:, _COUNT]
        at = np.arange(len(jobs))
        first = rows[:, _FIRST]
        if len(counts) and (counts.min() != 1 or counts.max() != 1):
            at = np.repeat(at, counts)
            first = first[at] + np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        sets = columns.sets[first]
        if in_partitions is not None and len(at) > len(jobs):
            order = in_partitions(jobs, at, sets - 1)
            at, sets = at[order], sets[order]
        elif columns.tiers.any():
            order = np.argsort(-columns.tiers[sets], kind="stable")
            at, sets = at[order], sets[order]
        table = np.empty((len(at), 5), np.int64)
        table[:, 0], table[:, 2] = at, sets
        table[:, 1], table[:, 3], table[:, 4] = rows[at, _NODES], rows[at, _USER], rows[at, _COUNTED]
        return cls(jobs, table, durations_s[at])

    def __getitem__(self, number: int) -> Pair:
        """One of them."""
        place, _, row, *_ = self.table[number].tolist()
        return Pair(self.jobs[place], row, number, place)

    def of_waiting(self, waiting: npt.NDArray[np.int64], most: int) -> Pairs:
        """The first so many of jobs that wait, with a number that is not 0 at their places."""
        chosen = np.flatnonzero(waiting[self.table[:, 0]])[:most]
        return Pairs(self.jobs, self.table[chosen], self.durations_s[chosen])


class _Columns:
    """What does not change of jobs, by a place for each."""

    def __init__(self, machine: Machine) -> None:
        self._places: dict[Job, int] = {}
        self._users: dict[str, int] = {}
        self._sets: dict[tuple[int, ...], int] = {}
        self._apart = bool(machine.partitions)
        self.rows = np.empty((64, _COLUMNS), np.int64)
        self.walltimes_s = np.empty(64)
        self.sets = np.zeros(1, np.int64)
        tiers = [0, *(one.tier for one in machine.partitions)]
        self.tiers = np.array(tiers) - min(tiers[1:], default=0) if self._apart else np.zeros(1, np.int64)

    def places(self, jobs: Sequence[Job]) -> npt.NDArray[np.intp]:
        """Where the columns of these jobs are."""
        if len(self._places) > 2 * len(jobs) + _SPARE:
            self._places.clear()
        found = self._places
        try:
            return np.fromiter([found[job] for job in jobs], np.intp, len(jobs))
        except KeyError:
            for job in jobs:
                if job not in found:
                    self._add(job)
            return np.fromiter([found[job] for job in jobs], np.intp, len(jobs))

    def _add(self, job: Job) -> None:
        place = self._places[job] = len(self._places)
        if place == len(self.rows):
            self.rows = np.concatenate((self.rows, np.empty_like(self.rows)))
            self.walltimes_s = np.concatenate((self.walltimes_s, np.empty_like(self.walltimes_s)))
        user = self._users.setdefault(job.user, len(self._users))
        first, count = self._sets_of(job.partitions), len(job.partitions) if self._apart else 1
        self.rows[place] = job.nodes, user, first, count, any(job.pools)
        self.walltimes_s[place] = job.walltime_s

    def _sets_of(self, partitions: tuple[int, ...]) -> int:
        """Where the rows of these partitions stand one after another."""
        if not self._apart:
            return 0
        found = self._sets.get(partitions)
        if found is None:
            found = self._sets[partitions] = len(self.sets)
            self.sets = np.append(self.sets, [one + 1 for one in partitions])
        return found
