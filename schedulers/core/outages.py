"""Outages: handling of jobs on nodes and storage nodes that machine events make unavailable.

In Batsim a running job continues when one of its machines becomes unavailable, and a start there aborts the simulation.
Further handling by the scheduler is a setting; a job that is restarted is submitted anew, under a name of its own.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Set
from typing import NamedTuple

from spillway.base.errors import RemoteProtocolError
from spillway.core import Resource
from spillway.protocol.limits import TIME_LIMIT_FIELD
from spillway.protocol.messages import BatsimConfig, Event, Notify, NotifyKind, RegisterJob
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import Pool
from spillway.schedulers.policykit.view import Running

SEPARATOR = "#"
"""Separates a job's name from the number of the attempt: ``w0!12#2`` is the second one of ``w0!12``."""


class OnOutage(enum.Enum):
    """Handling of a running job that loses a node, or a burst buffer on a storage node, in an outage."""

    CONTINUE = "continue"
    """As in Batsim, it continues to the end of its running parts. It is killed where its next part would have to start
    on resources that are out."""
    KILL = "kill"
    """It is killed at once."""
    REQUEUE = "requeue"
    """It is killed at once and waits again at its original place, as a new job of Batsim's."""
    SHRINK = "shrink"
    """A malleable application gives up the lost nodes and continues with the rest, as long as it keeps its minimum; all
    other jobs are killed."""
    SHRINK_OR_REQUEUE = "shrink-or-requeue"
    """The same, but all other jobs are requeued."""

    @property
    def shrinks(self) -> bool:
        """Whether malleable applications continue with fewer nodes."""
        return self in (OnOutage.SHRINK, OnOutage.SHRINK_OR_REQUEUE)

    @property
    def requeues(self) -> bool:
        """Whether killed jobs are submitted anew."""
        return self in (OnOutage.REQUEUE, OnOutage.SHRINK_OR_REQUEUE)


class Restart(enum.Enum):
    """Point from which a job that is submitted anew continues."""

    BEGINNING = "beginning"
    """Its beginning."""
    CHECKPOINT = "checkpoint"
    """Its last checkpoint that survived: in its burst buffers if none of their storage nodes went out since, else on
    the file system; its beginning without a checkpoint."""


NO_HOSTS: frozenset[int] = frozenset()


class Outages:
    """The outages of one conversation.

    Parameters
    ----------
    rule
        Handling of running jobs.

    Attributes
    ----------
    affected
        Running jobs that lost resources in this message, by id, with their losses.
    going
        Hosts that are out at the end of this message. They are closed before its events are handled, so that these
        start nothing there.
    acknowledged
        Whether the simulator sends back every job that is submitted anew.
    """

    def __init__(self, rule: OnOutage) -> None:
        self.rule = rule
        self.affected: dict[str, JobLoss] = {}
        self.going = NO_HOSTS
        self._dying: dict[str, KillReason] = {}
        self._attempts: dict[str, tuple[str, int]] = {}
        self._unacknowledged: set[str] = set()
        self.acknowledged = False

    def read(self, events: Iterable[Event], known: Set[int]) -> None:
        """Look ahead in a message for the ``known`` hosts that are out at its end."""
        last: dict[int, str] = {}
        for event in events:
            if type(event) is Notify:
                last.update(dict.fromkeys(event.resources, event.kind))
        gone = [host for host, kind in last.items() if kind == NotifyKind.MACHINE_UNAVAILABLE.value]
        self.going = frozenset(gone).intersection(known)

    def affect(self, job_id: str, lost: JobLoss) -> None:
        """Record the loss of a running job; the reaction is decided when the whole message has been read."""
        if job_id not in self._dying:
            self.affected.setdefault(job_id, lost)

    def kill(self, job_id: str, death: KillReason) -> None:
        """Record the kill of a job that lost resources or is preempted."""
        self._dying[job_id] = death

    def is_being_killed(self, job_id: str) -> bool:
        """Whether a job was killed, and has not ended."""
        return job_id in self._dying

    def ended(self, job_id: str, reason: str = "") -> KillReason | None:
        """Remove an ended job; return the reason why it was killed or the runtime ended it, or ``None``."""
        self.affected.pop(job_id, None)
        by_itself = KillReason(reason, requeues=self.rule.requeues) if reason else None
        return self._dying.pop(job_id, by_itself)

    def first_attempt(self, job_id: str) -> str:
        """Id under which a job was submitted."""
        return self._attempts.get(job_id, (job_id, 1))[0]

    def next_attempt(self, job: Job) -> Job:
        """The same job under the name of its next attempt, with the submission time and rank of the first one."""
        first, number = self._attempts.pop(job.id, (job.id, 1))
        again = replaced(job, id=f"{first}{SEPARATOR}{number + 1}")
        self._attempts[again.id] = first, number + 1
        if self.acknowledged:
            self._unacknowledged.add(again.id)
        return again

    def acknowledges(self, job_id: str) -> bool:
        """Whether a submission acknowledges an attempt; each does so once."""
        if job_id not in self._unacknowledged:
            return False
        self._unacknowledged.discard(job_id)
        return True


