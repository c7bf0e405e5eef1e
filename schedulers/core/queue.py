"""Waiting jobs in order of submission, and what each of them requests as a row of one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from spillway.schedulers.model.job import Job

Row = tuple[int, int, int, int, int]


class Queue:
    """The waiting jobs of one conversation.

    Parameters
    ----------
    demand_of
        What a job requests, as kernels take it (:meth:`spillway.schedulers.timeline.Timeline.demand_of`).

    Attributes
    ----------
    jobs
        The jobs by id, in order of submission. Change them by the methods alone.
    changes
        How often a job left, or came anywhere but at the end.
    """

    def __init__(self, demand_of: Callable[[Job], Row]) -> None:
        self._demand_of = demand_of
        self.jobs: dict[str, Job] = {}
        self.changes = 0
        self._rows: dict[Job, int] = {}
        self._unused: list[int] = []
        self._table = np.empty((32, 5), np.int64)

    def add(self, job: Job) -> None:
        """A job waits from now on, behind all others."""
        self.jobs[job.id] = job
        if not self._unused:
            used = len(self._rows)
            if used == len(self._table):
                self._table = np.concatenate((self._table, np.empty_like(self._table)))
            self._unused.append(used)
        row = self._rows[job] = self._unused.pop()
        self._table[row] = self._demand_of(job)

    def add_again(self, job: Job) -> None:
        """A job waits again, at the place of its number."""
        self.add(job)
        self.jobs = {one.id: one for one in sorted(self.jobs.values(), key=lambda one: one.number)}
        self.changes += 1

    def remove(self, job_id: str) -> None:
        """A job waits no longer."""
        self._unused.append(self._rows.pop(self.jobs.pop(job_id)))
        self.changes += 1

    def demands(self, jobs: Sequence[Job]) -> npt.NDArray[np.int64]:
        """What jobs request, a row for each; jobs that do not wait here are looked at one by one."""
        try:
            return self._table[[self._rows[job] for job in jobs]]
        except KeyError:
            return np.array([self._demand_of(job) for job in jobs], np.int64)

    def check(self) -> None:
        """Prove that jobs and rows agree."""
        assert set(self.jobs.values()) == self._rows.keys(), "a waiting job has no row, or a row has no waiting job"
        rows = [*self._rows.values(), *self._unused]
        assert sorted(rows) == list(range(len(rows))), "two jobs share a row, or one is lost"
        for job, row in self._rows.items():
            assert tuple(self._table[row].tolist()) == self._demand_of(job), f"{job.id!r} requests something else"
