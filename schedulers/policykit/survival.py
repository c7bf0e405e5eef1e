"""Predictions by quantiles of the runtimes of similar jobs, given the time that a job has run so far.

Runtimes of a user's similar jobs are kept as shares of the walltime. The expected duration of a waiting job is a
quantile of them. Many jobs end within their first minutes; for a job that has outlived its prediction the same quantile
is taken of the jobs that ran longer than it has so far: survival changes the expectation at once, where a mean would
grow by steps.

References
----------
Gibbons, *A historical application profiler for use by parallel schedulers*, JSSPP 1997 (groups of similar jobs from
narrow to wide); Tsafrir, Etsion, Feitelson, IEEE TPDS 18(6), 2007 (predictions in backfilling). Quantiles and survival
in their place are ours.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Iterator

from spillway.base.errors import OptionError
from spillway.schedulers.model.job import Job

LEAST = 5
"""Least number of jobs of a group; with fewer, a wider group is used."""

KEPT = 100
"""Number of last jobs kept of each group."""

SHORTEST_S = 1.0


class _Shares:
    """Runtimes of the last jobs of a group, as shares of their walltimes; by time and in ascending order."""

    __slots__ = ("_in_time", "ascending")

    def __init__(self) -> None:
        self._in_time: deque[float] = deque()
        self.ascending: list[float] = []

    def add(self, share: float) -> None:
        self._in_time.append(share)
        insort(self.ascending, share)
        if len(self._in_time) > KEPT:
            oldest = self._in_time.popleft()
            del self.ascending[bisect_right(self.ascending, oldest) - 1]


class Survival:
    """Quantiles of the runtimes of similar jobs, given a job's elapsed time; the walltime without similar jobs.

    Similar jobs are those of the first of these groups with enough jobs: same user, walltime and nodes; same user and
    walltime; same user; same walltime.

    Parameters
    ----------
    quantile
        The expected quantile, above 0 and below 1: 0.5 is as often too short as too long, larger ones are cautious.
    """

    def __init__(self, quantile: float = 0.5) -> None:
        if not 0.0 < quantile < 1.0:
            raise OptionError(f"a quantile lies above 0 and below 1, got {quantile}")
        self._quantile = quantile
        self._groups: dict[tuple[object, ...], _Shares] = {}

    def estimate_s(self, job: Job) -> float:
        """Quantile of the group's shares, in seconds: at least one, at most the walltime."""
        return self._expected_s(job, -1.0, SHORTEST_S)

    def correct_s(self, job: Job, elapsed_s: float) -> float:
        """Quantile of the group's shares above the elapsed one, in seconds; the walltime if no share is above it."""
        return self._expected_s(job, elapsed_s, elapsed_s)

    def observe(self, job: Job, runtime_s: float) -> None:
        """Add a runtime to all groups of the job."""
        share = min(runtime_s / _unit_s(job), 1.0) if math.isfinite(job.walltime_s) else runtime_s
        for key in _keys(job):
            self._groups.setdefault(key, _Shares()).add(share)

    def _expected_s(self, job: Job, survived_s: float, least_s: float) -> float:
        shares = self._similar(job)
        first = bisect_right(shares, survived_s / _unit_s(job))
        if first == len(shares):
            return job.walltime_s
        place = first + min(int(self._quantile * (len(shares) - first)), len(shares) - first - 1)
        return min(max(shares[place] * _unit_s(job), least_s), job.walltime_s)

    def _similar(self, job: Job) -> list[float]:
        for key in _keys(job):
            group = self._groups.get(key)
            if group is not None and len(group.ascending) >= LEAST:
                return group.ascending
        return []


def _unit_s(job: Job) -> float:
    """Unit of a job's shares (s): its walltime, or a second without a walltime."""
    return job.walltime_s if math.isfinite(job.walltime_s) else 1.0


def _keys(job: Job) -> Iterator[tuple[object, ...]]:
    """Groups of a job, the narrowest first; jobs without a walltime are alike."""
    bounded = math.isfinite(job.walltime_s)
    if job.user:
        yield "request", job.user, job.walltime_s, job.nodes
        yield "walltime", job.user, job.walltime_s
        yield "user", job.user, bounded
    yield "all", job.walltime_s
