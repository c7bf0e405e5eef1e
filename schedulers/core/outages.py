"""Outages: what becomes of jobs on nodes and storage nodes that machine events take away.

Batsim lets a running job go on when a machine of its becomes unavailable, and aborts on a start there. What the
scheduler does beyond that is a setting; a job that is restarted is submitted anew, under a name of its own.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Set
from typing import NamedTuple

import msgspec

from spillway.base.errors import RemoteProtocolError
from spillway.protocol.messages import BatsimConfig, Event, Notify, NotifyKind, RegisterJob
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import Pool
from spillway.schedulers.policykit.view import Running
from spillway.schedulers.timeline import Resource

SEPARATOR = "#"
"""Stands between a job's name and the number of the attempt: ``w0!12#2`` is the second one of ``w0!12``."""


class OnOutage(enum.Enum):
    """What happens to a running job that holds a node, or a burst buffer on a storage node, that is taken away."""

    CONTINUE = "continue"
    """It goes on as far as Batsim lets it: to the end of what runs of it. It ends, killed, where its next part would
    have to start on what is out."""
    KILL = "kill"
    """It is killed at once."""
    REQUEUE = "requeue"
    """It is killed at once and waits again at its original place, as a new job of Batsim's."""
    SHRINK = "shrink"
    """A malleable application gives up what is out and goes on with the rest, as long as it keeps its minimum; all
    other jobs are killed."""
    SHRINK_OR_REQUEUE = "shrink-or-requeue"
    """The same, but all other jobs are requeued."""

    @property
    def shrinks(self) -> bool:
        """Whether malleable applications go on with fewer nodes."""
        return self in (OnOutage.SHRINK, OnOutage.SHRINK_OR_REQUEUE)

    @property
    def requeues(self) -> bool:
        """Whether killed jobs are submitted anew."""
        return self in (OnOutage.REQUEUE, OnOutage.SHRINK_OR_REQUEUE)


class Restart(enum.Enum):
    """Where a job that is submitted anew goes on."""

    BEGINNING = "beginning"
    """At its beginning."""
    CHECKPOINT = "checkpoint"
    """At its last checkpoint that survived: in its burst buffers if none of their storage nodes went out, else on the
    file system; at its beginning where there is none."""


NO_HOSTS: frozenset[int] = frozenset()


class Outages:
    """One conversation's memory of outages.

    Parameters
    ----------
    rule
        What happens to running jobs.

    Attributes
    ----------
    affected
        Running jobs on what was taken away in this message, by id, with what was taken of each.
    going
        Hosts that are out at the end of this message. They are taken away before anything else of it is looked at, so
        that nothing that follows from its other events is started there.
    acknowledged
        Whether the simulator sends every job that is submitted anew back.
    """

    def __init__(self, rule: OnOutage) -> None:
        self.rule = rule
        self.affected: dict[str, Lost] = {}
        self.going = NO_HOSTS
        self._dying: dict[str, Death] = {}
        self._attempts: dict[str, tuple[str, int]] = {}
        self._unacknowledged: set[str] = set()
        self.acknowledged = False

    def read(self, events: Iterable[Event], known: Set[int]) -> None:
        """Look ahead in a message: which of the ``known`` hosts are out at its end."""
        last: dict[int, str] = {}
        for event in events:
            if type(event) is Notify:
                last.update(dict.fromkeys(event.resources, event.kind))
        gone = [host for host, kind in last.items() if kind == NotifyKind.MACHINE_UNAVAILABLE.value]
        self.going = frozenset(gone).intersection(known)

    def affect(self, job_id: str, lost: Lost) -> None:
        """A running job lost something; what follows is decided when the whole message has been read."""
        if job_id not in self._dying:
            self.affected.setdefault(job_id, lost)

    def kill(self, job_id: str, death: Death) -> None:
        """A job that lost something, or makes room for another one, is killed."""
        self._dying[job_id] = death

    def is_being_killed(self, job_id: str) -> bool:
        """Whether a job was killed, and has not ended."""
        return job_id in self._dying

    def ended(self, job_id: str, reason: str = "") -> Death | None:
        """A job has ended: why it was to be killed, or had to end by itself; ``None`` for neither."""
        self.affected.pop(job_id, None)
        by_itself = Death(reason, requeues=self.rule.requeues) if reason else None
        return self._dying.pop(job_id, by_itself)

    def first_attempt(self, job_id: str) -> str:
        """Id under which a job was submitted."""
        return self._attempts.get(job_id, (job_id, 1))[0]

    def next_attempt(self, job: Job) -> Job:
        """The same job under the name of its next attempt: submitted when the first one was, at the same place."""
        first, number = self._attempts.pop(job.id, (job.id, 1))
        again = msgspec.structs.replace(job, id=f"{first}{SEPARATOR}{number + 1}")
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


class Death(NamedTuple):
    """Why a running job is killed.

    Attributes
    ----------
    reason
        In words.
    requeues
        Whether it is submitted anew.
    by
        Id of the job that it makes room for; "": it lost something.
    told_s
        When it was chosen to make room (s).
    suspends
        Whether it goes on where it was, with what it has done.
    """

    reason: str
    requeues: bool
    by: str = ""
    told_s: float = math.nan
    suspends: bool = False


class Lost(NamedTuple):
    """What a running job lost: its nodes (those of lost burst buffers too), and the reason in words."""

    nodes: frozenset[int]
    reason: str


def require_restarts(config: BatsimConfig, setting: str) -> None:
    """Refuse a simulator that takes no jobs anew, which a setting (in words) needs.

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
    """The request that submits an attempt; its profile is the one that the job had."""
    data = {"id": job.id, "subtime": job.submit_time_s - job.held_s, "res": job.nodes, "profile": job.profile_name}
    if job.walltime_s < float("inf"):
        data["walltime"] = job.walltime_s
    return RegisterJob(now_s, job.id, {**job.extras, **data})


def lost_by(
    machine: Machine, running: Running, nodes: frozenset[int], storages: frozenset[int], pool: Pool
) -> Lost | None:
    """What a running job loses with these nodes and storage nodes; ``None`` for nothing.

    The nodes of a lost burst buffer go with it, and all its nodes with a persistent buffer that it uses.
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
    return Lost(gone, reason)


def _lost_pool(machine: Machine, running: Running, storages: frozenset[int], pool: Pool) -> Lost | None:
    requests = pool.requests.get(running.job.id)
    for name in requests.uses if requests is not None else ():
        spoilt = storages.intersection(pool.buffers[name].allocation.storages)
        if spoilt:
            where = machine.storages[min(spoilt)].name
            reason = f"storage node {where} of the persistent buffer {name} became unavailable"
            return Lost(frozenset(running.allocation.nodes), reason)
    return None


def node_seconds(running: Running, now_s: float) -> float:
    """Node-seconds that a job which ends now has held, with nodes that it gave back before its burst buffer."""
    spans = [(holding, now_s) for holding in running.holdings] + [(holding, holding.end_s) for holding in running.past]
    return math.fsum(
        len(holding.allocation.nodes) * (end_s - holding.start_s)
        for holding, end_s in spans
        if Resource.NODES in holding.covering
    )
