"""How a started job runs on the wire: the interface between the session and an execution model.

The session asks an execution model to start or kill a job and hands it the completions that come back. The model
answers with requests for the simulator and, when a job is through, with :class:`Ended`. Policies never see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.wire.messages import BatsimConfig, Event, JobState, Request


class Ended(NamedTuple):
    """A job (not one of its sub-jobs) is through and holds nothing any more."""

    job_id: str
    state: JobState
    return_code: int


class Released(NamedTuple):
    """A running job has left these nodes (indices, ascending); it goes on with the others."""

    job_id: str
    nodes: tuple[int, ...]


class Step(NamedTuple):
    """What follows from one event: requests to send, in order, jobs that ended, and nodes that running jobs left."""

    requests: Sequence[Request] = ()
    ended: Sequence[Ended] = ()
    released: Sequence[Released] = ()


NOTHING = Step()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a model needs of the simulator: one source for options of the simulator, codecs and error texts.

    Attributes
    ----------
    dynamic_jobs
        Jobs are registered while the simulation runs (Batsim 4: ``--enable-dynamic-jobs``).
    profile_reuse
        Their profiles are used more than once (Batsim 4: ``--enable-profile-reuse``).
    """

    dynamic_jobs: bool = True
    profile_reuse: bool = True


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
