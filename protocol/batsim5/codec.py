"""Batsim 5's protocol in its JSON form, the scheduler's role, behind the same session as Batsim 4's.

The conversation begins with a handshake: Batsim sends a length and an init string, the scheduler answers with the
format that it chooses and a hello that requests features. What Batsim 5 lacks is hidden where nothing is lost (metadata
of jobs) and refused with a clear message where something would be.

Written from the published sources and documentation of 5.0.0-rc2 (June 2026), a release candidate. Conversations with a
pre-release of November 2024 are replayed in the tests, its older handshake aside; **nothing was checked against a
running rc2**.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import msgspec

from spillway.base.errors import LocalProtocolError, RemoteProtocolError, shown
from spillway.protocol.batsim5 import events
from spillway.protocol.batsim5.profiles import to_batsim5
from spillway.protocol.intervals import format_intervals
from spillway.protocol.jsontext import decode_located, encoded, exact, write_exact
from spillway.protocol.messages import (
    BatsimConfig,
    CallMeLater,
    Event,
    ExecuteJob,
    JsonObject,
    KillJob,
    Message,
    NotifyRegistration,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    Reply,
    Request,
    SetJobMetadata,
    SetResourceState,
)
from spillway.protocol.refusal import refusal
from spillway.protocol.table import Located

JSON_FORMAT = 0x2
"""Flag of the hello's frame that chooses JSON."""

PROTOCOL_VERSION = "1.0.0"
"""Version that the hello claims; Batsim does not check it."""

_LENGTH = struct.Struct("<I")


class _Item(msgspec.Struct):
    timestamp: float
    event_type: str
    event: msgspec.Raw


class _Envelope(msgspec.Struct):
    now: float
    events: list[_Item] | None = None


_DECODER = msgspec.json.Decoder(_Envelope)


def is_hello(frame: bytes) -> bool:
    """Whether a first frame is Batsim 5's: a length and as many bytes (no JSON object can look like that)."""
    return len(frame) >= _LENGTH.size and _LENGTH.unpack_from(frame)[0] == len(frame) - _LENGTH.size


class Batsim5:
    """The codec of one conversation (it keeps allocations and numbers the wake-ups).

    Parameters
    ----------
    dynamic_jobs
        Whether to request the registration of jobs and profiles.
    name
        Name under which the scheduler introduces itself.
    """

    def __init__(self, *, dynamic_jobs: bool = False, name: str = "spillway") -> None:
        self._dynamic_jobs = dynamic_jobs
        self._name = name
        self._memory = events.Memory()
        self._calls = 0

    # ------------------------------------------------------------------ handshake

    def greet(self, first: bytes, /) -> bytes | None:
        """Answer Batsim's init frame; raise :class:`RemoteProtocolError` if it is none."""
        if not is_hello(first):
            raise RemoteProtocolError("expected Batsim 5's init frame: a length of 4 bytes and as many bytes of text")
        self._memory.config = BatsimConfig(
            dynamic_jobs_enabled=self._dynamic_jobs,
            profile_reuse_enabled=self._dynamic_jobs,
            profiles_forwarded_on_submission=True,
            sched_config=first[_LENGTH.size :].rstrip(b"\0").decode(errors="backslashreplace"),
            by_handshake=True,
        )
        features = {
            "dynamic_registration": self._dynamic_jobs,
            "profile_reuse": self._dynamic_jobs,
            "acknowledge_dynamic_jobs": False,
            "forward_profiles_on_job_submission": True,
            "forward_profiles_on_jobs_killed": False,
            "forward_profiles_on_simulation_begins": False,
        }
        hello = {
            "batprotocol_version": PROTOCOL_VERSION,
            "decision_component_name": self._name,
            "decision_component_version": "",
            "decision_component_commit": "",
            "requested_simulation_features": features,
        }
        text = _message(0.0, [_event(0.0, "EDCHelloEvent", hello)])
        return _LENGTH.pack(JSON_FORMAT) + text

    # ------------------------------------------------------------------ simulator -> scheduler

    def decode_message(self, data: bytes, /) -> Message:
        """Read what Batsim sent; raise :class:`RemoteProtocolError` with the place of a bad field."""
        try:
            envelope = decode_located(_DECODER, data.rstrip(b"\0"))
            found = [self._neutral(item, index) for index, item in enumerate(envelope.events or ())]
        except RecursionError:
            raise RemoteProtocolError("the JSON text is nested too deeply") from None
        return Message(envelope.now, tuple(found))

    def _neutral(self, item: _Item, index: int) -> Event:
        decoder = events.DECODERS.get(item.event_type)
        if decoder is None:
            known = ", ".join(events.DECODERS)
            message = f"unexpected event type {shown(item.event_type)}; known types: {known}"
            raise RemoteProtocolError(message, f"$.events[{index}].event_type")
        place = f"$.events[{index}].event"
        try:
            event: Event = decode_located(decoder, bytes(item.event)).neutral(item.timestamp, self._memory)
        except RemoteProtocolError as error:
            raise error.under(place) from None
        except Located as problem:
            raise RemoteProtocolError(problem.message, place + problem.path) from None
        return event

    # ------------------------------------------------------------------ scheduler -> simulator

    def encode_reply(self, reply: Reply, /) -> bytes:
        """Write a reply; raise :class:`LocalProtocolError` for what Batsim 5 cannot do or would abort on."""
        before = -math.inf
        written: list[str] = []
        for request in reply.events:
            if not before <= request.timestamp <= reply.now:
                raise LocalProtocolError(
                    f"the timestamps of requests must ascend up to the reply's now {reply.now!r}, "
                    f"got {request.timestamp!r} after {before!r}"
                )
            before = request.timestamp
            if type(request) not in _WITHOUT_LOSS:
                written.append(self._written(request))
        return _message(reply.now, written)

    def encode_refusal(self, reason: str, /) -> bytes:
        """Write the reply that ends the conversation with its reason: Batsim aborts on a member unknown to it."""
        return refusal(reason) + b"\0"

    def _written(self, request: Request) -> str:
        write = _WRITERS.get(type(request))
        if write is None:
            raise LocalProtocolError(f"Batsim 5 has nothing for a {type(request).__name__}")
        try:
            kind, members = write(self, request)
            return _event(request.timestamp, kind, members)
        except (KeyError, TypeError, RecursionError) as error:
            raise LocalProtocolError(f"{type(request).__name__} cannot be written for Batsim 5: {error!r}") from None

    def _execute(self, request: ExecuteJob) -> tuple[str, JsonObject]:
        if not request.alloc:
            raise LocalProtocolError(f"job {shown(request.job_id)}: an allocation must not be empty")
        if request.additional_io_job is not None:
            raise LocalProtocolError(f"job {shown(request.job_id)}: Batsim 5 has no additional_io_job")
        self._memory.allocations[request.job_id] = request.alloc
        allocation: JsonObject = {"host_allocation": format_intervals(request.alloc)} | _placement(request)
        members: JsonObject = {"job_id": request.job_id, "allocation": allocation}
        if request.storage_mapping:
            members["storage_placement"] = [
                {"storage_name": label, "host_id": host} for label, host in request.storage_mapping.items()
            ]
        return "ExecuteJobEvent", members

    def _call(self, request: CallMeLater) -> tuple[str, JsonObject]:
        """Whole milliseconds, upwards: a call must not come too early."""
        if not 0 <= request.at < 2**53:
            raise LocalProtocolError(f"a call at t = {request.at!r} s cannot be requested")
        self._calls += 1
        when = {"time": math.ceil(round(request.at * 1000, 6)), "time_unit": "Millisecond"}
        members = {"call_me_later_id": f"call{self._calls}", "when_type": "OneShot", "when": when}
        return "CallMeLaterEvent", members


