"""Batsim 4's requests (scheduler to simulator): one table for reading and writing.

Reading makes the checks that Batsim makes while it parses a reply (each violation aborts it without a message), with an
error that names the scheduler's fault; checks that depend on the simulation's state are left to the simulator. Where
Batsim counts members, unknown ones are refused. Writing a request on which Batsim would abort, if the request alone
shows that, raises :class:`~spillway.base.errors.LocalProtocolError`.
"""

from __future__ import annotations

from spillway.base.errors import LocalProtocolError, shown
from spillway.protocol.batsim4.fields import (
    JOB_ID,
    SOME_IDS,
    STATE_NUMBER,
    additional_io_job,
    check_job,
    job_id,
    mapping,
    printable,
    some_resources,
    storage_mapping,
    text_member,
)
from spillway.protocol.intervals import format_intervals
from spillway.protocol.jsontext import exact, quote, write_exact
from spillway.protocol.messages import (
    AnswerEstimate,
    CallMeLater,
    ChangeJobState,
    ExecuteJob,
    JobState,
    JsonObject,
    KillJob,
    NotifyKind,
    NotifyRegistration,
    QueryEnergy,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
    ToJobMsg,
)
from spillway.protocol.table import NUMBER, OBJECT, Field, Kind, LocatedError, Row, Table

SETTABLE_STATES = frozenset(set(JobState) - {JobState.COMPLETED_FAILED, JobState.SUBMITTED})
"""States that CHANGE_JOB_STATE may name."""

_REGISTRATION = {NotifyKind.REGISTRATION_FINISHED.value: True, NotifyKind.CONTINUE_REGISTRATION.value: False}

# --------------------------------------------------------------------------- EXECUTE_JOB: Batsim counts its members


def _read_execute(timestamp: float, data: JsonObject) -> ExecuteJob:
    if not 2 <= len(data) <= 3:
        raise LocatedError(
            "expected 'job_id', 'alloc' and at most one of 'mapping', 'storage_mapping' and 'additional_io_job', "
            f"got the {len(data)} members {', '.join(data)[:120]}"
        )
    machines = some_resources(text_member(data, "alloc"), ".alloc")
    return ExecuteJob(
        timestamp,
        job_id(text_member(data, "job_id"), ".job_id"),
        machines,
        mapping(data["mapping"], len(machines)) if "mapping" in data else None,
        storage_mapping(data["storage_mapping"]) if "storage_mapping" in data else None,
        additional_io_job(data["additional_io_job"]) if "additional_io_job" in data else None,
    )


def _write_execute(request: ExecuteJob) -> str:
    text = f'{{"job_id":{quote(request.job_id)},"alloc":{_alloc(request.job_id, request.alloc)}'
    options = 0
    if request.mapping is not None:
        pairs = [f'"{executor}":{index}' for executor, index in request.mapping.items()]
        text += f',"mapping":{{{",".join(pairs)}}}'
        options += 1
    if request.storage_mapping is not None:
        pairs = [f"{quote(label)}:{host}" for label, host in request.storage_mapping.items()]
        text += f',"storage_mapping":{{{",".join(pairs)}}}'
        options += 1
    extra = request.additional_io_job
    if extra is not None:
        alloc = _alloc(request.job_id, extra.alloc)
        text += f',"additional_io_job":{{"alloc":{alloc},"profile_name":{quote(extra.profile_name)}'
        text += "}" if extra.profile is None else f',"profile":{write_exact(extra.profile)}}}'
        options += 1
    if options > 1:
        raise LocalProtocolError(
            f"job {shown(request.job_id)}: Batsim 4 takes only one of mapping, storage_mapping and additional_io_job"
        )
    return text + "}"


def _alloc(job: str, alloc: tuple[int, ...]) -> str:
    if not alloc:
        raise LocalProtocolError(f"job {shown(job)}: an allocation must not be empty")
    return f'"{format_intervals(alloc)}"'


# --------------------------------------------------------------------------- kinds of values


