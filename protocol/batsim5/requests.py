"""Batsim 5's requests (scheduler to simulator): one table for reading and writing.

Batsim aborts on a member that its schema lacks, so reading refuses it; members that Batsim reads unguarded are
mandatory.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import msgspec

from spillway.base.errors import LocalProtocolError, shown
from spillway.protocol.batsim5.profiles import to_batsim4, to_batsim5
from spillway.protocol.intervals import format_intervals
from spillway.protocol.jsontext import exact, quote, write_exact
from spillway.protocol.messages import (
    CallMeLater,
    ExecuteJob,
    JsonObject,
    KillJob,
    NotifyRegistration,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetResourceState,
    StopCalls,
    StopSimulation,
    Struct,
)
from spillway.protocol.table import IDS, Field, Kind, LocatedError, Row, Table, resources

Count = Annotated[int, msgspec.Meta(ge=0)]


class Features(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Features that a scheduler requests in its hello."""

    dynamic_registration: bool = False
    profile_reuse: bool = False
    acknowledge_dynamic_jobs: bool = False
    forward_profiles_on_job_submission: bool = False
    forward_profiles_on_jobs_killed: bool = False
    forward_profiles_on_simulation_begins: bool = False


class Hello(Struct, frozen=True):
    """The answer to Batsim's init frame."""

    timestamp: float
    decision_component_name: str
    requested_simulation_features: Features
    batprotocol_version: str = "1.0.0"
    decision_component_version: str = ""
    decision_component_commit: str = ""


