"""The IO-Aware model of the thesis: stage-in, compute phases with checkpoints, drains beside them, stage-out.

References
----------
Kopanski, master's thesis 2020, section 2.4.2 (IO-Aware job model).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from schedulers.core.job import Job
from schedulers.core.machine import Machine
from schedulers.jobmodels.base import Compute, FileSystem, Granted, JobModel, Needs, Place, Program, Transfer
from schedulers.jobmodels.compute import SPLITTABLE, split_profile
from schedulers.jobmodels.record import JobRecord
from schedulers.options import option
from schedulers.wire.messages import JsonObject


@dataclass(frozen=True)
class IoAware(JobModel):
    """A job stages its data in, computes in phases, writes checkpoints and drains them, and stages its data out."""

    source: ClassVar[str] = "Kopanski 2020, section 2.4.2 (IO-Aware)"
    needs: ClassVar[Needs] = Needs(file_system=FileSystem.WITH_BURST_BUFFERS, gate=True)
    stages: ClassVar[tuple[str, ...]] = ("stage_in", "compute", "checkpoint", "drain", "stage_out")
    moved: ClassVar[tuple[str, ...]] = ("stage_in", "checkpoint", "drain", "stage_out")
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

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Section 2.4.2; a job without a burst buffer computes in one phase."""
        size = job.bb_bytes
        phases = self.phases(job)
        compute = split_profile(job.profile, phases)
        if not size:
            yield Compute(compute)
            return
        part = int(self.checkpoint_fraction * size)
        checkpoint = Transfer(Place.NODES, Place.BURST_BUFFER, part, "checkpoint")
        drain = Transfer(Place.BURST_BUFFER, Place.PFS, part, "drain", abandoned=self.early_release)
        yield Transfer(Place.PFS, Place.BURST_BUFFER, size, "stage_in")
        yield Compute(compute)
        for _ in range(phases - 1):
            yield checkpoint
            yield Compute(compute, beside=drain)
        yield Transfer(Place.BURST_BUFFER, Place.PFS, size, "stage_out")

    def phases(self, job: Job) -> int:
        """Number of compute phases: work over target, rounded half to even, between 1 and the maximum."""
        if not job.bb_bytes:
            return 1
        return min(max(round(flops_per_node(job.profile) / self.phase_target), 1), self.max_phases)

    def refuses(self, job: Job) -> str | None:
        """Refuse profiles that cannot be divided into phases."""
        kind = job.profile.get("type")
        if kind in SPLITTABLE:
            return None
        return f"a profile of type {kind!r} cannot be run in phases; expected one of: {', '.join(SPLITTABLE)}"

    def cells(self, record: JobRecord) -> Mapping[str, str]:
        """Compute phases."""
        return {"phases": str(self.phases(record.job))}


def flops_per_node(profile: JsonObject) -> float:
    """Work per node of a profile: what the number of compute phases follows from; 0 where it states none."""
    cpu = profile.get("cpu", 0)
    return float(max(cpu, default=0) if isinstance(cpu, list) else cpu)
