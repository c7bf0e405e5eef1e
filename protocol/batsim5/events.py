"""Batsim 5's events (simulator to scheduler) as neutral events: one table for reading and writing.

Members unknown here are ignored: Batsim 5 is a release candidate and still grows. Data that it does not send again (the
configuration, and the allocations of jobs that end) is left empty, and the codec fills it in.
"""

from __future__ import annotations

from typing import Any

import msgspec

from spillway.protocol.batsim5.profiles import to_batsim4, to_batsim5
from spillway.protocol.jsontext import quote, twelve_decimals, write_twelve_decimals
from spillway.protocol.messages import (
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    JsonObject,
    Notify,
    NotifyKind,
    RequestedCall,
    ResourceInfo,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
    TaskProgress,
)
from spillway.protocol.table import FLAG, IDS, JSON, TEXT, WHOLE, Field, Kind, LocatedError, Row, Table

_GENERIC = NotifyKind.GENERIC.value


class _Property(msgspec.Struct, gc=False):
    key: str
    value: str


class _Host(msgspec.Struct, gc=False):
    id: int
    name: str
    pstate: int = 0
    state: str = "IDLE"
    properties: list[_Property] | None = None
    zone_properties: list[_Property] | None = None
    core_count: int = 1
    computation_speed: tuple[float, ...] = ()


class _File(msgspec.Struct, gc=False):
    name: str
    filename: str = ""


class _Profile(msgspec.Struct, gc=False):
    id: str
    profile_type: str = ""
    profile: JsonObject = {}
    extra_data: str | None = None

    def members(self) -> JsonObject:
        return to_batsim4(self.profile_type, self.profile, self.id.rpartition("!")[0]) | _extras(self.extra_data)


class _Job(msgspec.Struct, gc=False):
    resource_request: int
    profile_id: str
    walltime: float | None = None
    extra_data: str | None = None


class _SubmissionData(msgspec.Struct, gc=False):
    job_id: str
    job: _Job
    submission_time: float | None = None
    profile: _Profile | None = None


class _CompletionData(msgspec.Struct, gc=False):
    job_id: str
    state: JobState
    return_code: int = 0


class _Progress(msgspec.Struct, gc=False):
    profile_id: str
    progress: float | None = None
    current_task_index: int | None = None
    current_task_progress: _ProgressWrapper | None = None


class _ProgressWrapper(msgspec.Struct, gc=False):
    kill_progress: _Progress


class _JobProgress(msgspec.Struct, gc=False):
    job_id: str
    wrapper: _ProgressWrapper | None = None


class _External(msgspec.Struct, gc=False):
    id: str = ""
    external_event: JsonObject = {}


def _read_hosts(hosts: list[_Host] | None, path: str) -> tuple[ResourceInfo, ...]:
    return tuple(
        ResourceInfo(
            host.id,
            host.name,
            host.state.lower(),
            {item.key: item.value for item in host.properties or ()},
            {item.key: item.value for item in host.zone_properties or ()},
            host.core_count,
            host.pstate,
            host.computation_speed,
        )
        for host in hosts or ()
    )


def _write_hosts(hosts: tuple[ResourceInfo, ...]) -> str:
    return write_twelve_decimals(
        [
            {
                "id": host.id,
                "name": host.name,
                "pstate": host.pstate,
                "pstate_count": max(len(host.speeds), 1),
                "state": host.state.upper(),
                "properties": _pairs(host.properties),
                "zone_properties": _pairs(host.zone_properties),
                "core_count": host.cores,
                "computation_speed": host.speeds,
            }
            for host in hosts
        ]
    )


def _pairs(properties: dict[str, str]) -> list[JsonObject]:
    return [{"key": key, "value": value} for key, value in properties.items()]


def _read_files(listed: list[_File] | None, path: str) -> dict[str, str]:
    return {item.name: item.filename for item in listed or ()}


def _write_files(files: dict[str, str]) -> str:
    return write_twelve_decimals([{"name": name, "filename": file} for name, file in files.items()])


def _read_profiles(listed: list[_Profile] | None, path: str) -> dict[str, dict[str, JsonObject]]:
    profiles: dict[str, dict[str, JsonObject]] = {}
    for profile in listed or ():
        workload, _, name = profile.id.rpartition("!")
        profiles.setdefault(workload, {})[name] = profile.members()
    return profiles


