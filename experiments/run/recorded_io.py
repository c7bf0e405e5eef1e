"""Computing times for the model io from the recorded run times of a log, which contain the I/O of the jobs.

Each job is played on the empty machine: its transfers have all the bandwidth that they can use. Its time beyond
computing is subtracted from the recorded run time; the rest is computing, in the phases of the model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spillway.base.units import share
from spillway.experiments.run.uncontended_jobs import OneByOne, play_one_by_one
from spillway.platforms.model import Platform
from spillway.schedulers.assembly import Settings
from spillway.schedulers.jobmodels.io_aware import IoAware, phases_of
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.simulator.reading.workload import workload_from_object
from spillway.workloads.batsim.workload import Workload, WorkloadJob

_APART_S = 86_400.0
"""Seconds from the recorded end of a job to the next submission; a longer job only delays the next one."""


def without_io(workload: Workload, platform: Platform, model: IoAware, speed_flops: float) -> tuple[Workload, str]:
    """Shorten the computing of jobs with a burst buffer by their uncontended I/O; never below one flop.

    Parameters
    ----------
    workload
        Its profiles (``parallel_homogeneous``, one per job) compute for the whole recorded run time.
    platform
        The machine that the log was recorded on.
    model
        The bytes that jobs move.
    speed_flops
        Speed of a node.

    Returns
    -------
    Workload, str
        The workload, and a note on the change; "" if no job changed.
    """
    profiles = dict(workload.profiles)
    kept, clipped = [], 0
    for job, record in jobs_alone(workload, platform, model, speed_flops):
        run_s = profiles[job.profile]["cpu"] / speed_flops
        left_s = _left(record, model, run_s, speed_flops)
        clipped += left_s <= 0
        kept.append(max(left_s, 0.0) / run_s)
        profiles[job.profile] = profiles[job.profile] | {"cpu": max(1, round(max(left_s, 0.0) * speed_flops))}
    if not kept:
        return workload, ""
    part = share(float(np.mean(kept)))
    return replace(workload, profiles=profiles), (
        "recorded run times contain the I/O of the jobs: computing is the rest after its time at the machine's "
        f"uncontended bandwidth, {part} on average over {len(kept):,} jobs with a burst buffer; of "
        f"{clipped:,} nothing remains, because their I/O alone takes longer than they ran"
    )


def jobs_alone(
    workload: Workload, platform: Platform, model: IoAware, speed_flops: float
) -> list[tuple[WorkloadJob, JobRecord]]:
    """The jobs with a burst buffer that fit on the machine, with the uncontended record of each.

    They are submitted one after the other, each long after the one before has ended, and without walltimes.
    """
    submitted, submit_s = [], 0.0
    for job in workload.jobs:
        fields = {name: value for name, value in job.to_object().items() if name != "walltime"}
        submitted.append(fields | {"id": job.name, "subtime": submit_s})
        submit_s += 2 * workload.profiles[job.profile]["cpu"] / speed_flops + _APART_S
    alone = workload_from_object({"nb_res": workload.nb_res, "jobs": submitted, "profiles": dict(workload.profiles)})
    played = play_one_by_one(OneByOne({}), Settings(), model, platform, alone)
    found = {record.job.id: record for record in played if record.job.bb_bytes}
    return [(job, found[job_id]) for job in workload.jobs if (job_id := f"w0!{job.name}") in found]


def _left(record: JobRecord, model: IoAware, run_s: float, speed_flops: float) -> float:
    """Seconds left for computing, with as many phases as fit: fewer phases write fewer checkpoints."""
    phases = phases_of(run_s * speed_flops, model)
    other_s = record.end_s - record.start_s - record.seconds.get("compute", 0.0)
    checkpoint_s = record.seconds.get("checkpoint", 0.0) / max(phases - 1, 1)
    for fewer in range(phases):
        left_s = run_s - other_s + fewer * checkpoint_s
        if phases_of(left_s * speed_flops, model) >= phases - fewer:
            return left_s
    return run_s - other_s + (phases - 1) * checkpoint_s
