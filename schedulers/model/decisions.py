"""Decisions of a policy. The guard checks each of them, the session carries it out."""

from __future__ import annotations

import math

import msgspec

from spillway.core import set_start_type
from spillway.schedulers.model.job import Allocation, Job


class Start(msgspec.Struct, frozen=True, gc=False):
    """Start a waiting job now, on this allocation.

    Attributes
    ----------
    job
        A waiting job.
    allocation
        Its nodes, as many as it requests, and one storage node for each of them where it requests burst buffers, as
        :meth:`spillway.core.Timeline.fit_now` gives them. All of it must be free now.
    """

    job: Job
    allocation: Allocation


set_start_type(Start)  # the core's steps of passes make them


class Hold(msgspec.Struct, frozen=True, gc=False):
    """Give a waiting job its burst buffer now, before its nodes (stage-in while others compute).

    It must be started later on just these storages, or lose them by :class:`Evict`.

    Attributes
    ----------
    job
        A waiting job that requests burst buffers.
    allocation
        One storage per node that it requests, and its bytes per node; no nodes.
    until_s
        Expected end of the holding (s); infinite if unknown. A holding that outlives it is expected to last as long
        again.
    """

    job: Job
    allocation: Allocation
    until_s: float = math.inf


class Evict(msgspec.Struct, frozen=True, gc=False):
    """Take the burst buffer of a waiting job back: its staged data is lost.

    Attributes
    ----------
    job
        A waiting job that was given its burst buffer by :class:`Hold`.
    """

    job: Job


class Create(msgspec.Struct, frozen=True, gc=False):
    """Create a persistent buffer that a waiting job requests.

    Attributes
    ----------
    job
        A waiting job.
    name
        Name of one of the buffers that it creates.
    allocation
        As many storage nodes as it has stripes, all different, and its bytes on each; no nodes.
    """

    job: Job
    name: str
    allocation: Allocation


class Destroy(msgspec.Struct, frozen=True, gc=False):
    """Destroy a persistent buffer that no running job uses, as a waiting job requests before it runs.

    Attributes
    ----------
    job, name
        The job, and the name of one of the buffers that it destroys.
    """

    job: Job
    name: str


class Finish(msgspec.Struct, frozen=True, gc=False):
    """End a waiting job without nodes, which has created and destroyed its persistent buffers.

    Attributes
    ----------
    job
        A waiting job that requests no nodes.
    """

    job: Job


class Reject(msgspec.Struct, frozen=True, gc=False):
    """Reject a waiting job.

    Attributes
    ----------
    job
        A waiting job.
    reason
        The reason in words, for ``rejections.csv``.
    """

    job: Job
    reason: str


class Kill(msgspec.Struct, frozen=True, gc=False):
    """Kill a running job; its resources are free when the simulator reports its end.

    Attributes
    ----------
    job
        A running job.
    reason
        The reason in words.
    """

    job: Job
    reason: str


class Preempt(msgspec.Struct, frozen=True, gc=False):
    """Preempt a running job for a waiting one, by the site's rules: cancel, requeue or suspend it, now or later.

    Its resources are free when the simulator reports its end. A job that is already being preempted or killed may be
    named.

    Attributes
    ----------
    job
        A running job.
    by
        The waiting job.
    partitions
        Partitions that the waiting job is to run in, as :attr:`spillway.schedulers.model.job.Job.partitions`.
    """

    job: Job
    by: Job
    partitions: tuple[int, ...] = ()


class WakeAt(msgspec.Struct, frozen=True, gc=False):
    """Call the policy again at this time even without an event.

    Attributes
    ----------
    time_s
        Simulated time (s), finite and later than now.
    """

    time_s: float


class SetPowerState(msgspec.Struct, frozen=True, gc=False):
    """Switch nodes to a power state.

    Attributes
    ----------
    nodes
        Indices into the machine's nodes, all of them free.
    pstate
        Number of the power state, as the platform numbers them from 0.
    """

    nodes: tuple[int, ...]
    pstate: int


class Arrange(msgspec.Struct, frozen=True, gc=False):
    """Give running jobs other allocations, all at once, so that they may change places with each other.

    Only where jobs share nodes in time (:class:`spillway.schedulers.jobmodels.base.TimeSharing`).

    Attributes
    ----------
    places
        Each running job that moves, once, with its new allocation.
    """

    places: tuple[tuple[Job, Allocation], ...]


class Pause(msgspec.Struct, frozen=True, gc=False):
    """No decision yet: the session keeps its place until the pass is continued (:meth:`Session.go_on`).

    For policies with decisions from outside; such a session needs a player that can wait, never a server.
    """


Decision = (
    Start
    | Hold
    | Evict
    | Create
    | Destroy
    | Finish
    | Reject
    | Kill
    | Preempt
    | WakeAt
    | SetPowerState
    | Arrange
    | Pause
)
