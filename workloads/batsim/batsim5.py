"""Translation of workloads to and from Batsim 5: names of profile types, and user fields in ``extra_data``.

Batsim 5 ends at profile types that it does not have, and silently drops further fields of jobs and profiles: only a
job's ``extra_data``, a text, reaches the scheduler. It holds the further fields of the job and of its profile (``bb``,
``user``, ``operations`` ...) as a JSON object; the service reads them as fields of both.

Profiles keep their meaning: Batsim 5 distributes the traffic of ``parallel_homogeneous_total`` by another rule, so it
becomes a ``ParallelTaskHomogeneousProfile`` with each node's share for the number of nodes of its job.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from spillway.protocol.batsim5.profiles import PROFILES
from spillway.workloads.batsim.workload import Profile, Workload, WorkloadJob
from spillway.workloads.errors import WorkloadError

_EXTRA_DATA = "extra_data"
"""The field of a job that Batsim 5 passes to the scheduler."""

_TRACES = {"smpi": "SMPI", "usage_trace": "FractionalComputation"}
_TOTAL = "parallel_homogeneous_total"


def to_batsim5(workload: Workload) -> Workload:
    """Translate a workload of Batsim 4.

    Raises
    ------
    WorkloadError
        A profile is of a type that Batsim 5 does not have.
    """
    profiles: dict[str, Profile] = {}
    jobs: list[WorkloadJob] = []
    for job in workload.jobs:
        given = workload.profiles[job.profile]
        name = f"{job.profile}-of-{job.res}" if _needs_size(given, workload.profiles) else job.profile
        _add(name, job.profile, job.res, workload.profiles, profiles)
        extras = _further_fields(given) | job.extras
        data = {_EXTRA_DATA: json.dumps(extras, allow_nan=False)} if extras else {}
        jobs.append(
            WorkloadJob(id=job.id, subtime=job.subtime, res=job.res, profile=name, walltime=job.walltime, extras=data)
        )
    return replace(workload, jobs=tuple(jobs), profiles=profiles)


READ_AS_4 = "written for Batsim 5: read in Batsim 4's words"
"""The note of a workload that :func:`from_batsim5` translated."""


def from_batsim5(jobs: Any, profiles: Any, where: str) -> bool:
    """Translate the jobs and profiles of a Batsim 5 file into those of Batsim 4, in place.

    Parameters
    ----------
    jobs, profiles
        As in the file; malformed parts stay as they are.
    where
        The file, for errors.

    Returns
    -------
    Whether the file was written for Batsim 5.

    Raises
    ------
    WorkloadError
        A profile is of a type that Batsim 4 does not have, or ``extra_data`` is no JSON object.
    """
    found = False
    for name, profile in profiles.items() if isinstance(profiles, dict) else ():
        kind = profile.get("type") if isinstance(profile, dict) else None
        if isinstance(kind, str) and kind.endswith("Profile"):
            found = True
            profiles[name] = _from_5(profile, f"{where}: $.profiles.{name}")
    for index, job in enumerate(jobs if found and isinstance(jobs, list) else ()):
        if isinstance(job, dict) and isinstance(job.get(_EXTRA_DATA), str):
            try:
                extras = json.loads(job[_EXTRA_DATA])
            except ValueError:
                extras = None
            if not isinstance(extras, dict):
                raise WorkloadError("must be the text of a JSON object", f"{where}: $.jobs[{index}].{_EXTRA_DATA}")
            del job[_EXTRA_DATA]
            jobs[index] = extras | job
    return found


def _from_5(profile: Profile, where: str) -> Profile:
    members = dict(profile)
    kind = members.pop("type")
    strategy = members.pop("generation_strategy", "")
    if kind == "TraceReplayProfile":
        traces = {theirs: ours for ours, theirs in _TRACES.items()}
        ours = traces.get(members.pop("trace_type", ""), "")
        members["trace"] = members.pop("filename", None)
    elif kind == "ParallelTaskHomogeneousProfile" and strategy == "DefinedAmountsSpreadUniformly":
        ours = _TOTAL
    else:
        ours = next(
            (name for name, kind_of_ours in PROFILES.items() if kind_of_ours.name == kind and name != _TOTAL), ""
        )
    if not ours:
        known = ", ".join(dict.fromkeys(profile.name for profile in PROFILES.values()))
        raise WorkloadError(
            f"{kind!r} is a profile of Batsim 5 that Batsim 4 does not have; of Batsim 5's these are read: {known}",
            f"{where}.type",
        )
    return {"type": ours} | members


def _needs_size(profile: Profile, profiles: dict[str, Profile]) -> bool:
    """Whether a profile, or one that it consists of, describes amounts of all nodes together."""
    pending = [profile]
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if one["type"] == _TOTAL:
            return True
        pending.extend(profiles[name] for name in one.get("seq", ()) if one["type"] == "composed")
    return False


def _add(name: str, old: str, nodes: int, given: dict[str, Profile], made: dict[str, Profile]) -> None:
    """Translate a profile and those that it consists of, each once."""
    pending = [(name, old)]
    while pending:
        name, old = pending.pop()
        if name in made:
            continue
        profile = given[old]
        made[name] = _translated(old, profile, nodes)
        if profile["type"] == "composed":
            parts = [
                (f"{part}-of-{nodes}" if _needs_size(given[part], given) else part, part) for part in profile["seq"]
            ]
            made[name]["seq"] = [part for part, _ in parts]
            pending.extend(parts)


def _translated(name: str, profile: Profile, nodes: int) -> Profile:
    kind = profile["type"]
    if kind not in PROFILES:
        known = ", ".join(PROFILES)
        raise WorkloadError(f"Batsim 5 has no type for the profile {name!r} of type {kind!r}; it has {known}")
    fields = _fields(kind)
    members: dict[str, Any] = {key: value for key, value in profile.items() if key in fields or key == "ret"}
    if kind == _TOTAL:
        members |= {key: profile[key] / max(nodes, 1) for key in ("cpu", "com")}
    if kind == "parallel_homogeneous_pfs":
        members["storage"] = profile.get("storage", profile.get("host", "pfs"))
    if kind in _TRACES:
        members |= {"filename": profile["trace"], "trace_type": _TRACES[kind]}
    return {"type": PROFILES[kind].name} | members


def _fields(kind: str) -> set[str]:
    """Members of a profile that Batsim 5's file has, too, under the same names."""
    known = PROFILES.get(kind)
    return ({"filename", "trace_type"} if kind in _TRACES else set(known.members)) if known is not None else set()


def _further_fields(profile: Profile) -> dict[str, Any]:
    own = _fields(profile["type"]) | {"type", "ret", "host", "trace"}
    return {key: value for key, value in profile.items() if key not in own}
