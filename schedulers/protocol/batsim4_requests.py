"""Batsim 4's requests (scheduler to simulator) as JSON and back.

Reading enforces what Batsim enforces while it parses a reply (each violation aborts it in silence) and says what the
scheduler did wrong; what depends on the simulation's state is the simulator's business. One struct per request
describes its ``data``; where Batsim counts members, unknown ones are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from schedulers.errors import LocalProtocolError, RemoteProtocolError
from schedulers.protocol.batsim4_fields import (
    Located,
    additional_io_job,
    check_job,
    job_id,
    mapping,
    printable,
    some_resources,
    storage_mapping,
    text_member,
    whole_number,
)
from schedulers.protocol.intervals import format_intervals
from schedulers.protocol.jsontext import exact, quote, write_exact
from schedulers.protocol.messages import (
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
    Request,
    SetJobMetadata,
    SetResourceState,
    ToJobMsg,
)

SETTABLE_STATES = frozenset(set(JobState) - {JobState.COMPLETED_FAILED, JobState.SUBMITTED})
"""States that CHANGE_JOB_STATE may name."""

_REGISTRATION = {NotifyKind.REGISTRATION_FINISHED.value: True, NotifyKind.CONTINUE_REGISTRATION.value: False}

# --------------------------------------------------------------------------- reading


class _Wire(msgspec.Struct, tag_field="type", gc=False):
    timestamp: float


class _OneJob(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    job_id: str


class _Execute(_Wire, tag="EXECUTE_JOB"):
    data: JsonObject

    def neutral(self) -> Request:
        data = self.data
        if not 2 <= len(data) <= 3:
            raise Located(
                "expected 'job_id', 'alloc' and at most one of 'mapping', 'storage_mapping' and 'additional_io_job', "
                f"got the {len(data)} members {', '.join(data)[:120]}"
            )
        alloc = text_member(data, "alloc")
        machines = some_resources(alloc, ".alloc")
        return ExecuteJob(
            self.timestamp,
            job_id(text_member(data, "job_id"), ".job_id"),
            machines,
            mapping(data["mapping"], len(machines)) if "mapping" in data else None,
            storage_mapping(data["storage_mapping"]) if "storage_mapping" in data else None,
            additional_io_job(data["additional_io_job"]) if "additional_io_job" in data else None,
        )


class _Reject(_Wire, tag="REJECT_JOB"):
    data: _OneJob

    def neutral(self) -> Request:
        return RejectJob(self.timestamp, job_id(self.data.job_id, ".job_id"))


class _KillData(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    job_ids: list[str]


class _Kill(_Wire, tag="KILL_JOB"):
    data: _KillData

    def neutral(self) -> Request:
        ids = self.data.job_ids
        if not ids:
            raise Located("expected at least one job to kill, got none", ".job_ids")
        return KillJob(self.timestamp, tuple([job_id(text, f".job_ids[{i}]") for i, text in enumerate(ids)]))


class _CallData(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    timestamp: float


class _Call(_Wire, tag="CALL_ME_LATER"):
    data: _CallData

    def neutral(self) -> Request:
        return CallMeLater(self.timestamp, self.data.timestamp)


class _ProfileData(msgspec.Struct, gc=False):
    workload_name: str
    profile_name: str
    profile: JsonObject


class _RegisterProfile(_Wire, tag="REGISTER_PROFILE"):
    data: _ProfileData

    def neutral(self) -> Request:
        data = self.data
        printable(data.profile, ".profile")
        return RegisterProfile(self.timestamp, data.workload_name, data.profile_name, data.profile)


class _JobData(msgspec.Struct, gc=False):
    job_id: str
    job: JsonObject


class _RegisterJob(_Wire, tag="REGISTER_JOB"):
    data: _JobData

    def neutral(self) -> Request:
        full = job_id(self.data.job_id, ".job_id")
        check_job(full, self.data.job)
        return RegisterJob(self.timestamp, full, self.data.job)


class _NotifyData(msgspec.Struct, gc=False):
    type: str


class _Notify(_Wire, tag="NOTIFY"):
    data: _NotifyData

    def neutral(self) -> Request:
        finished = _REGISTRATION.get(self.data.type)
        if finished is None:
            raise Located(f"expected {' or '.join(_REGISTRATION)}, got {self.data.type[:60]!r}", ".type")
        return NotifyRegistration(self.timestamp, finished)


class _StateData(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    resources: str
    state: str


class _SetState(_Wire, tag="SET_RESOURCE_STATE"):
    data: _StateData

    def neutral(self) -> Request:
        hosts = some_resources(self.data.resources, ".resources")
        return SetResourceState(self.timestamp, hosts, whole_number(self.data.state, ".state"))


class _MetadataData(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    job_id: str
    metadata: str


class _SetMetadata(_Wire, tag="SET_JOB_METADATA"):
    data: _MetadataData

    def neutral(self) -> Request:
        if '"' in self.data.metadata:
            raise Located("expected a text without double quotes (Batsim puts it between quotes)", ".metadata")
        return SetJobMetadata(self.timestamp, job_id(self.data.job_id, ".job_id"), self.data.metadata)


class _ChangeData(msgspec.Struct, gc=False):
    job_id: str
    job_state: JobState


class _ChangeState(_Wire, tag="CHANGE_JOB_STATE"):
    data: _ChangeData

    def neutral(self) -> Request:
        state = self.data.job_state
        if state not in SETTABLE_STATES:
            allowed = ", ".join(sorted(allowed.value for allowed in SETTABLE_STATES))
            raise Located(f"expected one of {allowed}, got {state.value}", ".job_state")
        return ChangeJobState(self.timestamp, job_id(self.data.job_id, ".job_id"), state)


class _NoMember(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    pass


class _QueryRequests(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    consumed_energy: _NoMember


class _QueryData(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    requests: _QueryRequests


class _Query(_Wire, tag="QUERY"):
    data: _QueryData

    def neutral(self) -> Request:
        return QueryEnergy(self.timestamp)


class _Estimate(msgspec.Struct, gc=False):
    job_id: str
    estimated_waiting_time: float


class _AnswerData(msgspec.Struct, gc=False):
    estimate_waiting_time: _Estimate


class _Answer(_Wire, tag="ANSWER"):
    data: _AnswerData

    def neutral(self) -> Request:
        answer = self.data.estimate_waiting_time
        full = job_id(answer.job_id, ".estimate_waiting_time.job_id")
        return AnswerEstimate(self.timestamp, full, answer.estimated_waiting_time)


class _ToJobData(msgspec.Struct, gc=False):
    job_id: str
    msg: str


class _ToJob(_Wire, tag="TO_JOB_MSG"):
    data: _ToJobData

    def neutral(self) -> Request:
        return ToJobMsg(self.timestamp, job_id(self.data.job_id, ".job_id"), self.data.msg)


_AnyWire = (
    _Execute
    | _Reject
    | _Kill
    | _Call
    | _RegisterProfile
    | _RegisterJob
    | _Notify
    | _SetState
    | _SetMetadata
    | _ChangeState
    | _Query
    | _Answer
    | _ToJob
)


class Envelope(msgspec.Struct, gc=False):
    """A reply as msgspec reads it."""

    now: float
    events: list[_AnyWire]


DECODER = msgspec.json.Decoder(Envelope)
REQUEST_TYPES = tuple(str(kind.__struct_config__.tag) for kind in _AnyWire.__args__)
"""Names of all request types that Batsim 4 knows."""


def neutral_requests(envelope: Envelope) -> tuple[Request, ...]:
    """Neutral requests of a reply; raise :class:`RemoteProtocolError` with the place of a bad field."""
    requests: list[Request] = []
    now = envelope.now
    for index, wire in enumerate(envelope.events):
        if wire.timestamp > now:
            message = f"expected a timestamp of at most the reply's now = {now!r}, got {wire.timestamp!r}"
            raise RemoteProtocolError(message, f"$.events[{index}].timestamp")
        try:
            requests.append(wire.neutral())
        except Located as problem:
            raise RemoteProtocolError(problem.message, f"$.events[{index}].data{problem.path}") from None
    return tuple(requests)


# --------------------------------------------------------------------------- writing


def _write_execute(request: ExecuteJob) -> str:
    text = f'{{"job_id":{quote(request.job_id)},"alloc":"{_written_alloc(request.job_id, request.alloc)}"'
    options = [write(request) for write, value in _options(request) if value is not None]
    if len(options) > 1:
        raise LocalProtocolError(
            f"job {request.job_id!r}: Batsim 4 takes only one of mapping, storage_mapping and additional_io_job"
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
        raise LocalProtocolError(f"job {job!r}: an allocation must not be empty")
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
        raise LocalProtocolError(f"job {request.job_id!r}: metadata must not contain double quotes")
    return f'{{"job_id":{quote(request.job_id)},"metadata":{quote(request.metadata)}}}'


def _write_change_state(request: ChangeJobState) -> str:
    if request.state not in SETTABLE_STATES:
        raise LocalProtocolError(f"job {request.job_id!r}: the state {request.state.value} cannot be set")
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
        raise LocalProtocolError(f"{type(request).__name__} is no request that Batsim 4 knows")
    if request.timestamp > now:
        raise LocalProtocolError(f"the timestamp {request.timestamp!r} of a request lies after the reply's now {now!r}")
    kind, write_data = _WRITERS[type(request)]
    return f'{{"timestamp":{exact(request.timestamp)},"type":"{kind}","data":{write_data(request)}}}'