class _Body(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Unknown members are refused."""


# --------------------------------------------------------------------------- ExecuteJobEvent

_SPREAD: JsonObject = {"strategy": "SpreadOverHostsFirst"}


class _Allocation(_Body):
    host_allocation: str
    executor_placement_type: Literal["PredefinedExecutorPlacementStrategyWrapper", "CustomExecutorToHostMapping"]
    executor_placement: JsonObject


class _Storage(_Body):
    storage_name: str
    host_id: Count


class _Execute(_Body):
    job_id: str
    allocation: _Allocation
    profile_allocation_override: list[Any] | None = None
    storage_placement: list[_Storage] | None = None


def _read_execute(timestamp: float, body: _Execute) -> ExecuteJob:
    if body.profile_allocation_override:
        raise LocatedError("allocations for single profiles are not played", ".profile_allocation_override")
    alloc = resources(body.allocation.host_allocation, ".allocation.host_allocation")
    storage = {item.storage_name: item.host_id for item in body.storage_placement or ()}
    return ExecuteJob(timestamp, body.job_id, alloc, _read_placement(body.allocation), storage or None)


def _read_placement(allocation: _Allocation) -> dict[int, int] | None:
    given, place = allocation.executor_placement, ".allocation.executor_placement"
    if allocation.executor_placement_type == "PredefinedExecutorPlacementStrategyWrapper":
        if given != _SPREAD:
            raise LocatedError(
                f"expected the strategy SpreadOverHostsFirst (no other is played), got {shown(given)}", place
            )
        return None
    mapping = given.get("mapping")
    if len(given) != 1 or not isinstance(mapping, list) or not all(type(it) is int and it >= 0 for it in mapping):
        raise LocatedError(f"expected 'mapping', a list of places in the allocation, got {shown(given)}", place)
    return dict(enumerate(mapping))


def _write_execute(request: ExecuteJob) -> str:
    if not request.alloc:
        raise LocalProtocolError(f"job {shown(request.job_id)}: an allocation must not be empty")
    if request.additional_io_job is not None:
        raise LocalProtocolError(f"job {shown(request.job_id)}: Batsim 5 has no additional_io_job")
    allocation: JsonObject = {"host_allocation": format_intervals(request.alloc)}
    if request.mapping is None:
        allocation["executor_placement_type"] = "PredefinedExecutorPlacementStrategyWrapper"
        allocation["executor_placement"] = _SPREAD
    else:
        allocation["executor_placement_type"] = "CustomExecutorToHostMapping"
        allocation["executor_placement"] = {"mapping": [request.mapping[key] for key in sorted(request.mapping)]}
    members: JsonObject = {"job_id": request.job_id, "allocation": allocation}
    if request.storage_mapping:
        members["storage_placement"] = [
            {"storage_name": label, "host_id": host} for label, host in request.storage_mapping.items()
        ]
    return write_exact(members)


# --------------------------------------------------------------------------- CallMeLaterEvent

_MILLISECONDS_A_SECOND = 1000


class _OneShot(_Body):
    time: Count
    time_unit: Literal["Second", "Millisecond"]


class _Infinite(_Body):
    pass


class _Finite(_Body):
    nb_periods: Annotated[int, msgspec.Meta(ge=1)]


class _Periodic(_Body):
    period: Annotated[int, msgspec.Meta(ge=1)]
    time_unit: Literal["Second", "Millisecond"]
    mode_type: Literal["Infinite", "FinitePeriodNumber"]
    mode: JsonObject
    offset: Annotated[int, msgspec.Meta(ge=0, le=0)] = 0


class _Call(_Body):
    call_me_later_id: str
    when_type: Literal["OneShot", "Periodic"]
    when: JsonObject


def _part(value: JsonObject, kind: type[Any], path: str) -> Any:
    """Check the value of a member whose type another member names; raise :class:`LocatedError`."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise LocatedError(str(error), path) from None


def _read_call(timestamp: float, body: _Call) -> CallMeLater:
    name = body.call_me_later_id
    if body.when_type == "OneShot":
        once = _part(body.when, _OneShot, ".when")
        return CallMeLater(timestamp, _seconds(once.time, once.time_unit), name)
    periodic = _part(body.when, _Periodic, ".when")
    period_s = _seconds(periodic.period, periodic.time_unit)
    kind = _Infinite if periodic.mode_type == "Infinite" else _Finite
    times = getattr(_part(periodic.mode, kind, ".when.mode"), "nb_periods", 0)
    return CallMeLater(timestamp, timestamp, name, period_s, times)


def _seconds(count: int, unit: str) -> float:
    return float(count) if unit == "Second" else count / _MILLISECONDS_A_SECOND


def _write_call(request: CallMeLater) -> str:
    """Text of a call, in whole milliseconds rounded up: it must not come too early."""
    if not 0 <= request.at < 2**53:
        raise LocalProtocolError(f"a call at t = {request.at!r} s cannot be requested")
    when: JsonObject = {"time": _milliseconds(request.at), "time_unit": "Millisecond"}
    kind = "OneShot"
    if request.period_s:
        kind = "Periodic"
        when = {"period": _milliseconds(request.period_s), "offset": 0, "time_unit": "Millisecond"}
        when["mode_type"] = "FinitePeriodNumber" if request.times else "Infinite"
        when["mode"] = {"nb_periods": request.times} if request.times else {}
    return write_exact({"call_me_later_id": request.name, "when_type": kind, "when": when})


def _milliseconds(seconds: float) -> int:
    return math.ceil(round(seconds * _MILLISECONDS_A_SECOND, 6))


# --------------------------------------------------------------------------- registration


class _Profile(_Body):
    id: str
    profile_type: str
    profile: JsonObject
    extra_data: str | None = None


class _RegisterProfile(_Body):
    profile: _Profile


def _read_profile(timestamp: float, body: _RegisterProfile) -> RegisterProfile:
    given = body.profile
    workload, name = _split(given.id, ".profile.id")
    profile = to_batsim4(given.profile_type, given.profile, workload)
    if profile["type"] == "parallel_homogeneous_total" and profile["com"]:
        raise LocatedError("DefinedAmountsSpreadUniformly is played without communications only", ".profile.profile")
    return RegisterProfile(timestamp, workload, name, profile)


def _split(text: str, path: str) -> tuple[str, str]:
    workload, separator, name = text.partition("!")
    if not (workload and separator and name) or "!" in name:
        raise LocatedError(f"expected WORKLOAD!NAME, got {shown(text)}", path)
    return workload, name


def _write_profile(request: RegisterProfile) -> str:
    kind, members = to_batsim5(request.profile, request.workload_name)
    profile = {"id": f"{request.workload_name}!{request.profile_name}", "profile_type": kind, "profile": members}
    return write_exact({"profile": profile})


class _Job(_Body):
    resource_request: Count
    profile_id: str
    walltime: float | None = None
    extra_data: str | None = None
    rigid: bool | None = None


class _RegisterJob(_Body):
    job_id: str
    job: _Job


def _read_job(timestamp: float, body: _RegisterJob) -> RegisterJob:
    """A registration as a submission now; a profile of another workload keeps the name of that workload."""
    workload, _ = _split(body.job_id, ".job_id")
    job: JsonObject = {
        "id": body.job_id,
        "subtime": timestamp,
        "res": body.job.resource_request,
        "profile": body.job.profile_id.removeprefix(f"{workload}!"),
    }
    if body.job.walltime is not None:
        job["walltime"] = body.job.walltime
    if body.job.extra_data:
        job["extra_data"] = body.job.extra_data
    return RegisterJob(timestamp, body.job_id, job)


_JOB_MEMBERS = ("id", "subtime", "res", "walltime", "profile", "extra_data")


def _write_job(request: RegisterJob) -> str:
    """Text of a registration, without the submission time: Batsim 5 takes the moment of registration."""
    given = request.job
    workload = request.job_id.split("!", 1)[0]
    profile = str(given["profile"])
    job: JsonObject = {
        "resource_request": given["res"],
        "profile_id": profile if "!" in profile else f"{workload}!{profile}",
    }
    if given.get("walltime", -1) > 0:
        job["walltime"] = given["walltime"]
    extras = {key: value for key, value in given.items() if key not in _JOB_MEMBERS}
    if extras or "extra_data" in given:
        job["extra_data"] = write_exact(extras) if extras else given["extra_data"]
    return write_exact({"job_id": request.job_id, "job": job})


def _refuse_continuing(request: NotifyRegistration) -> str | None:
    return None if request.finished else "Batsim 5 cannot take registrations up again once they are finished"


_FEATURES = Kind(Features, write=lambda features: write_exact(msgspec.structs.asdict(features)))
_PSTATE = Kind(Count, write=str)
_ROWS = (
    Row(
        Hello,
        "EDCHelloEvent",
        (
            Field("batprotocol_version"),
            Field("decision_component_name"),
            Field("decision_component_version"),
            Field("decision_component_commit"),
            Field("requested_simulation_features", _FEATURES),
        ),
        strict=True,
    ),
    Row(ExecuteJob, "ExecuteJobEvent", read=_read_execute, write=_write_execute, body=_Execute),
    Row(RejectJob, "RejectJobEvent", (Field("job_id"),), strict=True),
    Row(KillJob, "KillJobsEvent", (Field("job_ids", Kind(tuple[str, ...])),), strict=True),
    Row(CallMeLater, "CallMeLaterEvent", read=_read_call, write=_write_call, body=_Call),
    Row(StopCalls, "StopCallMeLaterEvent", (Field("name", Kind(str, write=quote), "call_me_later_id"),), strict=True),
    Row(StopSimulation, "ForceSimulationStopEvent", strict=True),
    Row(RegisterProfile, "RegisterProfileEvent", read=_read_profile, write=_write_profile, body=_RegisterProfile),
    Row(RegisterJob, "RegisterJobEvent", read=_read_job, write=_write_job, body=_RegisterJob),
    Row(NotifyRegistration, "FinishRegistrationEvent", refuse=_refuse_continuing, strict=True),
    Row(
        SetResourceState,
        "ChangeHostsPStateEvent",
        (Field("resources", IDS, "host_ids"), Field("state", _PSTATE, "pstate")),
        strict=True,
        fixed={"power": False},
    ),
    Row(
        SetResourceState,
        "TurnOnOffHostsEvent",
        (Field("resources", IDS, "host_ids"), Field("state", _PSTATE)),
        strict=True,
        fixed={"power": True},
    ),
)

REQUESTS = Table(
    _ROWS,
    "Batsim 5 has nothing for a {}",
    exact,
    write_exact,
    tag="event_type",
    body="event",
    timely=True,
    unknown="unexpected event type",
    closed=True,
)
"""Requests that a scheduler sends to Batsim 5."""
