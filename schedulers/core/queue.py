"""Waiting jobs in order of submission, with their requests as columns."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from spillway.core import DemandRow
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.waiting_jobs import NOWHERE, Columns, Shown, WaitingJobs

_COLUMNS = 6
"""Numbers of a request."""

_FEWEST_PLACES = 32
_MOST_GAPS = 64
"""Number of places without a job that are always tolerated."""


class Queue:
    """The waiting jobs of one conversation.

    A new job gets a place at the end. Jobs leave when the next pass begins, so that a pass sees the queue as it was at
    its beginning; places without jobs are removed when there are many.

    Parameters
    ----------
    demand_of
        A job's request as a row (:meth:`spillway.schedulers.timeline.Timeline.demand_of`).
    few
        Passes see fewer waiting jobs than this as a copy, more of them as columns.

    Attributes
    ----------
    jobs
        The jobs by id, in order of submission. Only the methods may change them.
    changes
        Number of times that a job left, or came anywhere but at the end.
    """

    def __init__(self, demand_of: Callable[[Job], DemandRow], few: int = 256) -> None:
        self._demand_of = demand_of
        self._few = few
        self.jobs: dict[str, Job] = {}
        self.changes = 0
        self._shown: Callable[[], Shown | None] = lambda: None
        self._lay_out(())

    def add(self, job: Job) -> None:
        """Add a job behind all others."""
        self.jobs[job.id] = job
        self._append(job, self._demand_of(job))

    def add_again(self, job: Job) -> None:
        """Add a job that waits again, at the place of its number."""
        self.jobs[job.id] = job
        self.jobs = {one.id: one for one in sorted(self.jobs.values(), key=lambda one: one.number)}
        self._lay_out(self.jobs.values())
        self.changes += 1

    def remove(self, job_id: str) -> None:
        """Remove a job that no longer waits."""
        self._gone.append(self._places.pop(self.jobs.pop(job_id)))
        self.changes += 1

    def shown(self) -> Sequence[Job]:
        """The waiting jobs as of now, for one pass; few jobs as a copy, which costs less than columns."""
        if len(self.jobs) < self._few:
            if len(self._gone) > _MOST_GAPS:
                self._let_go()
            return tuple(self.jobs.values())
        self._let_go()
        shown = self._shown()
        if shown is None or shown.columns is not self._columns:
            shown = Shown(self._columns)
            self._shown = weakref.ref(shown)
        return WaitingJobs(shown, self._first, len(self._columns.jobs), len(self.jobs))

    def demands(self, jobs: Sequence[Job]) -> npt.NDArray[np.int64]:
        """Requests of jobs, a row for each; computed one by one if a job does not wait here."""
        try:
            return self._columns.demands[[self._places[job] for job in jobs]]
        except KeyError:
            return np.array([self._demand_of(job) for job in jobs], np.int64)

    def check(self) -> None:
        """Assert that jobs and columns agree."""
        self._let_go()
        columns, places = self._columns, self._places
        there = {place: job for place, job in enumerate(columns.jobs) if job is not None}
        assert [*there.values()] == [*self.jobs.values()], "the columns have other jobs, or another order"
        assert places == {job: place for place, job in there.items()}, "a job is at another place"
        for place, job in there.items():
            assert place >= self._first, "a waiting job is before the first place"
            assert tuple(columns.demands[place].tolist()) == self._demand_of(job), f"{job.id!r} requests something else"
            assert (columns.nodes[place], columns.walltimes_s[place]) == (job.nodes, job.walltime_s)
        assert np.count_nonzero(columns.nodes[: len(columns.jobs)] < NOWHERE) == len(there), "a job has gone in part"

    def _append(self, job: Job, demand: DemandRow) -> None:
        columns, place = self._columns, len(self._columns.jobs)
        if place == len(columns.nodes):
            more = max(place, _FEWEST_PLACES)
            columns.nodes = np.concatenate((columns.nodes, np.empty(more, np.int64)))
            columns.demands = np.concatenate((columns.demands, np.empty((more, _COLUMNS), np.int64)))
            columns.walltimes_s = np.concatenate((columns.walltimes_s, np.empty(more)))
        columns.jobs.append(job)
        columns.nodes[place], columns.walltimes_s[place] = job.nodes, job.walltime_s
        columns.demands[place] = demand
        self._places[job] = place

    def _lay_out(self, jobs: Iterable[Job]) -> None:
        """Lay out new columns for these jobs; passes that have the old columns keep them."""
        self._use(Columns([], np.empty(0, np.int64), np.empty((0, _COLUMNS), np.int64), np.empty(0)))
        for job in jobs:
            self._append(job, self._demand_of(job))

    def _close_gaps(self) -> None:
        """Move the jobs to columns without gaps; passes that have the old columns keep them."""
        columns = self._columns
        there = np.flatnonzero(columns.nodes[: len(columns.jobs)] < NOWHERE)
        self._use(
            Columns([*self.jobs.values()], columns.nodes[there], columns.demands[there], columns.walltimes_s[there])
        )

    def _use(self, columns: Columns) -> None:
        self._columns = columns
        self._places = {job: place for place, job in enumerate(columns.jobs) if job is not None}
        self._gone: list[int] = []
        self._first = 0

    def _let_go(self) -> None:
        """Empty the places of jobs that no longer wait."""
        if not self._gone:
            return
        columns = self._columns
        before = self._shown()
        if before is not None and before.columns is columns:
            before.columns = columns.copy()
        for place in self._gone:
            columns.jobs[place], columns.nodes[place] = None, NOWHERE
        self._gone = []
        while self._first < len(columns.jobs) and columns.jobs[self._first] is None:
            self._first += 1
        if len(columns.jobs) - len(self.jobs) > max(_MOST_GAPS, len(self.jobs) // 4):
            self._close_gaps()