class KillReason(NamedTuple):
    """Reason for the kill of a running job.

    Attributes
    ----------
    reason
        The reason in words.
    requeues
        Whether it is submitted anew.
    by
        Id of the job that preempts it; "": it lost resources.
    told_s
        Time of the decision to preempt it (s).
    suspends
        Whether it continues later from its present state.
    """

    reason: str
    requeues: bool
    by: str = ""
    told_s: float = math.nan
    suspends: bool = False


class JobLoss(NamedTuple):
    """Loss of a running job: its nodes (also those of lost burst buffers), and the reason in words."""

    nodes: frozenset[int]
    reason: str


def require_restarts(config: BatsimConfig, setting: str) -> None:
    """Refuse a simulator that does not accept jobs submitted anew, which a setting (in words) needs.

    Raises :class:`RemoteProtocolError`, which names the setting and the remedy.
    """
    setting = f"{setting} submits jobs anew and needs"
    if not config.dynamic_jobs_enabled:
        raise RemoteProtocolError(
            f"{setting} dynamic jobs: {config.dynamic_jobs_remedy}", "$.events[0].data.config.dynamic-jobs-enabled"
        )
    if not config.profile_reuse_enabled:
        raise RemoteProtocolError(
            f"{setting} profiles that stay: start Batsim with --enable-profile-reuse",
            "$.events[0].data.config.profile-reuse-enabled",
        )


def registration(job: Job, now_s: float) -> RegisterJob:
    """The request that submits an attempt, with the job's own profile."""
    data = {"id": job.id, "subtime": job.submit_time_s - job.held_s, "res": job.nodes, "profile": job.profile_name}
    if job.walltime_s + job.grace_s < float("inf"):
        data["walltime"] = job.walltime_s + job.grace_s
    if TIME_LIMIT_FIELD in job.extras:
        data[TIME_LIMIT_FIELD] = job.walltime_s
    return RegisterJob(now_s, job.id, {**job.extras, **data})


def lost_by(
    machine: Machine, running: Running, nodes: frozenset[int], storages: frozenset[int], pool: Pool
) -> JobLoss | None:
    """Loss of a running job with these nodes and storage nodes; ``None`` for no loss.

    With a burst buffer it loses the buffer's nodes, with a persistent buffer that it uses all its nodes.
    """
    held = running.allocation
    gone = nodes.intersection(held.nodes)
    spoilt = storages.intersection(held.storages)
    if gone:
        reason = f"node {machine.nodes[min(gone)].name} became unavailable"
    elif spoilt:
        reason = f"storage node {machine.storages[min(spoilt)].name} became unavailable"
    else:
        return _lost_pool(machine, running, storages, pool)
    if spoilt:
        paired = len(held.nodes) == len(held.storages) and not held.striped
        pairs = zip(held.nodes, held.storages, strict=False)
        gone |= {node for node, storage in pairs if storage in spoilt or not paired}
    return JobLoss(gone, reason)


def _lost_pool(machine: Machine, running: Running, storages: frozenset[int], pool: Pool) -> JobLoss | None:
    requests = pool.requests.get(running.job.id)
    for name in requests.uses if requests is not None else ():
        spoilt = storages.intersection(pool.buffers[name].allocation.storages)
        if spoilt:
            where = machine.storages[min(spoilt)].name
            reason = f"storage node {where} of the persistent buffer {name} became unavailable"
            return JobLoss(frozenset(running.allocation.nodes), reason)
    return None


def node_seconds(running: Running, now_s: float) -> float:
    """Node-seconds of a job that ends now, including nodes that it gave back before its burst buffer."""
    spans = [(holding, now_s) for holding in running.holdings] + [(holding, holding.end_s) for holding in running.past]
    return math.fsum(
        len(holding.allocation.nodes) * (end_s - holding.start_s)
        for holding, end_s in spans
        if Resource.NODES in holding.covering
    )
