"""The end of a recorded job: it releases the counts of its groups first, its nodes and licenses some ms later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spillway.protocol.messages import JsonObject
from spillway.schedulers.jobmodels.base import Compute, GiveBack, Granted, JobModel, Program, Submitted
from spillway.schedulers.model.job import LICENSES_FIELD, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.timeline import Resource

COMPLETING_FIELD = "completing_s"
"""Field of a job: time from its end to the release of its nodes, s."""


@dataclass(frozen=True)
class Completing(JobModel):
    """A job runs as submitted; after its end it holds its nodes and licenses for another ``completing_s`` seconds.

    Slurm's controller releases the counts of the job's account and QOS when it notes the job's end; of a job with
    licenses they are released with these here. Nodes are idle, and licenses are free, when all nodes have answered that
    nothing of the job is left there.
    """

    source: ClassVar[str] = "Slurm 22.05 and 24.11, slurmctld (job state COMPLETING)"
    job_fields: ClassVar[tuple[str, ...]] = (COMPLETING_FIELD,)
    stages: ClassVar[tuple[str, ...]] = ("compute", "completing")

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Compute, give back the counts of groups, wait for the nodes."""
        completing_s = job.extras.get(COMPLETING_FIELD)
        if not isinstance(completing_s, float):
            yield Submitted()
            return
        yield Compute(job.profile)
        if not job.extras.get(LICENSES_FIELD):
            yield GiveBack(covering=Resource.POOLS)
        delay: JsonObject = {"type": "delay", "delay": completing_s}
        yield Compute(delay, stage="completing")
