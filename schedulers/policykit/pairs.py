"""Waiting jobs in each of their partitions, in order, as columns for searches; kept from pass to pass."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.core import PAIR_BUFFER, PAIR_CALLER, WaitingJobs
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.policykit.ordering import CHANGING, MULTIFACTOR, in_one_tier
from spillway.schedulers.policykit.priority import priorities_of
from spillway.schedulers.policykit.view import View

_MEMORY = "pairs"
"""Key of the cache, followed by the order."""


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
        The jobs by place, which each keeps while it waits; jobs that no longer wait do not count.
    waiting
        ``int64[places]``: 0 where no job waits, else not 0.
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
        name = f"{_MEMORY} {order}"
        kept: _PairCache | None = view.cache.get(name)
        if kept is None:
            kept = view.cache[name] = _PairCache(view.machine, order)
        kept.bring_up(view)
        return cls(kept.jobs, kept.waiting.copy(), kept.table, kept.durations_s(view))

    def __getitem__(self, number: int) -> Pair:
        """Return a pair by its number."""
        place, _, row, *_ = self.table[number].tolist()
        return Pair(self.jobs[place], row, number, place)

    def left(self) -> list[Job]:
        """Jobs that still wait, in no order."""
        return [self.jobs[place] for place in np.flatnonzero(self.waiting).tolist()]

    def of_waiting(self, most: int) -> Pairs:
        """The first ``most`` pairs of jobs that still wait, in a new table."""
        chosen = np.flatnonzero(self.waiting[self.table[:, 0]])[:most]
        return Pairs(self.jobs, self.waiting, self.table[chosen], self.durations_s[chosen])


class _PairCache:
    """Pairs of the jobs that waited in the last pass: values that do not change are found once.

    Attributes
    ----------
    jobs, waiting, table
        As in :class:`Pairs`.
    """

    def __init__(self, machine: Machine, order: str) -> None:
        self._order = order
        self._tiers = [partition.tier for partition in machine.partitions]
        self._places: dict[Job, int] = {}
        self._spare: list[int] = []
        self._users: dict[str, int] = {}
        self._sorted_s = math.nan
        self._seen: WaitingJobs | None = None
        self.jobs: list[Job] = []
        self.waiting = np.zeros(64, np.int64)
        self.table = np.empty((0, 5), np.int64)
        self._walltimes_s = np.empty(0)
        self._keys: npt.NDArray[np.float64] | None = None  # a row of sort keys for each pair

    def bring_up(self, view: View) -> None:
        """Update to the waiting jobs and their order."""
        gone, come = self._changes(view.queue)
        if gone:
            self._drop(gone)
        known = len(self.table)
        if come:
            self._add(view, come)
        time_s = priorities_of(view).calculated_s if self._order == MULTIFACTOR else view.now_s
        if come or (self._order in CHANGING and time_s != self._sorted_s):
            self._sort(view, len(self.table) - known, anew=time_s != self._sorted_s)
            self._sorted_s = time_s

    def _changes(self, queue: Sequence[Job]) -> tuple[Collection[Job], Collection[Job]]:
        """Jobs that no longer wait, and jobs that have come, in order."""
        seen, self._seen = self._seen, queue.look() if isinstance(queue, WaitingJobs) else None
        if seen is not None and self._seen is not None:
            found = self._seen.since(seen)
            if found is not None:
                return found
        places, now = self._places, set(queue)
        gone = places.keys() - now
        come = [job for job in queue if job not in places] if len(now) > len(places) - len(gone) else ()
        return gone, come

    def durations_s(self, view: View) -> npt.NDArray[np.float64]:
        """Expected duration of each pair (s)."""
        if view.estimate_s is Walltimes.estimate_s:
            return self._walltimes_s
        found = np.zeros(len(self.jobs))
        for job, place in self._places.items():
            found[place] = view.estimate_s(job)
        return found[self.table[:, 0]]

    def _drop(self, jobs: Iterable[Job]) -> None:
        """Remove jobs that no longer wait."""
        free = sorted(self._places.pop(job) for job in jobs)
        self._spare += free
        self.waiting[free] = 0
        self._take(np.flatnonzero(self.waiting[self.table[:, 0]]))

    def _take(self, these: npt.NDArray[np.intp]) -> None:
        """Keep these pairs only, in this order."""
        self.table, self._walltimes_s = self.table[these], self._walltimes_s[these]
        self._keys = None if self._keys is None else self._keys[these]

    def _add(self, view: View, jobs: Collection[Job]) -> None:
        """Add waiting jobs, with their pairs at the end."""
        rows, at, partitions = [], list[int](), list[int]()
        for number, job in enumerate(jobs):
            place = self._place(job)
            user = self._users.setdefault(job.user, len(self._users))
            flags = PAIR_CALLER * any(job.pools) | PAIR_BUFFER * (job.bb_bytes > 0)
            for partition in job.partitions if self._tiers else (-1,):
                rows.append((place, job.nodes, partition + 1, user, flags))
                at.append(number)
                partitions.append(partition)
        if self._order == MULTIFACTOR:
            keys = priorities_of(view).in_partitions([*jobs], np.array(at, np.intp), np.array(partitions, np.intp))
        else:
            keys = np.array([[-self._tiers[partition] if self._tiers else 0] for partition in partitions], np.float64)
        self.table = np.concatenate((self.table, np.array(rows, np.int64).reshape(-1, 5)))
        self._walltimes_s = np.append(self._walltimes_s, [self.jobs[row[0]].walltime_s for row in rows])
        self._keys = keys if self._keys is None else np.concatenate((self._keys, keys))

    def _place(self, job: Job) -> int:
        if self._spare:
            place = self._spare.pop()
            self.jobs[place] = job
        else:
            place = len(self.jobs)
            self.jobs.append(job)
            if place == len(self.waiting):
                self.waiting = np.concatenate((self.waiting, np.zeros_like(self.waiting)))
        self._places[job] = place
        self.waiting[place] = 1
        return place

    def _sort(self, view: View, new: int, *, anew: bool) -> None:
        """Sort the pairs; the last ``new`` are new; ``anew``: priorities have changed since the last sort."""
        keys = self._keys
        if keys is None:
            return
        if self._order == MULTIFACTOR:
            self._take(priorities_of(view).order(keys, new, anew=anew))
            return
        ranks = np.empty(len(self.jobs), np.int64)
        ranks[[self._places[job] for job in in_one_tier(view, view.queue, self._order)]] = np.arange(len(self._places))
        self._take(np.lexsort((ranks[self.table[:, 0]], keys[:, 0])))
