"""Batsim 4's events (simulator to scheduler) as JSON and back.

One struct per event type describes its ``data`` to msgspec, which checks types and finds places; :meth:`neutral`
makes the neutral event of it. One function per event writes it, members in Batsim's own order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from spillway.base.errors import LocalProtocolError, RemoteProtocolError, shown
from spillway.protocol.batsim4.fields import Located, resources, whole_number
from spillway.protocol.intervals import format_intervals
from spillway.protocol.jsontext import located, quote, six_decimals, write_six_decimals
from spillway.protocol.messages import (
    BatsimConfig,
    EnergyAnswer,
    EstimateQuery,
    Event,
    FromJobMsg,
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

FINAL_STATES = frozenset(
    {
        JobState.COMPLETED_SUCCESSFULLY,
        JobState.COMPLETED_FAILED,
        JobState.COMPLETED_WALLTIME_REACHED,
        JobState.COMPLETED_KILLED,
    }
)
"""States that JOB_COMPLETED may carry."""

_MACHINE_KINDS = frozenset({NotifyKind.MACHINE_AVAILABLE.value, NotifyKind.MACHINE_UNAVAILABLE.value})
_PLAIN_KINDS = frozenset(
    {NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value, NotifyKind.NO_MORE_EXTERNAL_EVENT_TO_OCCUR.value}
)

# --------------------------------------------------------------------------- reading


class _Config(msgspec.Struct, rename="kebab"):
    redis_enabled: bool = False
    redis_hostname: str = "127.0.0.1"
    redis_port: int = 6379
    redis_prefix: str = "default"
    profiles_forwarded_on_submission: bool = False
    dynamic_jobs_enabled: bool = False
    dynamic_jobs_acknowledged: bool = False
    profile_reuse_enabled: bool = False
    sched_config: str = ""
    forward_unknown_events: bool = False


_CONFIG_KEYS = {name.replace("_", "-"): name for name in _Config.__struct_fields__}


class _Wire(msgspec.Struct, tag_field="type", gc=False):
    timestamp: float


class _BeginsData(msgspec.Struct, gc=False):
    compute_resources: tuple[ResourceInfo, ...]
    storage_resources: tuple[ResourceInfo, ...] = ()
    config: JsonObject = {}
    allow_compute_sharing: bool = False
    allow_storage_sharing: bool = True
    workloads: dict[str, str] = {}
    profiles: dict[str, dict[str, JsonObject]] = {}


class _Begins(_Wire, tag="SIMULATION_BEGINS"):
    data: _BeginsData

    def neutral(self) -> Event:
        data = self.data
        return SimulationBegins(
            timestamp=self.timestamp,
            compute_resources=data.compute_resources,
            storage_resources=data.storage_resources,
            config=_config(data.config),
            allow_compute_sharing=data.allow_compute_sharing,
            allow_storage_sharing=data.allow_storage_sharing,
            workloads=data.workloads,
            profiles=data.profiles,
        )


class _Ends(_Wire, tag="SIMULATION_ENDS"):
    data: JsonObject

    def neutral(self) -> Event:
        return SimulationEnds(self.timestamp)


class _SubmittedData(msgspec.Struct, gc=False):
    job_id: str
    job: JsonObject | None = None
    profile: JsonObject | None = None


class _Submitted(_Wire, tag="JOB_SUBMITTED"):
    data: _SubmittedData

    def neutral(self) -> Event:
        data = self.data
        if data.job is None:
            raise Located("expected the member 'job' (job data through Redis is not supported: run Batsim without it)")
        return JobSubmitted(self.timestamp, data.job_id, data.job, data.profile)


class _CompletedData(msgspec.Struct, gc=False):
    job_id: str
    job_state: JobState
    return_code: int
    alloc: str | None = None
    job_alloc: str | None = None


class _Completed(_Wire, tag="JOB_COMPLETED"):
    data: _CompletedData

    def neutral(self) -> Event:
        data = self.data
        if data.job_state not in FINAL_STATES:
            raise Located(f"expected a final job state, got {shown(data.job_state.value)}", ".job_state")
        alloc = data.alloc if data.alloc is not None else data.job_alloc
        if alloc is None:
            raise Located("expected the member 'alloc' (or 'job_alloc', its old name)")
        return JobCompleted(self.timestamp, data.job_id, data.job_state, data.return_code, resources(alloc, ".alloc"))


class _Progress(msgspec.Struct, gc=False):
    profile_name: str | None = None
    profile: str | None = None
    progress: float | None = None
    current_task_index: int | None = None
    current_task: _Progress | None = None


class _KilledData(msgspec.Struct, gc=False):
    job_ids: tuple[str, ...]
    job_progress: dict[str, _Progress] = {}


class _Killed(_Wire, tag="JOB_KILLED"):
    data: _KilledData

    def neutral(self) -> Event:
        progress = {job_id: _progress(item, ".job_progress[...]") for job_id, item in self.data.job_progress.items()}
        return JobKilled(self.timestamp, self.data.job_ids, progress)


class _StateChangedData(msgspec.Struct, gc=False):
    resources: str
    state: str


class _StateChanged(_Wire, tag="RESOURCE_STATE_CHANGED"):
    data: _StateChangedData

    def neutral(self) -> Event:
        state = whole_number(self.data.state, ".state")
        return ResourceStateChanged(self.timestamp, resources(self.data.resources, ".resources"), state)


class _Called(_Wire, tag="REQUESTED_CALL"):
    data: JsonObject

    def neutral(self) -> Event:
        return RequestedCall(self.timestamp)


class _AnswerData(msgspec.Struct, gc=False):
    consumed_energy: float


class _Answer(_Wire, tag="ANSWER"):
    data: _AnswerData

    def neutral(self) -> Event:
        return EnergyAnswer(self.timestamp, self.data.consumed_energy)


class _Estimate(msgspec.Struct, gc=False):
    job_id: str
    job: JsonObject


class _QueryRequests(msgspec.Struct, gc=False):
    estimate_waiting_time: _Estimate


class _QueryData(msgspec.Struct, gc=False):
    requests: _QueryRequests


class _Query(_Wire, tag="QUERY"):
    data: _QueryData

    def neutral(self) -> Event:
        requested = self.data.requests.estimate_waiting_time
        return EstimateQuery(self.timestamp, requested.job_id, requested.job)


class _Notify(_Wire, tag="NOTIFY"):
    data: JsonObject

    def neutral(self) -> Event:
        kind = self.data.get("type")
        if not isinstance(kind, str):
            raise Located(f"expected the kind of notification as a string, got {shown(kind)}", ".type")
        if kind in _MACHINE_KINDS:
            text = self.data.get("resources")
            if not isinstance(text, str):
                raise Located(f"expected resource ids such as '0-3 5', got {shown(text)}", ".resources")
            return Notify(self.timestamp, kind, resources(text, ".resources"))
        return Notify(self.timestamp, kind, (), {} if kind in _PLAIN_KINDS else self.data)


class _FromJobData(msgspec.Struct, gc=False):
    job_id: str
    msg: Any


class _FromJob(_Wire, tag="FROM_JOB_MSG"):
    data: _FromJobData

    def neutral(self) -> Event:
        return FromJobMsg(self.timestamp, self.data.job_id, self.data.msg)


_AnyWire = (
    _Begins
    | _Ends
    | _Submitted
    | _Completed
    | _Killed
    | _StateChanged
    | _Called
    | _Answer
    | _Query
    | _Notify
    | _FromJob
)


class Envelope(msgspec.Struct, gc=False):
    """A message as msgspec reads it."""

    now: float
    events: list[_AnyWire]


DECODER = msgspec.json.Decoder(Envelope)
EVENT_TYPES = tuple(str(kind.__struct_config__.tag) for kind in _AnyWire.__args__)
"""Names of all event types that Batsim 4 sends."""


def neutral_events(envelope: Envelope) -> tuple[Event, ...]:
    """Neutral events of a message; raise :class:`RemoteProtocolError` with the place of a bad field."""
    events: list[Event] = []
    try:
        for wire in envelope.events:
            events.append(wire.neutral())  # noqa: PERF401 - the length names the bad event
    except Located as problem:
        place = f"$.events[{len(events)}].data{problem.path}"
        raise RemoteProtocolError(problem.message, place) from None
    return tuple(events)


def _config(members: JsonObject) -> BatsimConfig:
    try:
        known = msgspec.convert(members, _Config)
    except msgspec.ValidationError as error:
        raise located(error, "$.events[0].data.config") from None
    extras = {key: value for key, value in members.items() if key not in _CONFIG_KEYS}
    return BatsimConfig(**msgspec.structs.asdict(known), extras=extras)


def _progress(wire: _Progress, path: str) -> TaskProgress:
    name = wire.profile_name if wire.profile_name is not None else wire.profile
    if name is None:
        raise Located("expected the member 'profile_name' (or 'profile')", path)
    inner = None if wire.current_task is None else _progress(wire.current_task, f"{path}.current_task")
    return TaskProgress(name, wire.progress, wire.current_task_index, inner)


# --------------------------------------------------------------------------- writing


def _write_begins(event: SimulationBegins) -> str:
    compute, storage = event.compute_resources, event.storage_resources
    config = {wire: getattr(event.config, name) for wire, name in _CONFIG_KEYS.items()} | event.config.extras
    data = {
        "nb_resources": len(compute) + len(storage),
        "nb_compute_resources": len(compute),
        "nb_storage_resources": len(storage),
        "allow_compute_sharing": event.allow_compute_sharing,
        "allow_storage_sharing": event.allow_storage_sharing,
        "config": config,
        "compute_resources": [msgspec.structs.asdict(info) for info in compute],
        "storage_resources": [msgspec.structs.asdict(info) for info in storage],
        "workloads": event.workloads,
        "profiles": event.profiles,
    }
    return write_six_decimals(data)


def _write_submitted(event: JobSubmitted) -> str:
    text = f'{{"job_id":{quote(event.job_id)},"job":{write_six_decimals(event.job)}'
    return text + ("}" if event.profile is None else f',"profile":{write_six_decimals(event.profile)}}}')


def _write_completed(event: JobCompleted) -> str:
    return (
        f'{{"job_id":{quote(event.job_id)},"job_state":"{event.state.value}",'
        f'"return_code":{event.return_code},"alloc":"{format_intervals(event.alloc)}"}}'
    )


def _write_killed(event: JobKilled) -> str:
    ids = ",".join([quote(job_id) for job_id in event.job_ids])
    progress = ",".join([f"{quote(job_id)}:{_write_progress(task)}" for job_id, task in event.progress.items()])
    return f'{{"job_ids":[{ids}],"job_progress":{{{progress}}}}}'


def _write_progress(task: TaskProgress) -> str:
    text = f'{{"profile_name":{quote(task.profile_name)}'
    if task.progress is not None:
        text += f',"progress":{six_decimals(task.progress)}'
    if task.current_task_index is not None:
        text += f',"current_task_index":{task.current_task_index}'
    if task.current_task is not None:
        text += f',"current_task":{_write_progress(task.current_task)}'
    return text + "}"


def _write_state_changed(event: ResourceStateChanged) -> str:
    return f'{{"resources":"{format_intervals(event.resources)}","state":"{event.state}"}}'


def _write_query(event: EstimateQuery) -> str:
    requested = {"requests": {"estimate_waiting_time": {"job_id": event.job_id, "job": event.job}}}
    return write_six_decimals(requested)


def _write_notify(event: Notify) -> str:
    if event.data:
        return write_six_decimals({"type": event.kind} | event.data if "type" not in event.data else event.data)
    if event.kind in _MACHINE_KINDS:
        return f'{{"type":"{event.kind}","resources":"{format_intervals(event.resources)}"}}'
    return f'{{"type":{quote(event.kind)}}}'


def _write_from_job(event: FromJobMsg) -> str:
    return f'{{"job_id":{quote(event.job_id)},"msg":{write_six_decimals(event.msg)}}}'


_WRITERS: dict[type, tuple[str, Callable[[Any], str]]] = {
    SimulationBegins: ("SIMULATION_BEGINS", _write_begins),
    SimulationEnds: ("SIMULATION_ENDS", lambda _: "{}"),
    JobSubmitted: ("JOB_SUBMITTED", _write_submitted),
    JobCompleted: ("JOB_COMPLETED", _write_completed),
    JobKilled: ("JOB_KILLED", _write_killed),
    ResourceStateChanged: ("RESOURCE_STATE_CHANGED", _write_state_changed),
    RequestedCall: ("REQUESTED_CALL", lambda _: "{}"),
    EnergyAnswer: ("ANSWER", lambda event: f'{{"consumed_energy":{six_decimals(event.consumed_energy)}}}'),
    EstimateQuery: ("QUERY", _write_query),
    Notify: ("NOTIFY", _write_notify),
    FromJobMsg: ("FROM_JOB_MSG", _write_from_job),
}


def write_event(event: Event) -> str:
    """JSON text of one event; raise :class:`LocalProtocolError` for what is no event of Batsim 4."""
    if type(event) not in _WRITERS:
        raise LocalProtocolError(f"{type(event).__name__} is no event that Batsim 4 sends")
    kind, write_data = _WRITERS[type(event)]
    return f'{{"timestamp":{six_decimals(event.timestamp)},"type":"{kind}","data":{write_data(event)}}}'
