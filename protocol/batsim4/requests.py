"""Batsim 4's requests (scheduler to simulator), read from JSON; :mod:`spillway.protocol.batsim4.request_text` writes.

Reading enforces what Batsim enforces while it parses a reply (each violation aborts it in silence), with a message that
names the scheduler's fault; what depends on the simulation's state is the simulator's business. One struct per request
describes its ``data``; where Batsim counts members, unknown ones are refused.
"""

from __future__ import annotations

import msgspec

from spillway.base.errors import RemoteProtocolError, shown
from spillway.protocol.batsim4.fields import (
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
    Request,
    SetJobMetadata,
    SetResourceState,
    ToJobMsg,
)

SETTABLE_STATES = frozenset(set(JobState) - {JobState.COMPLETED_FAILED, JobState.SUBMITTED})
"""States that CHANGE_JOB_STATE may name."""

_REGISTRATION = {NotifyKind.REGISTRATION_FINISHED.value: True, NotifyKind.CONTINUE_REGISTRATION.value: False}


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
            raise Located(f"expected {' or '.join(_REGISTRATION)}, got {shown(self.data.type)}", ".type")
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
"""Names of all request types of Batsim 4."""


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
