"""The IO-Aware model of the thesis: stage-in, compute phases with checkpoints, drains beside them, stage-out.

References
----------
Kopanski, master's thesis 2020, section 2.4.2 (IO-Aware job model).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from spillway.base.errors import OptionError, shown
from spillway.base.options import option
from spillway.protocol.messages import JsonObject
from spillway.schedulers.core.demand import Demand, stream_rate
from spillway.schedulers.jobmodels.base import (
    Checkpoints,
    Compute,
    FileSystem,
    Granted,
    JobModel,
    Needs,
    Place,
    Program,
    Transfer,
    waited,
)
from spillway.schedulers.jobmodels.compute import SPLITTABLE, split_profile
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import IO_RATE_FIELD, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.rules import Rules, Trait
from spillway.schedulers.model.staging import STAGING_BYTES, staging_of


@dataclass(frozen=True)
class IoAware(JobModel):
    """A job stages its data in, computes in phases, writes checkpoints and drains them, and stages its data out."""

    source: ClassVar[str] = "Kopanski 2020, section 2.4.2 (IO-Aware)"
    restarts: ClassVar[bool] = True
    needs: ClassVar[Needs] = Needs(file_system=FileSystem.WITH_BURST_BUFFERS, gate=True)
    stages: ClassVar[tuple[str, ...]] = ("stage_in", "compute", "checkpoint", "drain", "stage_out")
    moved: ClassVar[tuple[str, ...]] = ("stage_in", "checkpoint", "drain", "stage_out")
    fields: ClassVar[tuple[str, ...]] = tuple(field.name for field in STAGING_BYTES)
    columns: ClassVar[tuple[str, ...]] = ("phases",)
    literal: ClassVar[Mapping[str, Any]] = {"early_release": True}

    phase_target: float = option(
        3.6e12, unit="flop per node", low=1.0, high=1e24, help="work that a compute phase aims at"
    )
    max_phases: int = option(10, low=1, high=1_000_000, help="most compute phases of a job")
    checkpoint_fraction: float = option(
        0.5, low=0.0, high=1.0, help="share of the burst buffer that a checkpoint writes"
    )
    early_release: bool = option(
        False, help="a killed job gives its resources back while its drains still run, as in the published code"
    )

    book_stages: float = option(
        0.0,
        low=0.0,
        high=1e6,
        help="book a job's stage-in, drains and stage-out as a constant stream: 1 for the average over its expected "
        "duration, more for a multiple of it (up to the links' bandwidth), 0 for nothing",
    )

    def __post_init__(self) -> None:
        """Refuse to book less than the average."""
        if 0 < self.book_stages < 1:
            raise OptionError(f"option 'book_stages' must be 0 or at least 1, got {self.book_stages:g}")

    def rules(self) -> Rules:
        """Booked stages need booked bandwidth, and last as long as nodes."""
        if not self.book_stages:
            return Rules()
        return Rules(
            {Trait.BANDWIDTH: (":book_stages=...", "nothing would be booked")},
            {Trait.APART: (":book_stages", "streams of stages are booked as long as nodes")},
        )

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Run section 2.4.2 of the thesis; a job without a burst buffer computes in one phase."""
        phases = self.phases(job)
        compute = split_profile(job.profile, phases)
        if not job.bb_bytes:
            yield Compute(compute)
            return
        part = int(self.checkpoint_fraction * job.bb_bytes)
        resumed = granted.resumed
        through = resumed.last if resumed is not None else 0
        checkpoint = Transfer(Place.NODES, Place.BURST_BUFFER, part, "checkpoint")
        drain = Transfer(Place.BURST_BUFFER, Place.PFS, part, "drain", abandoned=self.early_release)
        yield from self._read_back(resumed, part)
        undrained = resumed is not None and resumed.buffered > resumed.drained
        yield Compute(compute, beside=drain if undrained else None)
        for _ in range(phases - through - 1):
            yield checkpoint
            yield Compute(compute, beside=drain)

    def stage_in(self, job: Job) -> Program:
        """Stage in the whole burst buffer, or the bytes that the job states."""
        if job.bb_bytes:
            stated = staging_of(job)
            size = job.bb_bytes if stated.in_bytes is None else stated.in_bytes
            yield from waited(stated.in_s, "stage_in", Transfer(Place.PFS, Place.BURST_BUFFER, size, "stage_in"))

    def stage_out(self, job: Job) -> Program:
        """Stage out the whole burst buffer, or the bytes that the job states."""
        if job.bb_bytes:
            stated = staging_of(job)
            size = job.bb_bytes if stated.out_bytes is None else stated.out_bytes
            yield from waited(stated.out_s, "stage_out", Transfer(Place.BURST_BUFFER, Place.PFS, size, "stage_out"))

    def _read_back(self, resumed: Checkpoints | None, size: int) -> Program:
        """Read the last checkpoint: from the burst buffers, or from the file system by way of them."""
        if resumed is None:
            return
        if not resumed.buffered:
            yield Transfer(Place.PFS, Place.BURST_BUFFER, size, "stage_in")
        yield Transfer(Place.BURST_BUFFER, Place.NODES, size, "stage_in")

    def checkpoints(self, record: JobRecord) -> Checkpoints:
        """Checkpoints of an attempt.

        Each checkpoint that is written adds a phase to the one that the attempt resumed from. Drains end in the order
        in which they began; the first one is that of the checkpoint that was read, if it had not been drained.

        An attempt that has staged in, computed, written, computed, and written has two checkpoints; after one drain,
        the first one is on the file system. If a node fails, the next attempt reads phase 2 from the burst buffers; if
        a storage node fails, phase 1 from the file system. If a node failure kills that next attempt before its own
        first checkpoint, it still has the one that it resumed from.
        """
        if not record.job.bb_bytes:
            return Checkpoints()
        before = record.resumed if record.resumed is not None else Checkpoints()
        written = before.last + record.through.get("checkpoint", 0)
        drained = before.drained
        if record.drained:
            drained = max(drained, before.last + record.drained - int(before.buffered > before.drained))
        in_buffers = before.buffered or record.computed_s  # otherwise nothing was read back into them
        return Checkpoints(written if in_buffers else 0, drained)

    def phases(self, job: Job) -> int:
        """Number of compute phases: work over target, rounded half to even, between 1 and the maximum."""
        if not job.bb_bytes:
            return 1
        return phases_of(flops_per_node(job.profile), self)

    def alone(self) -> IoAware:
        """Return the model with drains in a job's time, even if its nodes would be given back before their end."""
        return replace(self, early_release=False)

    def refuses(self, job: Job) -> str | None:
        """Refuse profiles that cannot be divided into phases."""
        kind = job.profile.get("type")
        if kind in SPLITTABLE:
            return None
        return f"a profile of type {shown(kind)} cannot be run in phases; expected one of: {', '.join(SPLITTABLE)}"

    def demand(self) -> Demand | None:
        """Bandwidth of staging and drains, if it is booked."""
        return StageStream(self, self.book_stages) if self.book_stages else None

    def cells(self, record: JobRecord) -> Mapping[str, str]:
        """Number of compute phases."""
        return {"phases": str(self.phases(record.job))}


