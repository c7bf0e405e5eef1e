"""Cost of waiting so far, and waiting times of an episode's jobs: the reward and the result."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping

from spillway.protocol.messages import JobState
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Running

_TAU_S = 600.0
"""Bound of the bounded slowdown (s)."""

LONGEST_S = 1e9
"""Longest walltime that is counted, and the walltime of a job without one (s)."""


class Reward(enum.Enum):
    """Cost of a waiting job."""

    WAIT = "wait"
    SLOWDOWN = "slowdown"


RATES: Mapping[Reward, Callable[[Job], float]] = {
    Reward.WAIT: lambda _: 1.0 / 3600.0,
    Reward.SLOWDOWN: lambda job: 1.0 / min(max(job.walltime_s, _TAU_S), LONGEST_S),
}
"""Cost per second: 1 for an hour of waiting, or for a wait as long as the walltime (at least 600 s)."""


class Account(Observer):
    """Add up the cost of waiting.

    Parameters
    ----------
    reward
        Cost of a waiting job.

    Attributes
    ----------
    cost
        Cost of all jobs' waiting up to the last :meth:`until`.
    """

    def __init__(self, reward: Reward) -> None:
        self._rate_of = RATES[reward]
        self._rates: dict[str, float] = {}
        self._rate = self._since_s = 0.0
        self._waits_s: list[float] = []
        self._slowdowns: list[float] = []
        self._rejected = 0
        self.cost = 0.0

    def until(self, now_s: float) -> float:
        """Count the waiting up to now, and return :attr:`cost`."""
        self.cost += self._rate * (now_s - self._since_s)
        self._since_s = now_s
        return self.cost

    def submitted(self, job: Job, now_s: float) -> None:
        """A job waits from now on."""
        self.until(now_s)
        rate = self._rates[job.id] = self._rate_of(job)
        self._rate += rate

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """A job waits no more."""
        self._leave(job, now_s)
        self._rejected += 1

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """A job waits no more."""
        self._leave(job, now_s)
        self._waits_s.append(now_s - job.submit_time_s)

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Record a job's bounded slowdown."""
        turnaround_s, run_s = now_s - running.job.submit_time_s, now_s - running.start_s
        self._slowdowns.append(max(1.0, turnaround_s / max(run_s, _TAU_S)))

    def _leave(self, job: Job, now_s: float) -> None:
        self.until(now_s)
        self._rate -= self._rates.pop(job.id)
        if not self._rates:
            self._rate = 0.0  # no rounding error remains

    def result(self) -> dict[str, float]:
        """Numbers of jobs started and rejected so far, mean wait (s), mean bounded slowdown."""
        return {
            "jobs": float(len(self._waits_s)),
            "rejected": float(self._rejected),
            "mean_wait_s": _mean(self._waits_s),
            "mean_bounded_slowdown": _mean(self._slowdowns),
        }


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
