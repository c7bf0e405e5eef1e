"""The interface between the session and a runtime (:mod:`spillway.schedulers.jobmodels`), which plays started jobs.

The session gives a runtime the jobs that start or are to be killed, and the events of the simulator that concern
running jobs. The runtime answers with requests for the simulator, with resources that jobs have given back, and with
the jobs that have ended. Policies have no access to it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple, Protocol

import msgspec

from spillway.core import Resource
from spillway.protocol.messages import BatsimConfig, Event, JobState, Request
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine


class Ended(NamedTuple):
    """The end of a job (not of a sub-job), after which it holds nothing.

    ``reason``: why the runtime ended it without a request, because its next part needs resources that are out.
    ``left``: state passed to its next attempt (:attr:`spillway.schedulers.model.job.Job.left`); ``kept_s``: computing
    time (s) that this attempt adds to it, negative where checkpoints of earlier attempts were lost.
    """

    job_id: str
    state: JobState
    return_code: int
    reason: str = ""
    left: Any = None
    kept_s: float = 0.0


class Released(NamedTuple):
    """Resources that a running job has given back; it continues with the rest.

    Attributes
    ----------
    nodes
        Its nodes (indices, ascending), ``None`` for all. Burst buffers and bandwidth are named by the nodes that they
        were granted for, also after these were given back.
    covering
        Kinds of resources given back: the nodes with all that belongs to them, or only some kinds (its nodes, while its
        burst buffer is still drained; its burst buffer, once its input has been read).
    """

    job_id: str
    nodes: tuple[int, ...] | None
    covering: Resource = Resource.ALL


class Expected(NamedTuple):
    """A new expected end, ``until_s``, for some kinds of a running job's resources."""

    job_id: str
    until_s: float
    covering: Resource = Resource.ALL


class Staged(NamedTuple):
    """The end of a waiting job's stage-in; ``reason``: why it failed and its data is lost, or empty."""

    job_id: str
    reason: str = ""


class Step(msgspec.Struct):
    """Consequences of one event, for the simulator and for jobs.

    ``requests`` to send, in order; ``ended`` jobs; resources ``released`` by running jobs, and their new ``expected``
    ends; waiting jobs with a finished or failed stage-in (``staged``).
    """

    requests: Sequence[Request] = ()
    ended: Sequence[Ended] = ()
    released: Sequence[Released] = ()
    expected: Sequence[Expected] = ()
    staged: Sequence[Staged] = ()


NOTHING = Step()


class Runtime(Protocol):
    """Plays a job model. One instance serves one conversation."""

    @property
    def rows(self) -> int:
        """Number of jobs that can share a node in time; policies get a machine with as many rows of nodes."""
        ...

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Receive the machine and the simulator's settings; raise RemoteProtocolError where a needed one is off."""
        ...

    def refuses(self, job: Job) -> str | None:
        """Return the reason why this runtime cannot play a job; ``None`` if it can.

        Raises
        ------
        RemoteProtocolError
            The job's description is malformed; the error names the field.
        """
        ...

    def stage(self, job: Job, allocation: Allocation, now_s: float) -> Step:
        """Fill the burst buffer that a waiting job was given (stage-in); the step with its end names the job."""
        ...

    def unstage(self, job: Job, now_s: float) -> Step:
        """Stop transfers to the burst buffer of a waiting job, which loses it."""
        ...

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Step:
        """Start a job on its allocation, on its burst buffer if that is staged."""
        ...

    def without_nodes(self, job: Job, now_s: float) -> Step:
        """End a job that requests no nodes, without anything to play."""
        ...

    def kill(self, job: Job, now_s: float) -> Step:
        """End a running job early; its end may come with a later event."""
        ...

    def move(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Give a running job another allocation; only where :attr:`rows` is more than 1.

        Raises
        ------
        DecisionRefused
            Jobs of this runtime cannot be moved.
        """
        ...

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Handle an event that concerns running jobs or sub-jobs; return ``None`` for any other."""
        ...

    def settle(self, now_s: float) -> Step:
        """Bring the simulator to the state that was decided; called at the end of each message."""
        ...

    def outage(self, closed: Set[int], now_s: float) -> Step:
        """Execute nothing on these hosts (Batsim's ids) from now on; called whenever they change."""
        ...

    def check(self) -> None:
        """Assert that the records of running jobs are consistent; for tests."""
        ...

    def give_up(self, job: Job, nodes: Set[int], now_s: float) -> Step | None:
        """Let a running job continue without these nodes; ``None`` where it cannot.

        It gives them back when the part that runs on them has ended.
        """
        ...


class Demand(Protocol):
    """The bandwidth that jobs need under a job model that moves their bytes: a constant rate per node, to be booked."""

    @property
    def from_storages(self) -> bool:
        """Whether the bytes leave from storage nodes.

        If so, only links that all traffic crosses are booked (:meth:`spillway.schedulers.model.machine.Machine.trunk`).
        """
        ...

    def __call__(self, job: Job, expected_s: float, most: float) -> int:
        """Bytes per second per node that a job needs; 0 for no bandwidth.

        Parameters
        ----------
        job
            As it was submitted.
        expected_s
            Its expected duration in seconds, infinity if unknown.
        most
            Bytes per second per node that the links carry for the job without contention; only known for bytes that
            leave from storage nodes, else infinity.

        Raises
        ------
        ValueError
            The rate cannot be derived (the message gives the reason): the job must be rejected.
        """
        ...