def _placement(request: ExecuteJob) -> JsonObject:
    if request.mapping is None:
        kind, members = "PredefinedExecutorPlacementStrategyWrapper", {"strategy": "SpreadOverHostsFirst"}
        return {"executor_placement_type": kind, "executor_placement": members}
    hosts = [request.mapping[executor] for executor in sorted(request.mapping)]
    return {"executor_placement_type": "CustomExecutorToHostMapping", "executor_placement": {"mapping": hosts}}


def _reject(codec: Batsim5, request: RejectJob) -> tuple[str, JsonObject]:
    return "RejectJobEvent", {"job_id": request.job_id}


def _kill(codec: Batsim5, request: KillJob) -> tuple[str, JsonObject]:
    return "KillJobsEvent", {"job_ids": list(request.job_ids)}


def _register_profile(codec: Batsim5, request: RegisterProfile) -> tuple[str, JsonObject]:
    kind, members = to_batsim5(request.profile, request.workload_name)
    profile = {"id": f"{request.workload_name}!{request.profile_name}", "profile_type": kind, "profile": members}
    return "RegisterProfileEvent", {"profile": profile}


_JOB_MEMBERS = ("id", "subtime", "res", "walltime", "profile")


def _register_job(codec: Batsim5, request: RegisterJob) -> tuple[str, JsonObject]:
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
    return "RegisterJobEvent", {"job_id": request.job_id, "job": job}


def _finish(codec: Batsim5, request: NotifyRegistration) -> tuple[str, JsonObject]:
    if not request.finished:
        raise LocalProtocolError("Batsim 5 cannot take registrations up again once they are finished")
    return "FinishRegistrationEvent", {}


def _set_state(codec: Batsim5, request: SetResourceState) -> tuple[str, JsonObject]:
    return "ChangeHostsPStateEvent", {"host_ids": format_intervals(request.resources), "pstate": request.state}


_WITHOUT_LOSS = frozenset({SetJobMetadata})
"""Requests that Batsim 5 has nothing for and that change no decision."""

_WRITERS: dict[type, Callable[[Batsim5, Any], tuple[str, JsonObject]]] = {
    ExecuteJob: Batsim5._execute,
    RejectJob: _reject,
    KillJob: _kill,
    CallMeLater: Batsim5._call,
    RegisterProfile: _register_profile,
    RegisterJob: _register_job,
    NotifyRegistration: _finish,
    SetResourceState: _set_state,
}


def _event(timestamp: float, kind: str, members: JsonObject) -> str:
    return f'{{"timestamp":{exact(timestamp)},"event_type":"{kind}","event":{write_exact(members)}}}'


def _message(now: float, written: list[str]) -> bytes:
    """UTF-8 with a final zero byte, which early release candidates need and later ones ignore."""
    return encoded(f'{{"now":{exact(now)},"events":[{",".join(written)}]}}') + b"\0"
