"""Observers of a session: of its jobs, buffers and outages, as events occur."""

from __future__ import annotations

from spillway.core import AllocationTable
from spillway.protocol.messages import JobState
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.view import Holding, Running


class Observer:
    """Watches a session without changing it; every method may be overridden.

    Attributes
    ----------
    allocation_table
        Table of the core that gets a row of each start; it is read when the conversation begins.
    """

    allocation_table: AllocationTable | None = None

    def opened(self, machine: Machine) -> None:
        """The conversation has begun, on this machine."""

    def submitted(self, job: Job, now_s: float) -> None:
        """A job entered the queue."""

    def released(self, job: Job, now_s: float) -> None:
        """A job held by dependencies (:mod:`spillway.schedulers.model.dependencies`) may start from now on."""

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """A job was rejected."""

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """A job started."""

    def ended_apart(self, running: Running, now_s: float) -> None:
        """A job ended that did not hold all of its resources from its start to its end; :meth:`ended` follows.

        After the first eviction of a buffer it is called for all jobs.
        """

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """A job ended and gave everything back."""

    def resized(self, running: Running, now_s: float) -> None:
        """A running job was given nodes, or gave resources back: ``running.allocation`` is the present allocation."""

    def held(self, job: Job, holding: Holding, now_s: float) -> None:
        """A waiting job was given its burst buffer."""

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """A waiting job lost its burst buffer, held until now."""

    def created(self, buffer: PersistentBuffer, now_s: float) -> None:
        """A persistent buffer was created."""

    def destroyed(self, buffer: PersistentBuffer, job: Job, now_s: float) -> None:
        """A persistent buffer was destroyed, by this job."""

    def interrupted(self, job: Job, what: str, reason: str, now_s: float, lost_node_s: float = 0.0) -> None:
        """An outage had consequences for a running job: it was killed, requeued, or shrinks.

        ``lost_node_s``: wasted node-seconds: no next attempt can use their results.
        """

    def preempted(self, job: Job, by: str, what: str, told_s: float, now_s: float, lost_node_s: float) -> None:
        """A job was preempted by another one (``by``: its id): it was killed, requeued or suspended.

        ``told_s``: time of that decision; ``lost_node_s`` as in :meth:`interrupted`.
        """

    def drained(self, storage: str, drained_bytes: int, left_bytes: int, now_s: float) -> None:
        """``drained_bytes`` of a storage node are drained from now on; ``left_bytes``: free bytes, maybe negative."""

    def notes(self, now_s: float, notes: PassNotes) -> None:
        """A pass wrote these notes (only called when the session explains)."""
