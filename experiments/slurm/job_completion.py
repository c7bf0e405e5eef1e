"""The end of a recorded job: it releases counted resources first, and its nodes some ms later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spillway.protocol.messages import JsonObject
from spillway.schedulers.jobmodels.base import Compute, GiveBack, Granted, JobModel, Program, Submitted
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.timeline import Resource

COMPLETING_FIELD = "completing_s"
"""Field of a job: time from its end to the release of its nodes, s."""


@dataclass(frozen=True)
class Completing(JobModel):
    """A job runs as submitted; after its end it holds only its nodes, for another ``completing_s`` seconds.

    Slurm's controller releases licenses, and the counts of the job's account and QOS, when it notes the job's end.
    Nodes are idle when all of them have answered that nothing of the job is left there.
    """

    source: ClassVar[str] = "Slurm 22.05 and 24.11, slurmctld (job state COMPLETING)"
    job_fields: ClassVar[tuple[str, ...]] = (COMPLETING_FIELD,)
    stages: ClassVar[tuple[str, ...]] = ("compute", "completing")

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Compute, give back counted resources, wait for the nodes."""
        completing_s = job.extras.get(COMPLETING_FIELD)
        if not isinstance(completing_s, float):
            yield Submitted()
            return
        yield Compute(job.profile)
        yield GiveBack(covering=Resource.POOLS)
        delay: JsonObject = {"type": "delay", "delay": completing_s}
        yield Compute(delay, stage="completing")
