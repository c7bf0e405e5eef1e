"""How a started job runs on the wire: the interface between the session and an execution model.

The session asks an execution model to start or kill a job and hands it the completions that come back. The model
answers with requests for the simulator and, when a job is through, with :class:`Ended`. Policies never see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.timeline import Resource
from schedulers.wire.messages import BatsimConfig, Event, JobState, Request


class Ended(NamedTuple):
    """A job (not one of its sub-jobs) is through and holds nothing any more."""

    job_id: str
    state: JobState
    return_code: int


class Released(NamedTuple):
    """A running job has given back something; it goes on with the rest of what it holds.

    Attributes
    ----------
    nodes
        Its nodes (indices, ascending), ``None`` for all. Burst buffers and bandwidth are named by the nodes that they
        were granted for, also after these were given back.
    covering
        What it gave back: the nodes with all that belongs to them, or some kinds of resources alone (its nodes, while
        its burst buffer is still drained; its burst buffer, once its input has been read).
    """

    job_id: str
    nodes: tuple[int, ...] | None
    covering: Resource = Resource.ALL


class Expected(NamedTuple):
    """Some kinds of what a running job holds are expected back at ``until_s``, earlier or later than it seemed."""

    job_id: str
    until_s: float
    covering: Resource = Resource.ALL


class Step(NamedTuple):
    """What follows from one event: requests to send, in order, jobs that ended, what running jobs gave back or will."""

    requests: Sequence[Request] = ()
    ended: Sequence[Ended] = ()
    released: Sequence[Released] = ()
    expected: Sequence[Expected] = ()


NOTHING = Step()


class Execution(Protocol):
    """An execution model. One instance serves one conversation."""

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Learn the machine and what the simulator allows; raise RemoteProtocolError where it lacks something."""
        ...

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Sequence[Request]:
        """Requests that start a job on its allocation."""
        ...

    def kill(self, job: Job, now_s: float) -> Step:
        """Requests that end a running job early (and its end, where nothing of it runs any more)."""
        ...

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Digest an event that concerns running jobs or sub-jobs; ``None`` when it is not this model's."""
        ...


@runtime_checkable
class TimeSharing(Execution, Protocol):
    """An execution model under which several jobs take turns on a node, and running jobs can be moved.

    Policies see a machine with ``rows`` nodes in place of each (:meth:`schedulers.core.machine.Machine.stacked`).
    """

    @property
    def rows(self) -> int:
        """How many jobs can share a node."""
        ...

    def move(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Give a running job another allocation, from now on."""
        ...

    def settle(self, now_s: float) -> Sequence[Request]:
        """Requests that bring the simulator to what was decided; asked once, at the end of each message."""
        ...
