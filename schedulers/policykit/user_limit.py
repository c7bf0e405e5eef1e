"""At most so many bytes of burst buffer for each user's jobs at a time, around any policy.

A policy sees of each user's waiting jobs, in the order of the queue, as many as may hold their buffers together beside
those that the user's jobs hold already and the user's persistent buffers. So whatever it starts, no user exceeds the
limit; a job that is left out waits.

References
----------
SchedMD, *Slurm Burst Buffer Guide*: limits of users by ``bb`` in ``MaxTRESPerUser`` of a quality of service.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.policykit.decisions import Decision
from schedulers.policykit.explain import Binding, Role
from schedulers.policykit.view import Policy, View, warnings_of


@dataclass(frozen=True)
class UserLimit:
    """A policy under a limit: itself a policy.

    Attributes
    ----------
    policy
        Decides on what it sees.
    most_bytes
        Most bytes of burst buffer that the jobs of one user hold at a time, above 0. Jobs that name no user
        (:attr:`schedulers.core.job.Job.user`) are not limited.
    """

    policy: Policy
    most_bytes: int

    def refuses(self, job: Job) -> str | None:
        """Why a job can never be started: the inequality; ``None`` where it can."""
        size = job.requests * job.bb_bytes
        if not job.user or size <= self.most_bytes:
            return None
        return f"bb {size / 1e9:.10g} GB in all > {self.most_bytes / 1e9:.10g} GB that a user may hold (bb_user_limit)"

    def __call__(self, view: View) -> Iterator[Decision]:
        """Run one pass on the jobs that may be given their buffers."""
        yield from self.policy(view.showing(tuple(self._allowed(view)), view.held))

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
        """What the policy found."""
        return warnings_of(self.policy, notebook, machine, now_s)

    def _allowed(self, view: View) -> Iterator[Job]:
        held: dict[str, int] = {}
        for running in view.running:
            held[running.job.user] = held.get(running.job.user, 0) + _size(running.allocation)
        for buffer in view.pool.buffers.values() if view.pool is not None else ():
            held[buffer.user] = held.get(buffer.user, 0) + _size(buffer.allocation)
        waiting = {job.id: job for job in view.queue}
        for job_id, holding in view.held.items():
            if job_id in waiting:
                user = waiting[job_id].user
                held[user] = held.get(user, 0) + _size(holding.allocation)
        for job in view.queue:
            size = 0 if job.id in view.held or not job.user else job.requests * job.bb_bytes
            if size and held.get(job.user, 0) + size > self.most_bytes:
                if view.notes is not None:
                    view.notes.write(job.id, Role.PASSED_OVER, Binding.USER_LIMIT)
                continue
            held[job.user] = held.get(job.user, 0) + size
            yield job


def _size(allocation: Allocation) -> int:
    """Bytes of burst buffer in an allocation."""
    return len(allocation.storages) * allocation.bb_bytes
