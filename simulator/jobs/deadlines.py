"""Ends of walltimes: one timer for all tasks that started together and reach their walltime at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from spillway.simulator.jobs.job import Deadline, Job
from spillway.simulator.wire.kernel import Kernel


class Deadlines:
    """Watches the walltimes of running tasks.

    Parameters
    ----------
    kernel
        Clock and timers.
    reached
        Called with the jobs at the end of their walltimes; they are not watched any more.
    """

    def __init__(self, kernel: Kernel, reached: Callable[[list[Job]], None]) -> None:
        self._kernel = kernel
        self._reached = reached
        self._last = Deadline(-1.0, -1.0, -1)

    def limit(self, jobs: Sequence[Job], moments: Sequence[float], first: int) -> None:
        """Limit tasks that start at these moments to the remaining walltimes of their jobs, if they have one.

        Timers get every second number from ``first`` on.
        """
        deadline = self._last
        timers: list[tuple[float, int, Callable[[Deadline], None], Deadline]] = []
        for place, (job, moment) in enumerate(zip(jobs, moments, strict=True)):
            if job.budget < 0:
                continue
            time = moment + job.budget
            if deadline.time != time or deadline.made != moment or not deadline.live:
                deadline = Deadline(time, moment, first + 2 * place)
                timers.append((time, deadline.number, self._end, deadline))
            deadline.jobs.append(job)
            deadline.live += 1
            job.limit = deadline
        self._last = deadline
        if timers:
            self._kernel.at_each(timers)

    def release(self, jobs: Iterable[Job]) -> None:
        """Stop watching jobs."""
        over: list[int] = []
        for job in jobs:
            deadline = job.limit
            if deadline is not None:
                job.limit = None
                deadline.live -= 1
                if deadline.live == 0:
                    over.append(deadline.number)
                    deadline.jobs.clear()
        if over:
            self._kernel.forget(*over)

    def _end(self, deadline: Deadline) -> None:
        jobs = [job for job in deadline.jobs if job.limit is deadline]
        deadline.live = 0
        deadline.jobs.clear()
        for job in jobs:
            job.limit = None
        self._reached(jobs)
