"""Checkpoints that a killed attempt of a job leaves to the next one, unless their storage went out.

A checkpoint in a burst buffer is kept on its storage nodes until the next attempt starts, beside the bookings there; it
is lost when one of them goes out at any time from the start of the attempt that wrote it. A drained checkpoint is kept
on the file system. A drain that is under way while a storage node of the job goes out counts as lost.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from spillway.schedulers.jobmodels.base import JobModel
from spillway.schedulers.jobmodels.record import Checkpoints, JobRecord
from spillway.schedulers.model.machine import Machine


class Left(NamedTuple):
    """Checkpoints that an attempt left behind.

    Attributes
    ----------
    checkpoints
        Numbers of phases done in its last checkpoints.
    hosts
        Storage nodes with those in burst buffers (Batsim's ids).
    since_s
        Time of their first use (s): an outage from then on has lost their data.
    phase_s
        Duration of its last phase (s).
    """

    checkpoints: Checkpoints
    hosts: frozenset[int]
    since_s: float
    phase_s: float


class Restarts:
    """Times of the last outage of each host in one conversation."""

    def __init__(self) -> None:
        self._out_s: dict[int, float] = {}

    def went_out(self, hosts: Set[int], now_s: float) -> None:
        """Note that hosts have become unavailable."""
        self._out_s.update(dict.fromkeys(hosts, now_s))

    def resumed(self, left: Left | None) -> Checkpoints | None:
        """Checkpoints that an attempt resumes from; ``None``: it begins at the beginning."""
        if left is None:
            return None
        found = self._surviving(left.checkpoints, left.hosts, left.since_s)
        return found if found.last else None

    def left(self, model: JobModel, record: JobRecord, machine: Machine) -> tuple[Left, float]:
        """Return the checkpoints that a killed attempt leaves, and the computing time (s) that it saves the next one.

        The latter is below 0 if it lost more checkpoints than it wrote: work of earlier attempts is done again.
        """
        written = model.checkpoints(record)
        hosts = frozenset(machine.storages[index].resource_id for index in record.allocation.storages)
        earlier: Left | None = record.job.left
        before = record.resumed.last if record.resumed is not None else 0
        gained = self._surviving(written, hosts, record.start_s).last - before
        phase_s = record.computed_s[-1] if record.computed_s else earlier.phase_s if earlier is not None else 0.0
        kept_s = sum(record.computed_s[:gained]) if gained >= 0 else gained * phase_s
        return Left(written, hosts, record.start_s, phase_s), kept_s

    def _surviving(self, written: Checkpoints, hosts: Set[int], since_s: float) -> Checkpoints:
        lost = any(self._out_s.get(host, -1.0) >= since_s for host in hosts)
        return written._replace(buffered=0) if lost else written