def _read_ids(ids: list[str], path: str) -> tuple[str, ...]:
    if not ids:
        raise LocatedError("expected at least one job to kill, got none", path)
    return tuple([job_id(text, f"{path}[{i}]") for i, text in enumerate(ids)])


def _read_printable(profile: JsonObject, path: str) -> JsonObject:
    printable(profile, path)
    return profile


def _read_registration(kind: str, path: str) -> bool:
    finished = _REGISTRATION.get(kind)
    if finished is None:
        raise LocatedError(f"expected {' or '.join(_REGISTRATION)}, got {shown(kind)}", path)
    return finished


def _write_registration(finished: bool) -> str:
    return f'"{next(kind for kind, value in _REGISTRATION.items() if value == finished)}"'


def _read_metadata(text: str, path: str) -> str:
    if '"' in text:
        raise LocatedError("expected a text without double quotes (Batsim puts it between quotes)", path)
    return text


def _read_settable(state: JobState, path: str) -> JobState:
    if state not in SETTABLE_STATES:
        allowed = ", ".join(sorted(allowed.value for allowed in SETTABLE_STATES))
        raise LocatedError(f"expected one of {allowed}, got {state.value}", path)
    return state


def _refuse_kill(request: KillJob) -> str | None:
    return None if request.job_ids else "a kill must name at least one job"


def _refuse_set_state(request: SetResourceState) -> str | None:
    return None if request.resources else "a change of power state must name at least one host"


def _refuse_metadata(request: SetJobMetadata) -> str | None:
    if '"' not in request.metadata:
        return None
    return f"job {shown(request.job_id)}: metadata must not contain double quotes"


def _refuse_change(request: ChangeJobState) -> str | None:
    if request.state in SETTABLE_STATES:
        return None
    return f"job {shown(request.job_id)}: the state {request.state.value} cannot be set"


# --------------------------------------------------------------------------- the table

_JOB = Field("job_id", JOB_ID)
_ROWS = (
    Row(ExecuteJob, "EXECUTE_JOB", read=_read_execute, write=_write_execute),
    Row(RejectJob, "REJECT_JOB", (_JOB,), strict=True),
    Row(KillJob, "KILL_JOB", (Field("job_ids", Kind(list[str], _read_ids)),), strict=True, refuse=_refuse_kill),
    Row(
        CallMeLater,
        "CALL_ME_LATER",
        (Field("at", NUMBER, "timestamp"),),
        strict=True,
        refuse=lambda request: "Batsim 4 has no periodic calls" if request.period_s else None,
    ),
    Row(
        RegisterProfile,
        "REGISTER_PROFILE",
        (Field("workload_name"), Field("profile_name"), Field("profile", Kind(JsonObject, _read_printable))),
    ),
    Row(RegisterJob, "REGISTER_JOB", (_JOB, Field("job", OBJECT)), check=check_job),
    Row(NotifyRegistration, "NOTIFY", (Field("finished", Kind(str, _read_registration, _write_registration), "type"),)),
    Row(
        SetResourceState,
        "SET_RESOURCE_STATE",
        (Field("resources", SOME_IDS), Field("state", STATE_NUMBER)),
        strict=True,
        refuse=_refuse_set_state,
    ),
    Row(
        SetJobMetadata,
        "SET_JOB_METADATA",
        (_JOB, Field("metadata", Kind(str, _read_metadata, quote))),
        strict=True,
        refuse=_refuse_metadata,
    ),
    Row(
        ChangeJobState,
        "CHANGE_JOB_STATE",
        (_JOB, Field("state", Kind(JobState, _read_settable, lambda state: f'"{state.value}"'), "job_state")),
        refuse=_refuse_change,
    ),
    Row(QueryEnergy, "QUERY", inside="requests.consumed_energy", strict=True),
    Row(AnswerEstimate, "ANSWER", (_JOB, Field("estimated_waiting_time", NUMBER)), inside="estimate_waiting_time"),
    Row(ToJobMsg, "TO_JOB_MSG", (_JOB, Field("msg"))),
)

REQUESTS = Table(_ROWS, "{} is no request of Batsim 4", exact, write_exact, timely=True)
"""Requests that a scheduler sends to Batsim 4."""
