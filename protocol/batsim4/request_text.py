"""Batsim 4's requests (scheduler to simulator), written as JSON: one function per request.

What would make Batsim abort, as far as a request shows it by itself, is our own fault and raises
:class:`~spillway.base.errors.LocalProtocolError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.base.errors import LocalProtocolError, shown
from spillway.protocol.batsim4.requests import SETTABLE_STATES
from spillway.protocol.intervals import format_intervals
from spillway.protocol.jsontext import exact, quote, write_exact
from spillway.protocol.messages import (
    AnswerEstimate,
    CallMeLater,
    ChangeJobState,
    ExecuteJob,
    KillJob,
    NotifyKind,
    NotifyRegistration,
    QueryEnergy,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    Request,
    SetJobMetadata,
    SetResourceState,
    ToJobMsg,
)


def _write_execute(request: ExecuteJob) -> str:
    text = f'{{"job_id":{quote(request.job_id)},"alloc":"{_written_alloc(request.job_id, request.alloc)}"'
    options = [write(request) for write, value in _options(request) if value is not None]
    if len(options) > 1:
        raise LocalProtocolError(
            f"job {shown(request.job_id)}: Batsim 4 takes only one of mapping, storage_mapping and additional_io_job"
        )
    return text + "".join(options) + "}"


def _options(request: ExecuteJob) -> tuple[tuple[Callable[[ExecuteJob], str], Any], ...]:
    return (
        (_write_mapping, request.mapping),
        (_write_storage_mapping, request.storage_mapping),
        (_write_additional, request.additional_io_job),
    )


def _write_mapping(request: ExecuteJob) -> str:
    pairs = [f'"{executor}":{index}' for executor, index in (request.mapping or {}).items()]
    return f',"mapping":{{{",".join(pairs)}}}'


def _write_storage_mapping(request: ExecuteJob) -> str:
    pairs = [f"{quote(label)}:{host}" for label, host in (request.storage_mapping or {}).items()]
    return f',"storage_mapping":{{{",".join(pairs)}}}'


def _write_additional(request: ExecuteJob) -> str:
    extra = request.additional_io_job
    assert extra is not None
    alloc = _written_alloc(request.job_id, extra.alloc)
    text = f',"additional_io_job":{{"alloc":"{alloc}","profile_name":{quote(extra.profile_name)}'
    return text + ("}" if extra.profile is None else f',"profile":{write_exact(extra.profile)}}}')


def _written_alloc(job: str, alloc: tuple[int, ...]) -> str:
    if not alloc:
        raise LocalProtocolError(f"job {shown(job)}: an allocation must not be empty")
    return format_intervals(alloc)


def _write_kill(request: KillJob) -> str:
    if not request.job_ids:
        raise LocalProtocolError("a kill must name at least one job")
    return f'{{"job_ids":[{",".join([quote(job) for job in request.job_ids])}]}}'


def _write_register_profile(request: RegisterProfile) -> str:
    return (
        f'{{"workload_name":{quote(request.workload_name)},"profile_name":{quote(request.profile_name)},'
        f'"profile":{write_exact(request.profile)}}}'
    )


def _write_notify(request: NotifyRegistration) -> str:
    kind = NotifyKind.REGISTRATION_FINISHED if request.finished else NotifyKind.CONTINUE_REGISTRATION
    return f'{{"type":"{kind.value}"}}'


def _write_set_state(request: SetResourceState) -> str:
    if not request.resources:
        raise LocalProtocolError("a change of power state must name at least one host")
    return f'{{"resources":"{format_intervals(request.resources)}","state":"{request.state}"}}'


def _write_metadata(request: SetJobMetadata) -> str:
    if '"' in request.metadata:
        raise LocalProtocolError(f"job {shown(request.job_id)}: metadata must not contain double quotes")
    return f'{{"job_id":{quote(request.job_id)},"metadata":{quote(request.metadata)}}}'


def _write_change_state(request: ChangeJobState) -> str:
    if request.state not in SETTABLE_STATES:
        raise LocalProtocolError(f"job {shown(request.job_id)}: the state {request.state.value} cannot be set")
    return f'{{"job_id":{quote(request.job_id)},"job_state":"{request.state.value}"}}'


def _write_answer(request: AnswerEstimate) -> str:
    seconds = exact(request.estimated_waiting_time)
    job = quote(request.job_id)
    return f'{{"estimate_waiting_time":{{"job_id":{job},"estimated_waiting_time":{seconds}}}}}'


_WRITERS: dict[type, tuple[str, Callable[[Any], str]]] = {
    ExecuteJob: ("EXECUTE_JOB", _write_execute),
    RejectJob: ("REJECT_JOB", lambda request: f'{{"job_id":{quote(request.job_id)}}}'),
    KillJob: ("KILL_JOB", _write_kill),
    CallMeLater: ("CALL_ME_LATER", lambda request: f'{{"timestamp":{exact(request.at)}}}'),
    RegisterProfile: ("REGISTER_PROFILE", _write_register_profile),
    RegisterJob: (
        "REGISTER_JOB",
        lambda request: f'{{"job_id":{quote(request.job_id)},"job":{write_exact(request.job)}}}',
    ),
    NotifyRegistration: ("NOTIFY", _write_notify),
    SetResourceState: ("SET_RESOURCE_STATE", _write_set_state),
    SetJobMetadata: ("SET_JOB_METADATA", _write_metadata),
    ChangeJobState: ("CHANGE_JOB_STATE", _write_change_state),
    QueryEnergy: ("QUERY", lambda _: '{"requests":{"consumed_energy":{}}}'),
    AnswerEstimate: ("ANSWER", _write_answer),
    ToJobMsg: (
        "TO_JOB_MSG",
        lambda request: f'{{"job_id":{quote(request.job_id)},"msg":{quote(request.msg)}}}',
    ),
}


def write_request(request: Request, now: float) -> str:
    """JSON text of one request; raise :class:`LocalProtocolError` for what would make Batsim abort."""
    if type(request) not in _WRITERS:
        raise LocalProtocolError(f"{type(request).__name__} is no request of Batsim 4")
    if request.timestamp > now:
        raise LocalProtocolError(f"the timestamp {request.timestamp!r} of a request lies after the reply's now {now!r}")
    kind, write_data = _WRITERS[type(request)]
    return f'{{"timestamp":{exact(request.timestamp)},"type":"{kind}","data":{write_data(request)}}}'
