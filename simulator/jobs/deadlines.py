"""When walltimes end: one timer for all tasks that reach theirs at the same moment and started together."""

from __future__ import annotations

from collections.abc import Callable

from spillway.simulator.jobs.job import Deadline, Job
from spillway.simulator.wire.kernel import Kernel


class Deadlines:
    """Watches the walltimes of running tasks.

    Parameters
    ----------
    kernel
        Time.
    reached
        Called with the jobs whose walltime has ended; they are not watched any more.
    """

    def __init__(self, kernel: Kernel, reached: Callable[[list[Job]], None]) -> None:
        self._kernel = kernel
        self._reached = reached
        self._last = Deadline(-1.0, -1.0)

    def limit(self, job: Job) -> None:
        """Let what is left of a job's walltime end the task that starts now."""
        now = self._kernel.clock
        time = now + job.budget
        deadline = self._last
        if deadline.time != time or deadline.made != now or not deadline.live:
            deadline = self._last = Deadline(time, now)
            deadline.number = self._kernel.at(time, self._end, deadline)
        deadline.jobs.append(job)
        deadline.live += 1
        job.limit = deadline

    def release(self, job: Job) -> None:
        """Watch a job no longer."""
        deadline = job.limit
        if deadline is not None:
            job.limit = None
            deadline.live -= 1
            if deadline.live == 0:
                self._kernel.forget(deadline.number)
                deadline.jobs.clear()

    def _end(self, deadline: Deadline) -> None:
        jobs = [job for job in deadline.jobs if job.limit is deadline]
        deadline.live = 0
        deadline.jobs.clear()
        for job in jobs:
            job.limit = None
        self._reached(jobs)
