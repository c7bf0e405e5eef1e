"""Batsim 4's events (simulator to scheduler): one table for reading and writing, with members in Batsim's own order."""

from __future__ import annotations

import msgspec

from spillway.base.errors import shown
from spillway.protocol.batsim4.fields import STATE_NUMBER
from spillway.protocol.intervals import format_intervals
from spillway.protocol.jsontext import located, quote, six_decimals, write_six_decimals
from spillway.protocol.messages import (
    BatsimConfig,
    EnergyAnswer,
    EstimateQuery,
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
from spillway.protocol.table import (
    FLAG,
    IDS,
    JSON,
    NUMBER,
    OBJECT,
    WHOLE,
    Field,
    Kind,
    LocatedError,
    Row,
    Table,
    resources,
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

# --------------------------------------------------------------------------- kinds of values


def _read_final_state(state: JobState, path: str) -> JobState:
    if state not in FINAL_STATES:
        raise LocatedError(f"expected a final job state, got {shown(state.value)}", path)
    return state


_OPTIONS = [item for item in msgspec.structs.fields(BatsimConfig) if item.name not in ("extras", "by_handshake")]
_OPTION_KEYS = {item.name.replace("_", "-"): item.name for item in _OPTIONS}
_Config = msgspec.defstruct("_Config", [(item.name, item.type, item.default) for item in _OPTIONS], rename="kebab")


def _read_config(members: JsonObject, path: str) -> BatsimConfig:
    try:
        known = msgspec.convert(members, _Config)
    except msgspec.ValidationError as error:
        problem = located(error, path)
        raise LocatedError(problem.message, problem.path) from None
    extras = {key: value for key, value in members.items() if key not in _OPTION_KEYS}
    return BatsimConfig(**msgspec.structs.asdict(known), extras=extras)


def _write_config(config: BatsimConfig) -> str:
    return write_six_decimals({key: getattr(config, name) for key, name in _OPTION_KEYS.items()} | config.extras)


_HOST_MEMBERS = ("id", "name", "state", "properties", "zone_properties")


class _Progress(msgspec.Struct, gc=False):
    profile_name: str | None = None
    profile: str | None = None
    progress: float | None = None
    current_task_index: int | None = None
    current_task: _Progress | None = None


def _read_progress(wire: _Progress, path: str) -> TaskProgress:
    name = wire.profile_name if wire.profile_name is not None else wire.profile
    if name is None:
        raise LocatedError("expected the member 'profile_name' (or 'profile')", path)
    inner = None if wire.current_task is None else _read_progress(wire.current_task, f"{path}.current_task")
    return TaskProgress(name, wire.progress, wire.current_task_index, inner)


def _write_progress(task: TaskProgress) -> str:
    text = f'{{"profile_name":{quote(task.profile_name)}'
    if task.progress is not None:
        text += f',"progress":{six_decimals(task.progress)}'
    if task.current_task_index is not None:
        text += f',"current_task_index":{task.current_task_index}'
    if task.current_task is not None:
        text += f',"current_task":{_write_progress(task.current_task)}'
    return text + "}"


def _read_progresses(wires: dict[str, _Progress], path: str) -> dict[str, TaskProgress]:
    return {job_id: _read_progress(wire, f"{path}[...]") for job_id, wire in wires.items()}


def _write_progresses(tasks: dict[str, TaskProgress]) -> str:
    return "{" + ",".join([f"{quote(job_id)}:{_write_progress(task)}" for job_id, task in tasks.items()]) + "}"


def _write_hosts(hosts: tuple[ResourceInfo, ...]) -> str:
    return write_six_decimals([{member: getattr(host, member) for member in _HOST_MEMBERS} for host in hosts])


def _read_notify(timestamp: float, data: JsonObject) -> Notify:
    kind = data.get("type")
    if not isinstance(kind, str):
        raise LocatedError(f"expected the kind of notification as a string, got {shown(kind)}", ".type")
    if kind in _MACHINE_KINDS:
        text = data.get("resources")
        if not isinstance(text, str):
            raise LocatedError(f"expected resource ids such as '0-3 5', got {shown(text)}", ".resources")
        return Notify(timestamp, kind, resources(text, ".resources"))
    return Notify(timestamp, kind, (), {} if kind in _PLAIN_KINDS else data)


def _write_notify(event: Notify) -> str:
    if event.data:
        return write_six_decimals({"type": event.kind} | event.data if "type" not in event.data else event.data)
    if event.kind in _MACHINE_KINDS:
        return f'{{"type":"{event.kind}","resources":"{format_intervals(event.resources)}"}}'
    return f'{{"type":{quote(event.kind)}}}'


_FINAL_STATE = Kind(JobState, _read_final_state, lambda state: f'"{state.value}"')
_HOSTS = Kind(tuple[ResourceInfo, ...], write=_write_hosts)
_CONFIG = Kind(JsonObject, _read_config, _write_config)
_PROGRESSES = Kind(dict[str, _Progress], _read_progresses, _write_progresses)

# --------------------------------------------------------------------------- the table


def _hosts(event: SimulationBegins) -> int:
    return len(event.compute_resources) + len(event.storage_resources)


_ROWS = (
    Row(
        SimulationBegins,
        "SIMULATION_BEGINS",
        (
            Field("nb_resources", derived=_hosts, kind=WHOLE),
            Field("nb_compute_resources", derived=lambda event: len(event.compute_resources), kind=WHOLE),
            Field("nb_storage_resources", derived=lambda event: len(event.storage_resources), kind=WHOLE),
            Field("allow_compute_sharing", FLAG, default=False),
            Field("allow_storage_sharing", FLAG, default=True),
            Field("config", _CONFIG, default={}),
            Field("compute_resources", _HOSTS),
            Field("storage_resources", _HOSTS, default=()),
            Field("workloads", Kind(dict[str, str]), default={}),
            Field("profiles", Kind(dict[str, dict[str, JsonObject]]), default={}),
        ),
    ),
    Row(SimulationEnds, "SIMULATION_ENDS"),
    Row(
        JobSubmitted,
        "JOB_SUBMITTED",
        (
            Field("job_id"),
            Field(
                "job",
                OBJECT,
                needed="expected the member 'job' (job data through Redis is not supported: run Batsim without it)",
            ),
            Field("profile", OBJECT, default=None),
        ),
    ),
    Row(
        JobCompleted,
        "JOB_COMPLETED",
        (
            Field("job_id"),
            Field("state", _FINAL_STATE, "job_state"),
            Field("return_code", WHOLE),
            Field("alloc", IDS, also="job_alloc", needed="expected the member 'alloc' (or 'job_alloc', its old name)"),
        ),
    ),
    Row(
        JobKilled,
        "JOB_KILLED",
        (Field("job_ids", Kind(tuple[str, ...])), Field("progress", _PROGRESSES, "job_progress", default={})),
    ),
    Row(ResourceStateChanged, "RESOURCE_STATE_CHANGED", (Field("resources", IDS), Field("state", STATE_NUMBER))),
    Row(RequestedCall, "REQUESTED_CALL"),
    Row(EnergyAnswer, "ANSWER", (Field("consumed_energy", NUMBER),)),
    Row(EstimateQuery, "QUERY", (Field("job_id"), Field("job", OBJECT)), inside="requests.estimate_waiting_time"),
    Row(Notify, "NOTIFY", read=_read_notify, write=_write_notify),
    Row(FromJobMsg, "FROM_JOB_MSG", (Field("job_id"), Field("msg", JSON))),
)

EVENTS = Table(_ROWS, "{} is no event that Batsim 4 sends", six_decimals, write_six_decimals)
"""Events that Batsim 4 sends."""
