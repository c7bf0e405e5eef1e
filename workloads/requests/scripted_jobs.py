"""The jobs of a workload with the burst buffers and the staging that their scripts request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spillway.workloads.batsim.workload import Profile, Workload, WorkloadJob
from spillway.workloads.errors import WorkloadError
from spillway.workloads.requests.directives import Requests
from spillway.workloads.requests.fields import Site, fields_of

_REPLACED = (
    *("bb", "bb_total", "bb_stripes", "stage_in_bytes", "stage_out_bytes"),
    *("bb_kind", "bb_create", "bb_use", "bb_destroy"),
)
"""Fields that a script states or leaves out: the workload's values are dropped."""


def scripted(workload: Workload, scripts: Mapping[str, Requests], site: Site) -> Workload:
    """Give each job that has a script the fields of the script's requests; other jobs stay as they are.

    A job with a request that breaks one of the site's limits is left out, as the site would reject it; a note has the
    inequality. A profile that states a buffer is copied without it for a job that has a script.

    Raises
    ------
    WorkloadError
        No job has a script.
    """
    jobs: list[WorkloadJob] = []
    profiles: dict[str, Profile] = dict(workload.profiles)
    notes: list[str] = []
    found = 0
    for job in workload.jobs:
        requests = scripts.get(job.name)
        if requests is None:
            jobs.append(job)
            continue
        found += 1
        try:
            fields = fields_of(requests, max(job.res, 1), site)
        except WorkloadError as error:
            notes.append(f"job {job.name} is left out: {error}")
            continue
        extras = {key: value for key, value in job.extras.items() if key not in _REPLACED}
        profile = workload.profiles[job.profile]
        name = job.profile
        if any(key in profile for key in _REPLACED):
            name = _free(f"{job.profile}.{job.name}", profiles)
            profiles[name] = {key: value for key, value in profile.items() if key not in _REPLACED}
        jobs.append(WorkloadJob(job.id, job.subtime, job.res, name, job.walltime, extras | fields))
    if not found:
        raise WorkloadError(f"no job has a script ({len(workload.jobs)} jobs, {len(scripts)} scripts)")
    used = {job.profile for job in jobs}
    return replace(
        workload,
        jobs=tuple(jobs),
        profiles={name: profile for name, profile in profiles.items() if name in used},
        notes=(f"{found} of {len(workload.jobs)} jobs have a script", *notes),
    )


def _free(name: str, taken: Mapping[str, Profile]) -> str:
    while name in taken:
        name += "-"
    return name