def _write_profiles(profiles: dict[str, dict[str, JsonObject]]) -> str:
    return write_twelve_decimals(
        [_profile(workload, name, profile) for workload, named in profiles.items() for name, profile in named.items()]
    )


def _profile(workload: str, name: str, profile: JsonObject) -> JsonObject:
    kind, members = to_batsim5(profile, workload, of_file=True)
    return {"id": f"{workload}!{name}", "profile_type": kind, "profile": members}


def _read_submitted(timestamp: float, body: _SubmissionData) -> JobSubmitted:
    """A submission in Batsim 4's form; user fields come from ``extra_data`` when it is a JSON object.

    So do those of the profile, which reach the scheduler with the job.
    """
    job = body.job
    extras = _extras(job.extra_data)
    members: JsonObject = {
        **extras,
        "id": body.job_id,
        "subtime": timestamp if body.submission_time is None else body.submission_time,
        "res": job.resource_request,
        "profile": job.profile_id.rpartition("!")[2],
    }
    if job.walltime is not None and job.walltime > 0:
        members["walltime"] = job.walltime
    profile = None if body.profile is None else body.profile.members()
    return JobSubmitted(timestamp, body.job_id, members, extras | (profile or {}) if extras else profile)


def _write_submitted(event: JobSubmitted) -> str:
    """Text of a submission; of the job's user fields it has only ``extra_data``: a text, or a value made one."""
    given, workload = event.job, event.job_id.partition("!")[0]
    extra = given.get("extra_data", "")
    walltime = given.get("walltime", -1)
    job: JsonObject = {
        "resource_request": given["res"],
        "walltime": float(walltime) if walltime > 0 else None,
        "extra_data": extra if isinstance(extra, str) else write_twelve_decimals(extra),
        "profile_id": _full_name(workload, given["profile"]),
    }
    members: JsonObject = {"job_id": event.job_id, "job": job, "submission_time": float(given["subtime"])}
    if event.profile is not None:
        owner, _, name = job["profile_id"].partition("!")
        members["profile"] = _profile(owner, name, event.profile)
    return write_twelve_decimals(members)


def _full_name(workload: str, profile: str) -> str:
    """Name of a job's profile with its workload, which is the job's own if the name has none."""
    return profile if "!" in profile else f"{workload}!{profile}"


def _read_completed(timestamp: float, body: _CompletionData) -> JobCompleted:
    """A completion; its return code is sent as an unsigned number."""
    code = body.return_code - (1 << 32) if body.return_code >= 1 << 31 else body.return_code
    return JobCompleted(timestamp, body.job_id, body.state, code, ())


def _write_completed(event: JobCompleted) -> str:
    members = {"job_id": event.job_id, "state": event.state.value, "return_code": event.return_code % (1 << 32)}
    return write_twelve_decimals(members)


def _read_progress(wrapper: _ProgressWrapper) -> TaskProgress:
    """Progress of a task; a sequence's index counts within its current repetition, unlike in Batsim 4."""
    task = wrapper.kill_progress
    below = task.current_task_progress
    return TaskProgress(
        task.profile_id, task.progress, task.current_task_index, None if below is None else _read_progress(below)
    )


def _read_progresses(listed: list[_JobProgress] | None, path: str) -> dict[str, TaskProgress]:
    return {item.job_id: _read_progress(item.wrapper) for item in listed or () if item.wrapper is not None}


def _write_progresses(progress: dict[str, TaskProgress]) -> str:
    return write_twelve_decimals(
        [{"job_id": job, "wrapper": _wrapper(task, job.partition("!")[0])} for job, task in progress.items()]
    )


def _wrapper(task: TaskProgress, workload: str) -> JsonObject:
    members: JsonObject = {"profile_id": f"{workload}!{task.profile_name}"}
    if task.current_task_index is None:
        kind = "KillProgressAtomicProfile"
        members["progress"] = task.progress
    else:
        kind = "KillProgressSequentialProfile"
        repetition, index = divmod(task.current_task_index, task.tasks) if task.tasks else (0, task.current_task_index)
        below = None if task.current_task is None else _wrapper(task.current_task, workload)
        members |= {"current_repetition": repetition, "current_task_index": index, "current_task_progress": below}
    return {"kill_progress_type": kind, "kill_progress": members}


