"""Requests (scheduler to simulator) in Batsim 5's words: one table; a member that its schema lacks aborts Batsim."""

from __future__ import annotations

import math

from spillway.base.errors import LocalProtocolError, shown
from spillway.protocol.batsim5.profiles import to_batsim5
from spillway.protocol.intervals import format_intervals
from spillway.protocol.jsontext import exact, write_exact
from spillway.protocol.messages import (
    ExecuteJob,
    JsonObject,
    KillJob,
    NotifyRegistration,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetResourceState,
    Struct,
)
from spillway.protocol.table import IDS, JSON, WHOLE, Field, Row, Table


class NumberedCall(Struct, frozen=True):
    """A :class:`~spillway.protocol.messages.CallMeLater` with the name that Batsim 5 wants."""

    timestamp: float
    at: float
    name: str


class Hello(Struct, frozen=True):
    """The answer to Batsim's init frame."""

    timestamp: float
    decision_component_name: str
    requested_simulation_features: JsonObject
    batprotocol_version: str = "1.0.0"
    decision_component_version: str = ""
    decision_component_commit: str = ""


def _execute(request: ExecuteJob) -> str:
    if not request.alloc:
        raise LocalProtocolError(f"job {shown(request.job_id)}: an allocation must not be empty")
    if request.additional_io_job is not None:
        raise LocalProtocolError(f"job {shown(request.job_id)}: Batsim 5 has no additional_io_job")
    allocation: JsonObject = {"host_allocation": format_intervals(request.alloc)}
    if request.mapping is None:
        allocation["executor_placement_type"] = "PredefinedExecutorPlacementStrategyWrapper"
        allocation["executor_placement"] = {"strategy": "SpreadOverHostsFirst"}
    else:
        allocation["executor_placement_type"] = "CustomExecutorToHostMapping"
        allocation["executor_placement"] = {"mapping": [request.mapping[key] for key in sorted(request.mapping)]}
    members: JsonObject = {"job_id": request.job_id, "allocation": allocation}
    if request.storage_mapping:
        members["storage_placement"] = [
            {"storage_name": label, "host_id": host} for label, host in request.storage_mapping.items()
        ]
    return write_exact(members)


def _call(request: NumberedCall) -> str:
    """Whole milliseconds, upwards: a call must not come too early."""
    if not 0 <= request.at < 2**53:
        raise LocalProtocolError(f"a call at t = {request.at!r} s cannot be requested")
    when = {"time": math.ceil(round(request.at * 1000, 6)), "time_unit": "Millisecond"}
    return write_exact({"call_me_later_id": request.name, "when_type": "OneShot", "when": when})


def _register_profile(request: RegisterProfile) -> str:
    kind, members = to_batsim5(request.profile, request.workload_name)
    profile = {"id": f"{request.workload_name}!{request.profile_name}", "profile_type": kind, "profile": members}
    return write_exact({"profile": profile})


_JOB_MEMBERS = ("id", "subtime", "res", "walltime", "profile")


def _register_job(request: RegisterJob) -> str:
    """The submission time is lost: Batsim 5 takes the moment of registration."""
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
    if extras:
        job["extra_data"] = write_exact(extras)
    return write_exact({"job_id": request.job_id, "job": job})


def _refuse_continuing(request: NotifyRegistration) -> str | None:
    return None if request.finished else "Batsim 5 cannot take registrations up again once they are finished"


_ROWS = (
    Row(
        Hello,
        "EDCHelloEvent",
        (
            Field("batprotocol_version"),
            Field("decision_component_name"),
            Field("decision_component_version"),
            Field("decision_component_commit"),
            Field("requested_simulation_features", JSON),
        ),
    ),
    Row(ExecuteJob, "ExecuteJobEvent", write=_execute),
    Row(RejectJob, "RejectJobEvent", (Field("job_id"),)),
    Row(KillJob, "KillJobsEvent", (Field("job_ids", JSON),)),
    Row(NumberedCall, "CallMeLaterEvent", write=_call),
    Row(RegisterProfile, "RegisterProfileEvent", write=_register_profile),
    Row(RegisterJob, "RegisterJobEvent", write=_register_job),
    Row(NotifyRegistration, "FinishRegistrationEvent", refuse=_refuse_continuing),
    Row(
        SetResourceState,
        "ChangeHostsPStateEvent",
        (Field("resources", IDS, "host_ids"), Field("state", WHOLE, "pstate")),
    ),
)

REQUESTS = Table(_ROWS, "Batsim 5 has nothing for a {}", exact, write_exact, tag="event_type", body="event")
"""What a scheduler sends to Batsim 5."""
