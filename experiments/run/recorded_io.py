"""The run times that a log records contain the I/O of its jobs: what is left of them for computing under the model io.

Each job is played by itself on the empty machine, so that its transfers have all bandwidth that they can use. What it
takes beyond computing is taken off the recorded run time; the rest is computed, in phases as the model makes them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import numpy as np

from spillway.base.units import share
from spillway.experiments.run.uncontended import OneByOne, play_one_by_one
from spillway.platforms.model import Platform
from spillway.schedulers.assembly import Settings
from spillway.schedulers.jobmodels.io_aware import IoAware, phases_of
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.simulator.reading.workload import workload_from_object
from spillway.workloads.workload import Workload, WorkloadJob

_APART_S = 86_400.0
"""Time from the recorded end of a job to the next submission; one that takes longer only makes the next one wait."""


def without_io(workload: Workload, platform: Platform, model: IoAware, speed_flops: float) -> tuple[Workload, str]:
    """Shorten the computing of jobs with a burst buffer by their uncontended I/O; never below one flop.

    Parameters
    ----------
    workload
        Its profiles (``parallel_homogeneous``, one per job) compute for the whole recorded run time.
    platform
        The machine that the log was recorded on.
    model
        What jobs move.
    speed_flops
        Of a node.

    Returns
    -------
    Workload, str
        The workload, and a note that says what was done.
    """
    names = {f"w0!{job.name}": job for job in workload.jobs}
    ended = play_one_by_one(
        OneByOne({}), Settings(), model, platform, workload_from_object(_apart(workload, speed_flops))
    )
    profiles = dict(workload.profiles)
    kept, clipped = [], 0
    for record in ended:
        job = names[record.job.id]
        if not record.job.bb_bytes:
            continue
        run_s = profiles[job.profile]["cpu"] / speed_flops
        left_s = _left(record, model, run_s, speed_flops)
        clipped += left_s <= 0
        kept.append(max(left_s, 0.0) / run_s)
        profiles[job.profile] = profiles[job.profile] | {"cpu": max(1, round(max(left_s, 0.0) * speed_flops))}
    if not kept:
        return workload, ""
    part = share(float(np.mean(kept)))
    return replace(workload, profiles=profiles), (
        "recorded run times contain the I/O of the jobs: computing is what remains of them after its time at the "
        f"machine's uncontended bandwidth, {part} on average over {len(kept):,} jobs with a burst buffer; of "
        f"{clipped:,} nothing remains, because their I/O alone takes longer than they ran"
    )


def _apart(workload: Workload, speed_flops: float) -> dict[str, object]:
    """The object of a workload file in which each job is submitted long after the one before has ended."""

    def job_alone(job: WorkloadJob, submit_s: float) -> dict[str, object]:
        fields = {name: value for name, value in job.to_object().items() if name != "walltime"}
        return fields | {"id": job.name, "subtime": submit_s}

    runs_s = [workload.profiles[job.profile]["cpu"] / speed_flops for job in workload.jobs]
    submits_s = accumulate((2 * run_s + _APART_S for run_s in runs_s), initial=0.0)
    jobs = [job_alone(job, submit_s) for job, submit_s in zip(workload.jobs, submits_s, strict=False)]
    return {"nb_res": workload.nb_res, "jobs": jobs, "profiles": dict(workload.profiles)}


def _left(record: JobRecord, model: IoAware, run_s: float, speed_flops: float) -> float:
    """Seconds for computing: fewer phases write fewer checkpoints, so the most phases that fit are looked for."""
    phases = phases_of(run_s * speed_flops, model)
    other_s = record.end_s - record.start_s - record.seconds.get("compute", 0.0)
    checkpoint_s = record.seconds.get("checkpoint", 0.0) / max(phases - 1, 1)
    for fewer in range(phases):
        left_s = run_s - other_s + fewer * checkpoint_s
        if phases_of(left_s * speed_flops, model) >= phases - fewer:
            return left_s
    return run_s - other_s + (phases - 1) * checkpoint_s
