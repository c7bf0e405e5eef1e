"""Times at which something becomes due for single jobs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Iterator

from spillway.schedulers.model.job import Job

SAME_S = 1e-6
"""Times nearer than this are the same: Batsim's messages have six decimals."""


class Deadlines:
    """Deadlines of jobs, the earliest first; those of jobs that no longer count are passed over.

    Parameters
    ----------
    jobs
        Ids of the jobs that count.
    """

    def __init__(self, jobs: Container[str]) -> None:
        self._jobs = jobs
        self._rows: list[tuple[float, int, str]] = []

    def add(self, time_s: float, job: Job) -> None:
        """Add a deadline of a job (s)."""
        heapq.heappush(self._rows, (time_s, job.number, job.id))

    @property
    def due_s(self) -> float:
        """The next deadline (s); infinite without one."""
        while self._rows and self._rows[0][2] not in self._jobs:
            heapq.heappop(self._rows)
        return self._rows[0][0] if self._rows else math.inf

    def met(self, now_s: float) -> Iterator[str]:
        """Take deadlines up to now; yield their jobs."""
        while self.due_s <= now_s + SAME_S:
            yield heapq.heappop(self._rows)[2]