def _read_external(timestamp: float, body: _External) -> Notify:
    """A forwarded user event of the kind ``generic``."""
    data: dict[str, Any] = {"type": _GENERIC, "timestamp": timestamp, "id": body.id, **body.external_event}
    return Notify(timestamp, _GENERIC, (), data)


def _write_external(event: Notify) -> str:
    members = {
        "id": event.data["id"],
        "external_event_type": "GenericExternalEvent",
        "external_event": {"data": event.data["data"]},
    }
    return write_twelve_decimals(members)


def _extras(text: str | None) -> JsonObject:
    """User fields: the members of ``extra_data`` when it is a JSON object, else the text itself."""
    if not text:
        return {}
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return {"extra_data": text}
    except RecursionError:
        raise LocatedError("the JSON text in extra_data is nested too deeply") from None
    return value if isinstance(value, dict) else {"extra_data": text}


def _notified(name: str, kind: NotifyKind) -> Row:
    return Row(Notify, name, fixed={"kind": kind.value})


def _count(*members: str) -> Any:
    return lambda event: sum(len(getattr(event, member)) for member in members)


_HOSTS = Kind(list[_Host], _read_hosts, _write_hosts)
_FILES = Kind(list[_File], _read_files, _write_files)
_ROWS = (
    Row(
        SimulationBegins,
        "SimulationBeginsEvent",
        (
            Field("host_number", WHOLE, derived=_count("compute_resources", "storage_resources")),
            Field("computation_host_number", WHOLE, derived=_count("compute_resources")),
            Field("compute_resources", _HOSTS, "computation_hosts"),
            Field("storage_host_number", WHOLE, derived=_count("storage_resources")),
            Field("storage_resources", _HOSTS, "storage_hosts", default=None),
            Field("batsim_arguments", JSON, derived=lambda event: list(event.arguments)),
            Field("batsim_execution_context_json", TEXT, derived=lambda event: write_twelve_decimals(event.context)),
            Field("workloads", _FILES, default=None),
            Field("event_lists", _FILES, "external_event_lists", default=None),
            Field("profiles", Kind(list[_Profile], _read_profiles, _write_profiles), default=None),
        ),
    ),
    Row(SimulationEnds, "SimulationEndsEvent"),
    _notified("AllStaticJobsHaveBeenSubmittedEvent", NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT),
    _notified("AllStaticExternalEventsHaveBeenInjectedEvent", NotifyKind.NO_MORE_EXTERNAL_EVENT_TO_OCCUR),
    Row(JobSubmitted, "JobSubmittedEvent", read=_read_submitted, write=_write_submitted, body=_SubmissionData),
    Row(JobCompleted, "JobCompletedEvent", read=_read_completed, write=_write_completed, body=_CompletionData),
    Row(
        JobKilled,
        "JobsKilledEvent",
        (
            Field("job_ids", Kind(tuple[str, ...])),
            Field(
                "progress", Kind(list[_JobProgress], _read_progresses, _write_progresses), "progresses", default=None
            ),
        ),
    ),
    Row(
        RequestedCall,
        "RequestedCallEvent",
        (
            Field("name", Kind(str, write=quote), "call_me_later_id", default=""),
            Field("last", FLAG, "last_periodic_call", default=True),
        ),
    ),
    Row(
        ResourceStateChanged,
        "HostsPStateChangedEvent",
        (Field("resources", IDS, "host_ids"), Field("state", WHOLE, "pstate")),
        fixed={"power": False},
    ),
    Row(
        ResourceStateChanged,
        "HostsTurnedOnOffEvent",
        (Field("resources", IDS, "host_ids"), Field("state", WHOLE)),
        fixed={"power": True},
    ),
    Row(
        Notify,
        "ExternalEventOccurredEvent",
        read=_read_external,
        write=_write_external,
        body=_External,
        fixed={"kind": _GENERIC},
    ),
)

EVENTS = Table(
    _ROWS,
    "{} is no event of Batsim 5",
    twelve_decimals,
    write_twelve_decimals,
    tag="event_type",
    body="event",
    needed=False,
    unknown="unexpected event type",
)
"""Events that Batsim 5 sends."""
