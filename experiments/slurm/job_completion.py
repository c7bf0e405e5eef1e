"""What a recorded job did after its end: it gave back what is counted, and some ms later its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spillway.protocol.messages import JsonObject
from spillway.schedulers.jobmodels.base import Compute, GiveBack, Granted, JobModel, Program, Submitted
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.timeline import Resource

COMPLETING_FIELD = "completing_s"
"""Field of a job: how long after its end its nodes are back, s."""


@dataclass(frozen=True)
class Completing(JobModel):
    """A job runs as it was submitted; from its end on it has its nodes for ``completing_s`` seconds more, and nothing
    that is counted.

    Slurm's controller returns licenses, and what the job's account and QOS count, when it takes note of the job's end.
    Nodes are idle when all of them have answered that nothing of the job is left there.
    """

    source: ClassVar[str] = "Slurm 22.05 and 24.11, slurmctld (job state COMPLETING)"
    job_fields: ClassVar[tuple[str, ...]] = (COMPLETING_FIELD,)
    stages: ClassVar[tuple[str, ...]] = ("compute", "completing")

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Compute, give back what is counted, wait for the nodes."""
        completing_s = job.extras.get(COMPLETING_FIELD)
        if not isinstance(completing_s, float):
            yield Submitted()
            return
        yield Compute(job.profile)
        yield GiveBack(covering=Resource.POOLS)
        delay: JsonObject = {"type": "delay", "delay": completing_s}
        yield Compute(delay, stage="completing")
