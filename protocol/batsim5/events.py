"""Batsim 5's events (simulator to scheduler) as neutral events: one table.

Members unknown here are ignored: Batsim 5 is a release candidate and still grows. What it does not send again is left
empty, and the codec fills it in: the configuration, and the allocations of jobs that end. The events of a conversation
without dynamic jobs were recorded from a pre-release; none was checked against rc2.
"""

from __future__ import annotations

from typing import Any

import msgspec

from spillway.protocol.batsim5.profiles import to_batsim4
from spillway.protocol.jsontext import exact, write_exact
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
from spillway.protocol.table import IDS, WHOLE, Field, Kind, Located, Row, Table


class _Property(msgspec.Struct, gc=False):
    key: str
    value: str


class _Host(msgspec.Struct, gc=False):
    id: int
    name: str
    state: str = "IDLE"
    properties: list[_Property] | None = None
    zone_properties: list[_Property] | None = None


class _Workload(msgspec.Struct, gc=False):
    name: str
    filename: str = ""


class _Profile(msgspec.Struct, gc=False):
    id: str
    profile_type: str = ""
    profile: JsonObject = {}
    extra_data: str | None = None

    def members(self) -> JsonObject:
        return to_batsim4(self.profile_type, self.profile) | _extras(self.extra_data)


class _Job(msgspec.Struct, gc=False):
    resource_request: int
    profile_id: str
    walltime: float | None = None
    extra_data: str | None = None


class _Submitted(msgspec.Struct, gc=False):
    job_id: str
    job: _Job
    submission_time: float | None = None
    profile: _Profile | None = None


class _Completed(msgspec.Struct, gc=False):
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
        )
        for host in hosts or ()
    )


def _read_workloads(workloads: list[_Workload] | None, path: str) -> dict[str, str]:
    return {workload.name: workload.filename for workload in workloads or ()}


def _read_profiles(listed: list[_Profile] | None, path: str) -> dict[str, dict[str, JsonObject]]:
    profiles: dict[str, dict[str, JsonObject]] = {}
    for profile in listed or ():
        workload, _, name = profile.id.rpartition("!")
        profiles.setdefault(workload, {})[name] = profile.members()
    return profiles


def _read_submitted(timestamp: float, body: _Submitted) -> JobSubmitted:
    """The job's object in Batsim 4's words; user fields come from ``extra_data`` when it is a JSON object.

    Those of the profile do too: what a profile says beside Batsim's own fields reaches the scheduler with its job.
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


def _read_completed(timestamp: float, body: _Completed) -> JobCompleted:
    """Its return code comes as an unsigned number."""
    code = body.return_code - (1 << 32) if body.return_code >= 1 << 31 else body.return_code
    return JobCompleted(timestamp, body.job_id, body.state, code, ())


def _read_progress(wrapper: _ProgressWrapper) -> TaskProgress:
    """A sequence's index counts within its current repetition, unlike in Batsim 4."""
    task = wrapper.kill_progress
    below = task.current_task_progress
    return TaskProgress(
        task.profile_id, task.progress, task.current_task_index, None if below is None else _read_progress(below)
    )


def _read_progresses(listed: list[_JobProgress] | None, path: str) -> dict[str, TaskProgress]:
    return {item.job_id: _read_progress(item.wrapper) for item in listed or () if item.wrapper is not None}


def _read_external(timestamp: float, body: _External) -> Notify:
    """A forwarded user event of the kind ``generic``."""
    data: dict[str, Any] = {"type": "generic", "timestamp": timestamp, "id": body.id, **body.external_event}
    return Notify(timestamp, "generic", (), data)


def _extras(text: str | None) -> JsonObject:
    """User fields: the members of ``extra_data`` when it is a JSON object, else the text itself."""
    if not text:
        return {}
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return {"extra_data": text}
    except RecursionError:
        raise Located("the JSON text in extra_data is nested too deeply") from None
    return value if isinstance(value, dict) else {"extra_data": text}


def _notified(name: str, kind: NotifyKind) -> Row:
    return Row(Notify, name, read=lambda timestamp, _: Notify(timestamp, kind.value))


_HOSTS = Kind(list[_Host], _read_hosts)
_ROWS = (
    Row(
        SimulationBegins,
        "SimulationBeginsEvent",
        (
            Field("compute_resources", _HOSTS, "computation_hosts"),
            Field("storage_resources", _HOSTS, "storage_hosts", default=None),
            Field("workloads", Kind(list[_Workload], _read_workloads), default=None),
            Field("profiles", Kind(list[_Profile], _read_profiles), default=None),
        ),
    ),
    Row(SimulationEnds, "SimulationEndsEvent"),
    _notified("AllStaticJobsHaveBeenSubmittedEvent", NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT),
    _notified("AllStaticExternalEventsHaveBeenInjectedEvent", NotifyKind.NO_MORE_EXTERNAL_EVENT_TO_OCCUR),
    Row(JobSubmitted, "JobSubmittedEvent", read=_read_submitted, body=_Submitted),
    Row(JobCompleted, "JobCompletedEvent", read=_read_completed, body=_Completed),
    Row(
        JobKilled,
        "JobsKilledEvent",
        (
            Field("job_ids", Kind(tuple[str, ...])),
            Field("progress", Kind(list[_JobProgress], _read_progresses), "progresses", default=None),
        ),
    ),
    Row(RequestedCall, "RequestedCallEvent"),
    Row(
        ResourceStateChanged,
        "HostsPStateChangedEvent",
        (Field("resources", IDS, "host_ids"), Field("state", WHOLE, "pstate")),
    ),
    Row(ResourceStateChanged, "HostsTurnedOnOffEvent", (Field("resources", IDS, "host_ids"), Field("state", WHOLE))),
    Row(Notify, "ExternalEventOccurredEvent", read=_read_external, body=_External),
)

EVENTS = Table(
    _ROWS,
    "{} is no event of Batsim 5",
    exact,
    write_exact,
    tag="event_type",
    body="event",
    needed=False,
    unknown="unexpected event type",
)
"""What Batsim 5 sends."""
