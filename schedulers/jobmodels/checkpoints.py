"""Jobs that write checkpoints at intervals, each in a given time, and resume from the last one after a failure.

The model of the analysis of checkpoint intervals: no bytes move, so that nothing contends; with the setting
``restart=checkpoint`` the node-hours lost can be compared with a formula (``python -m tools.daly``).

References
----------
J. W. Young, *A first order approximation to the optimum checkpoint interval*, Communications of the ACM 17 (1974).
J. T. Daly, *A higher order estimate of the optimum checkpoint interval for restart dumps*, Future Generation Computer
Systems 22 (2006), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from spillway.base.errors import shown
from spillway.base.options import option
from spillway.schedulers.jobmodels.base import Checkpoints, Compute, Granted, JobModel, Program
from spillway.schedulers.jobmodels.compute import SPLITTABLE, split_profile
from spillway.schedulers.jobmodels.io_aware import flops_per_node
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine

MOST_PHASES = 1_000_000


@dataclass(frozen=True)
class CheckpointModel(JobModel):
    """A job computes in equal phases and writes a checkpoint after each but the last; it restarts from the last one.

    A job of 2500 s with ``interval=1000,checkpoint=60,restart=30`` computes three times 833.3 s and ends after
    2500 + 2 * 60 = 2620 s. Killed after 2000 s, it has two checkpoints (at 893.3 and 1786.7 s); its next attempt reads
    the second one for 30 s, computes 833.3 s, and 213.3 s of computing were lost.
    """

    source: ClassVar[str] = "Daly 2006, section 3"
    restarts: ClassVar[bool] = True
    stages: ClassVar[tuple[str, ...]] = ("compute", "checkpoint", "restart")
    columns: ClassVar[tuple[str, ...]] = ("phases",)

    interval: float = option(
        3600.0, unit="s", low=0.001, high=1e9, help="most computing between two checkpoints; phases are equal"
    )
    checkpoint: float = option(60.0, unit="s", low=0.001, high=1e9, help="time to write a checkpoint")
    restart: float = option(0.0, unit="s", low=0.0, high=1e9, help="time to read a checkpoint after a failure")
    node_speed: float = option(
        1e9, unit="flop/s", low=1.0, high=1e18, help="speed of a node, for jobs that state their work in flop"
    )

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Read the last checkpoint, compute, write the next one."""
        phases = self.phases(job)
        compute = split_profile(job.profile, phases)
        through = granted.resumed.last if granted.resumed is not None else 0
        if through and self.restart:
            yield Compute({"type": "delay", "delay": self.restart, "ret": 0}, stage="restart")
        yield Compute(compute)
        for _ in range(phases - through - 1):
            yield Compute({"type": "delay", "delay": self.checkpoint, "ret": 0}, stage="checkpoint")
            yield Compute(compute)

    def phases(self, job: Job) -> int:
        """Number of equal phases, no phase longer than the interval."""
        seconds = job.profile["delay"] if "delay" in job.profile else flops_per_node(job.profile) / self.node_speed
        return min(max(math.ceil(seconds / self.interval), 1), MOST_PHASES)

    def checkpoints(self, record: JobRecord) -> Checkpoints:
        """Checkpoints in the job's burst buffer, or on the file system if it has no buffer."""
        before = record.resumed.last if record.resumed is not None else 0
        last = before + record.through.get("checkpoint", 0)
        return Checkpoints(buffered=last) if record.job.bb_bytes else Checkpoints(drained=last)

    def refuses(self, job: Job) -> str | None:
        """Refuse profiles that cannot be divided into phases."""
        kind = job.profile.get("type")
        if kind in SPLITTABLE:
            return None
        return f"a profile of type {shown(kind)} cannot be run in phases; expected one of: {', '.join(SPLITTABLE)}"

    def cells(self, record: JobRecord) -> Mapping[str, str]:
        """Number of compute phases."""
        return {"phases": str(self.phases(record.job))}
