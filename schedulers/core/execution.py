"""How started jobs run: the interface between the session and a runtime (:mod:`spillway.schedulers.jobmodels`).

The session gives a runtime the jobs that start or are to be killed, and the events of the simulator that concern
running jobs. The runtime answers with requests for the simulator, with what jobs have given back, and with the jobs
that have ended. Policies have no access to it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple, Protocol

import msgspec

from spillway.protocol.messages import BatsimConfig, Event, JobState, Request
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.timeline import Resource


class Ended(NamedTuple):
    """A job (not one of its sub-jobs) has ended and holds nothing any more.

    ``reason`` says why the runtime ended it although nothing had requested that: what it needs next is out. ``left`` is
    what its next attempt is given (:attr:`spillway.schedulers.model.job.Job.left`), ``kept_s`` the computing (s) that
    it did for that one; below 0 where it lost checkpoints of earlier attempts.
    """

    job_id: str
    state: JobState
    return_code: int
    reason: str = ""
    left: Any = None
    kept_s: float = 0.0


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


class Staged(NamedTuple):
    """The stage-in of a waiting job has ended; where it failed, ``reason`` says why, and its data is lost."""

    job_id: str
    reason: str = ""


class Step(msgspec.Struct):
    """What follows from one event: requests to send, in order, jobs that ended, what running jobs gave back or will,
    waiting jobs whose stage-in has ended (or failed, with the reason); of an event that states several ends, the
    ``rest`` that was not looked at. A runtime may go on filling one in until it returns it.
    """

    requests: Sequence[Request] = ()
    ended: Sequence[Ended] = ()
    released: Sequence[Released] = ()
    expected: Sequence[Expected] = ()
    staged: Sequence[Staged] = ()
    rest: Event | None = None


NOTHING = Step()


class Runtime(Protocol):
    """Plays a job model. One instance serves one conversation."""

    @property
    def rows(self) -> int:
        """How many jobs can share a node in time; policies get a machine with so many rows of nodes."""
        ...

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Learn the machine and what the simulator allows; raise RemoteProtocolError where it lacks something."""
        ...

    def refuses(self, job: Job) -> str | None:
        """Why this runtime cannot play what a job describes; ``None`` where it can.

        Raises
        ------
        RemoteProtocolError
            The job's description is malformed (names the field).
        """
        ...

    def stage(self, job: Job, allocation: Allocation, now_s: float) -> Step:
        """Fill the burst buffer that a waiting job was given; the step in which that has ended names it."""
        ...

    def unstage(self, job: Job, now_s: float) -> Step:
        """A waiting job loses its burst buffer: what moves there is stopped."""
        ...

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Step:
        """Start a job on its allocation, on its burst buffer if that is staged."""
        ...

    def without_nodes(self, job: Job, now_s: float) -> Step:
        """A job that requests no nodes has ended: there was nothing to play."""
        ...

    def kill(self, job: Job, now_s: float) -> Step:
        """End a running job early; its end may come with a later event."""
        ...

    def move(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Give a running job another allocation; only where :attr:`rows` is more than 1.

        Raises
        ------
        DecisionRefused
            Jobs of this runtime stay where they are.
        """
        ...

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Digest an event that concerns running jobs or sub-jobs; ``None`` when it does not."""
        ...

    def settle(self, now_s: float) -> Step:
        """What brings the simulator to what was decided; called at the end of each message."""
        ...

    def outage(self, closed: Set[int], now_s: float) -> Step:
        """Nothing can be executed on these hosts (Batsim's ids) from now on; called whenever they change."""
        ...

    def check(self) -> None:
        """Prove that what is known of running jobs agrees; for tests."""
        ...

    def give_up(self, job: Job, nodes: Set[int], now_s: float) -> Step | None:
        """Let a running job go on without these nodes; ``None`` where it cannot.

        It gives them back when the part that runs on them has ended.
        """
        ...


class Demand(Protocol):
    """The bandwidth that jobs need under a job model that moves their bytes: a constant rate per node, to be booked."""

    @property
    def from_storages(self) -> bool:
        """Whether the bytes leave from storage nodes; then only links that all traffic crosses are booked
        (:meth:`spillway.schedulers.model.machine.Machine.trunk`)."""
        ...

    def __call__(self, job: Job, expected_s: float, most: float) -> int:
        """Bytes per second per node that a job is to have; 0 if none.

        Parameters
        ----------
        job
            As it was submitted.
        expected_s
            Its expected duration in seconds, infinity where there is none.
        most
            Bytes per second per node that the links carry for the job, were it the only one; only known for bytes that
            leave from storage nodes, else infinity.

        Raises
        ------
        ValueError
            The rate cannot be derived (the message gives the reason): the job must be rejected.
        """
        ...
