"""Spillway's policies under the launcher of pybatsim 4, which uses Batsim 5's JSON protocol.

Start it by ``pybatsim spillway -o '{"policy": "easy"}'``: the launcher finds the class by the entry point ``spillway``
of the group ``pybatsim.external_decision_components``. Its options are those of
:mod:`spillway.schedulers.service.pybatsim`; without options, it reads them from the text for the scheduler on Batsim's
command line.

pybatsim 4 reads messages and writes replies itself. The codec gets its events as Batsim 5's JSON again, and writes the
requests, except those about jobs, which become pybatsim's own objects, as pybatsim tracks jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from pybatsim.batsim.core import SimulationFeatures
from pybatsim.batsim.edc import Scheduler
from pybatsim.batsim.events import EDCHelloEvent, KillJobsEvent, RegisterJobEvent, RejectJobEvent, TxEvent
from pybatsim.batsim.job import Job

from spillway.base.errors import OptionError
from spillway.protocol.batsim5.codec import Batsim5, Batsim5Simulator
from spillway.protocol.messages import JsonObject
from spillway.schedulers.assembly import spec_from
from spillway.schedulers.service.door import LINGER_MS
from spillway.schedulers.service.session_notes import OneLineErrors, say_notes

_END = b"\0"


class _WireRequest(TxEvent):  # type: ignore[misc]  # pybatsim has no types
    """A request as the codec wrote it."""

    def __init__(self, written: JsonObject) -> None:
        super().__init__(written["timestamp"])
        self._written = written

    def to_protocol_dict(self) -> JsonObject:
        """The request as it is sent."""
        return self._written


class Spillway(Scheduler):  # type: ignore[misc]
    """Policies of spillway: burst buffers, backfilling, plans.

    Parameters
    ----------
    batsim
        The launcher's connection.
    options
        The launcher's options.
    """

    def __init__(self, batsim: Any, options: Any = None) -> None:
        super().__init__(batsim, options)
        self._jobs: dict[str, Any] = {}
        with OneLineErrors(self._refuse):
            text = batsim.simulation_metadata.edc_init_str or ""
            spec = spec_from(options or _options_of(text))
            self._session = spec.session()
            say_notes(spec)
            self._codec = Batsim5(dynamic_jobs=spec.needs().dynamic_jobs)
            simulator = Batsim5Simulator()
            hello = self._codec.greet(simulator.first_frame(text))
            assert hello is not None
            for name, wanted in msgspec.structs.asdict(simulator.read_hello(hello)).items():
                if wanted:
                    batsim.simulation_metadata.requested_features |= SimulationFeatures[name.upper()]
        batsim.append_event(EDCHelloEvent(batsim.time, batsim.simulation_metadata, "spillway", "", ""))

    def handle_msg(self, msg: Iterable[Any]) -> None:
        """Let the session answer a message."""
        with OneLineErrors(self._refuse):
            now = self._batsim.time
            events = [self._heard(event) for event in msg]
            message = self._codec.decode_message(msgspec.json.encode({"now": now, "events": events}))
            reply = self._session.handle(message)
            if reply.now > now:
                self._batsim.consume_time(reply.now - now)
            for written in msgspec.json.decode(self._codec.encode_reply(reply).rstrip(_END))["events"]:
                self._batsim.append_event(self._said(written))

    def _part(self, event: Any) -> None:
        """Part of pybatsim's interface; :meth:`handle_msg` receives all events."""

    begin_simulation = end_simulation = submit_job = complete_job = _part

    def _heard(self, event: Any) -> JsonObject:
        """An event that pybatsim has decoded, as Batsim 5's JSON."""
        kind = type(event).__name__
        members = _MEMBERS.get(kind, _nothing)(event)
        if kind == "JobSubmittedEvent":
            self._jobs[event.job.job_id] = event.job
        elif kind == "JobCompletedEvent":
            self._jobs.pop(event.job.job_id, None)
        return {"timestamp": event.timestamp, "event_type": kind, "event": members}

    def _said(self, written: JsonObject) -> Any:
        """A request as an object of pybatsim, which tracks jobs."""
        at_s, kind, members = written["timestamp"], written["event_type"], written["event"]
        if kind == "RejectJobEvent":
            return RejectJobEvent(at_s, self._jobs.pop(members["job_id"]))
        if kind == "KillJobsEvent":
            return KillJobsEvent(at_s, [self._jobs[job_id] for job_id in members["job_ids"]])
        if kind == "RegisterJobEvent":
            given = members["job"]
            self._jobs[members["job_id"]] = job = Job(
                job_id=members["job_id"],
                resource_request=given["resource_request"],
                walltime=given.get("walltime"),
                profile_id=given["profile_id"],
                extra_data=given.get("extra_data"),
            )
            return RegisterJobEvent(at_s, job)
        return _WireRequest(written)

    def _refuse(self, reason: str) -> None:
        """Answer with the reason: Batsim waits for a reply, and pybatsim would end without one."""
        socket = self._batsim._zmq_socket
        socket.linger = LINGER_MS
        socket.send(Batsim5().encode_refusal(reason))


def _options_of(text: str) -> Mapping[str, Any]:
    try:
        found = msgspec.json.decode(text or "{}")
    except msgspec.DecodeError:
        found = None
    if not isinstance(found, dict):
        raise OptionError(f'expected the launcher\'s options, or Batsim\'s text, as {{"policy": "easy"}}, got {text!r}')
    return found


def _submitted(event: Any) -> JsonObject:
    job = event.job
    members: JsonObject = {
        "job_id": job.job_id,
        "submission_time": job.submission_time,
        "job": {
            "resource_request": job.resource_request,
            "walltime": job.walltime,
            "profile_id": job.profile_id,
            "extra_data": job.extra_data,
        },
    }
    return members if job.profile_dict is None else members | {"profile": job.profile_dict}


def _nothing(event: Any) -> JsonObject:
    return {}


_MEMBERS: Mapping[str, Callable[[Any], JsonObject]] = {
    "SimulationBeginsEvent": lambda event: event._payload,
    "JobSubmittedEvent": _submitted,
    "JobCompletedEvent": lambda event: {
        "job_id": event.job.job_id,
        "state": event.state.value,
        "return_code": event.return_code,
    },
    "JobsKilledEvent": lambda event: {
        "job_ids": [job.job_id for job in event.jobs],
        "progresses": [{"job_id": job_id, "wrapper": wrapper} for job_id, wrapper in event.progresses.items()],
    },
    "RequestedCallEvent": lambda event: {
        "call_me_later_id": event.call_id,
        "last_periodic_call": event.is_last_call,
    },
    "HostsPStateChangedEvent": lambda event: {"host_ids": str(event.host_ids), "pstate": event.pstate},
    "HostsTurnedOnOffEvent": lambda event: {"host_ids": str(event.host_ids), "state": event.state},
    "ExternalEventOccurredEvent": lambda event: {
        "id": event.external_event_id,
        "external_event_type": event.external_event_type,
        "external_event": event.external_event,
    },
}
"""Members of each event that has members, from pybatsim's attributes."""
