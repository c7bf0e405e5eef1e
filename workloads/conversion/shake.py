"""Input shaking: the same jobs with changes so small that no site could tell them from its own.

One log under one policy gives one number, and one job more or less in front of a wide job changes it. A difference must
exceed at least the variation of a figure under such irrelevant changes.

References
----------
Tsafrir, Ouaknine, Feitelson, *Reducing performance evaluation sensitivity and variability by input shaking*, MASCOTS
2007.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from spillway.workloads.batsim.workload import Profile, Workload, WorkloadJob
from spillway.workloads.draws import Draws, Floats

SUBMISSION_S = 30.0
"""Submissions move by at most this, either way: no more than the period of many schedulers' passes."""

RUN_TIME = 0.01
"""Run times change by at most this share, either way."""

_WORK = {"parallel_homogeneous": "cpu", "parallel_homogeneous_total": "cpu", "io_stream": "cpu", "delay": "delay"}
"""Field in proportion to the run time, by type of profile; other profiles are left as they are."""

_NAMES_OTHERS = ("composed", "recv")


def shaken(workload: Workload, number: int, seed: int, speed_flops: float) -> Workload:
    """The same jobs, submitted a little earlier or later, running a little shorter or longer.

    A job that ends within its walltime still does, and one that does not still does not. Jobs at the same place in two
    workloads are shaken alike, so that a workload and its variant stay pairs.

    Parameters
    ----------
    number
        Number of the shake, from 1 on.
    seed
        The same seed and number give the same jobs.
    speed_flops
        Speed of a node; decides whether a job ends within its walltime.
    """
    jobs = workload.jobs
    shifts = SUBMISSION_S * _both_ways(len(jobs), seed, f"shake {number}, submissions")
    factors = 1.0 + RUN_TIME * _both_ways(len(jobs), seed, f"shake {number}, run times")
    profiles = workload.profiles
    some_name_others = any(profile["type"] in _NAMES_OTHERS for profile in profiles.values())
    used: dict[str, Profile] = dict(profiles) if some_name_others else {}
    moved = []
    for job, shift, factor in zip(jobs, shifts.tolist(), factors.tolist(), strict=True):
        name = f"{job.profile}~{job.name}" if some_name_others or job.profile != job.name else job.name
        used[name] = _scaled(profiles[job.profile], factor, job, speed_flops)
        subtime = max(0.0, round(job.subtime + shift, 3))
        moved.append(msgspec.structs.replace(job, subtime=subtime, profile=name))
    return replace(workload, jobs=tuple(moved), profiles=used)


def _both_ways(count: int, seed: int, stream: str) -> Floats:
    """Numbers from -1 to 1."""
    return 2.0 * Draws(seed, stream).uniform(count) - 1.0


def _scaled(profile: Profile, factor: float, job: WorkloadJob, speed_flops: float) -> Profile:
    """A profile with another run time, unless the job's walltime lies between the two."""
    kind = profile["type"]
    field = _WORK.get(kind)
    if field is None:
        return profile
    nodes = max(job.res, 1) if kind == "parallel_homogeneous_total" else 1
    seconds = profile[field] / (1.0 if field == "delay" else speed_flops * nodes)
    if job.walltime is not None and (seconds < job.walltime) != (seconds * factor < job.walltime):
        return profile
    return profile | {field: round(profile[field] * factor) if field == "cpu" else profile[field] * factor}
