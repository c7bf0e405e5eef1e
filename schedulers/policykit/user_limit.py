"""A limit on the burst-buffer bytes of each user's jobs at a time, around any policy.

The policy's view has as many of each user's waiting jobs, in the order of the queue, as may hold their buffers together
beside the buffers already held by the user's jobs and the user's persistent buffers. So no decision of the policy
exceeds the limit; jobs left out wait.

References
----------
SchedMD, *Slurm Burst Buffer Guide*: limits of users by ``bb`` in ``MaxTRESPerUser`` of a quality of service.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import PolicyWrapper, View


@dataclass(frozen=True)
class UserLimit(PolicyWrapper):
    """A policy under a limit, itself a policy.

    Attributes
    ----------
    most_bytes
        Most bytes of burst buffer that the jobs of one user hold at a time, above 0. Jobs without a user
        (:attr:`spillway.schedulers.model.job.Job.user`) are not limited.
    """

    most_bytes: int

    def refuses(self, job: Job) -> str | None:
        """Reason why a job can never start: the violated inequality; else ``None``."""
        size = job.requests * job.bb_bytes
        if not job.user or size <= self.most_bytes:
            return None
        return f"bb {size / 1e9:.10g} GB in all > {self.most_bytes / 1e9:.10g} GB that a user may hold (bb_user_limit)"

    def __call__(self, view: View) -> Iterator[Decision]:
        """Run one pass on the jobs allowed to get their buffers."""
        yield from self.policy(view.showing(tuple(self._allowed(view)), view.held))

    def _allowed(self, view: View) -> Iterator[Job]:
        held = held_bytes(view)
        for job in view.queue:
            size = 0 if job.id in view.held or not job.user else job.requests * job.bb_bytes
            if size and held.get(job.user, 0) + size > self.most_bytes:
                if view.notes is not None:
                    view.notes.write(job.id, Role.PASSED_OVER, Binding.USER_LIMIT)
                continue
            held[job.user] = held.get(job.user, 0) + size
            yield job


def held_bytes(view: View) -> dict[str, int]:
    """Bytes of burst buffer by user: those of running jobs, of all waiting jobs, and persistent ones."""
    users = {job.id: job.user for job in view.waiting} if view.held else {}
    parts = [(running.job.user, running.allocation) for running in view.running]
    parts += [(users[job_id], holding.allocation) for job_id, holding in view.held.items() if job_id in users]
    if view.pool is not None:
        parts += [(buffer.user, buffer.allocation) for buffer in view.pool.buffers.values()]
    held: dict[str, int] = {}
    for user, allocation in parts:
        held[user] = held.get(user, 0) + _size(allocation)
    return held


def _size(allocation: Allocation) -> int:
    """Bytes of burst buffer in an allocation."""
    return len(allocation.storages) * allocation.bb_bytes
