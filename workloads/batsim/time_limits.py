"""Workloads of a site that kills jobs after their limits: schedulers plan with the limits, the simulator kills later.

References
----------
SchedMD, *slurm.conf*: ``OverTimeLimit``, ``KillWait``.
"""

from __future__ import annotations

import dataclasses
import math

import msgspec

from spillway.protocol.limits import TIME_LIMIT_FIELD
from spillway.workloads.batsim.workload import Workload, WorkloadJob


def with_grace(workload: Workload, grace_s: float) -> Workload:
    """The workload with each job's walltime as its limit, and its kill ``grace_s`` later.

    Jobs without a walltime, and those that state a limit already, stay.

    Parameters
    ----------
    grace_s
        Time from the limit to the kill (s); infinite: no kill.
    """
    return dataclasses.replace(workload, jobs=tuple(_with_grace(job, grace_s) for job in workload.jobs))


def _with_grace(job: WorkloadJob, grace_s: float) -> WorkloadJob:
    if job.walltime is None or TIME_LIMIT_FIELD in job.extras:
        return job
    killed_s = job.walltime + grace_s if grace_s < math.inf else None
    return msgspec.structs.replace(job, walltime=killed_s, extras={**job.extras, TIME_LIMIT_FIELD: job.walltime})


def limits_of(workload: Workload) -> dict[str, tuple[float, float]]:
    """Limit of each job that states one, and the time from there to its kill (s), by its name."""
    return {
        job.name: (limit_s, (math.inf if job.walltime is None else job.walltime) - limit_s)
        for job in workload.jobs
        if (limit_s := job.extras.get(TIME_LIMIT_FIELD)) is not None
    }
