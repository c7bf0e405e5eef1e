"""Resource usage by user, and the jobs that have ended: recorded as events occur, summed when a policy reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.history import HISTORY_JOBS, Finished, FinishedJobs, PackedJobs, Usage
from spillway.schedulers.policykit.view import Holding, Running


@dataclass(slots=True)
class _Meter:
    """Usage until ``since_s`` of a job with a changed allocation; also the total of a user's past jobs."""

    node_s: float
    byte_s: float
    since_s: float

    def add(self, held: Allocation, now_s: float) -> None:
        """Add the usage of an allocation held from ``since_s`` until now."""
        seconds, self.since_s = now_s - self.since_s, now_s
        self.node_s += len(held.nodes) * seconds
        self.byte_s += len(held.storages) * held.bb_bytes * seconds


class Accounts:
    """The accounts of one conversation.

    Parameters
    ----------
    most
        Least number of finished jobs to keep.
    """

    def __init__(self, most: int = HISTORY_JOBS) -> None:
        self._most = most
        self._finished = PackedJobs()
        self._kept = self._total = 0
        self._users: dict[str, _Meter] = {}
        self._meters: dict[str, _Meter] = {}

    def staged(self, job_id: str, holding: Holding, now_s: float) -> None:
        """Record the start of a job that has held a burst buffer before."""
        meter = _Meter(0.0, 0.0, holding.start_s)
        meter.add(holding.allocation, now_s)
        self._meters[job_id] = meter

    def changes(self, running: Running, now_s: float) -> None:
        """Count the usage of a running job before its allocation changes."""
        meter = self._meters.setdefault(running.job.id, _Meter(0.0, 0.0, running.start_s))
        meter.add(running.allocation, now_s)

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """Count the burst buffer that a waiting job has lost."""
        meter = _Meter(0.0, 0.0, holding.start_s)
        meter.add(holding.allocation, now_s)
        self._count(job.user, Usage(meter.node_s, meter.byte_s))

    def ended(self, running: Running, state: str, now_s: float) -> None:
        """Record a job that has ended; ``running`` is its last allocation."""
        job, usage = running.job, self._used(running, now_s)
        user = job.user
        self._meters.pop(job.id, None)
        self._count(user, usage)
        if self._kept >= 2 * self._most:
            self._finished = self._finished.last(self._most)  # earlier views keep their jobs
            self._kept = self._most
        self._finished.append(
            Finished(
                job.id, user, job.submit_time_s, running.start_s, now_s, job.walltime_s, job.nodes, state, usage,
                job.account, job.qos,
            )
        )  # fmt: skip
        self._kept += 1
        self._total += 1

    def finished(self) -> FinishedJobs:
        """The most recently ended jobs, as of now."""
        return FinishedJobs(self._finished, max(self._kept - self._most, 0), self._total)

    def usage(
        self, running: Iterable[Running], held: Mapping[str, Holding], queue: Iterable[Job], now_s: float
    ) -> dict[str, Usage]:
        """Usage of each user's jobs until now, running jobs and burst buffers of waiting jobs included."""
        sums = {user: [meter.node_s, meter.byte_s] for user, meter in self._users.items()}

        def add(user: str, used: Usage) -> None:
            entry = sums.setdefault(user, [0.0, 0.0])
            entry[0] += used.node_seconds
            entry[1] += used.buffer_byte_seconds

        for one in running:
            add(one.job.user, self._used(one, now_s))
        for job in queue if held else ():
            if job.id in held:
                part = held[job.id]
                size = len(part.allocation.storages) * part.allocation.bb_bytes
                add(job.user, Usage(0.0, size * (now_s - part.start_s)))
        return {user: Usage(*entry) for user, entry in sums.items()}

    def _used(self, running: Running, now_s: float) -> Usage:
        known, held = self._meters.get(running.job.id), running.allocation
        if known is None:
            seconds = now_s - running.start_s
            return Usage(len(held.nodes) * seconds, len(held.storages) * held.bb_bytes * seconds)
        meter = _Meter(known.node_s, known.byte_s, known.since_s)
        meter.add(held, now_s)
        return Usage(meter.node_s, meter.byte_s)

    def _count(self, user: str, usage: Usage) -> None:
        meter = self._users.setdefault(user, _Meter(0.0, 0.0, 0.0))
        meter.node_s += usage.node_seconds
        meter.byte_s += usage.buffer_byte_seconds