def phases_of(flops: float, model: IoAware) -> int:
    """Number of compute phases of a job with a burst buffer and ``flops`` of work per node."""
    return min(max(round(flops / model.phase_target), 1), model.max_phases)


@dataclass(frozen=True, slots=True)
class StageStream:
    """Bandwidth of the stage-ins, drains and stage-outs of jobs.

    Attributes
    ----------
    model
        The model with its options.
    factor
        Booked multiple of the average rate, at least 1, up to the links' bandwidth for the job. Transfers are bursts,
        faster than their average: the more is booked, the less they contend, and the longer jobs wait.
    """

    from_storages: ClassVar[bool] = True

    model: IoAware
    factor: float = 1.0

    def __call__(self, job: Job, expected_s: float, most: float) -> int:
        """See :class:`spillway.schedulers.core.demand.Demand`; a job must not also state a rate of its own."""
        if job.io_rate:
            raise ValueError(
                f"it states {IO_RATE_FIELD!r}, while its stages are booked as its stream: leave out one of the two"
            )
        size = -(-staged_bytes(job, self.model) * job.requests // job.nodes)  # of each node
        average = stream_rate(size, expected_s) if size else 0
        return max(average, int(min(self.factor * average, most)))


def staged_bytes(job: Job, model: IoAware) -> int:
    """Bytes per request that a job moves from and to the file system.

    The burst buffer once in and once out, and the drain of a checkpoint after every compute phase but the last.
    Checkpoints themselves go to storage nodes only.
    """
    drains, stated = model.phases(job) - 1, staging_of(job)
    ends = [job.bb_bytes if size is None else math.ceil(size) for size in (stated.in_bytes, stated.out_bytes)]
    return sum(ends) + drains * int(model.checkpoint_fraction * job.bb_bytes)


def flops_per_node(profile: JsonObject) -> float:
    """Work per node of a profile, from which the number of compute phases follows; 0 if it states no work."""
    cpu = profile.get("cpu", 0)
    return float(max(cpu, default=0) if isinstance(cpu, list) else cpu)
