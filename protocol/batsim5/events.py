"""Batsim 5's events (simulator to scheduler) as neutral events.

One struct per event describes its members to msgspec, and makes the neutral event with what is kept of the
conversation. Members unknown here are ignored: Batsim 5 is a release candidate and still grows. The
events of a conversation without dynamic jobs were recorded from a pre-release; none was checked against rc2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from spillway.protocol.batsim5.profiles import to_batsim4
from spillway.protocol.messages import (
    BatsimConfig,
    Event,
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
from spillway.protocol.table import Located, resources


@dataclass
class Memory:
    """What is kept of the conversation, because Batsim 5 does not send it again.

    Attributes
    ----------
    config
        Features that were requested, and the init string.
    allocations
        Resource ids of each running job: Batsim 5's completions do not name them.
    """

    config: BatsimConfig = field(default_factory=BatsimConfig)
    allocations: dict[str, tuple[int, ...]] = field(default_factory=dict)


class _Property(msgspec.Struct):
    key: str
    value: str


class _Host(msgspec.Struct):
    id: int
    name: str
    state: str = "IDLE"
    properties: list[_Property] | None = None
    zone_properties: list[_Property] | None = None

    def info(self) -> ResourceInfo:
        return ResourceInfo(
            self.id, self.name, self.state.lower(), _pairs(self.properties), _pairs(self.zone_properties)
        )


class _Workload(msgspec.Struct):
    name: str
    filename: str = ""


class _Profile(msgspec.Struct):
    id: str
    profile_type: str = ""
    profile: JsonObject = {}
    extra_data: str | None = None

    def members(self) -> JsonObject:
        return to_batsim4(self.profile_type, self.profile) | _extras(self.extra_data)


class SimulationBeginsEvent(msgspec.Struct):
    """The machine; profiles only where they were requested."""

    computation_hosts: list[_Host]
    storage_hosts: list[_Host] | None = None
    workloads: list[_Workload] | None = None
    profiles: list[_Profile] | None = None

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """Hosts keep their ids; profiles get Batsim 4's words."""
        profiles: dict[str, dict[str, JsonObject]] = {}
        for profile in self.profiles or ():
            workload, _, name = profile.id.rpartition("!")
            profiles.setdefault(workload, {})[name] = profile.members()
        return SimulationBegins(
            timestamp=timestamp,
            compute_resources=tuple([host.info() for host in self.computation_hosts]),
            storage_resources=tuple([host.info() for host in self.storage_hosts or ()]),
            config=memory.config,
            workloads={workload.name: workload.filename for workload in self.workloads or ()},
            profiles=profiles,
        )


class SimulationEndsEvent(msgspec.Struct):
    """The end."""

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """Nothing to translate."""
        return SimulationEnds(timestamp)


class AllStaticJobsHaveBeenSubmittedEvent(msgspec.Struct):
    """No more jobs from workload files."""

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """One of Batsim 4's notifications."""
        return Notify(timestamp, NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value)


class AllStaticExternalEventsHaveBeenInjectedEvent(msgspec.Struct):
    """No more external events."""

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """One of Batsim 4's notifications."""
        return Notify(timestamp, NotifyKind.NO_MORE_EXTERNAL_EVENT_TO_OCCUR.value)


class _Job(msgspec.Struct):
    resource_request: int
    profile_id: str
    walltime: float | None = None
    extra_data: str | None = None


class JobSubmittedEvent(msgspec.Struct):
    """A job entered the queue."""

    job_id: str
    job: _Job
    submission_time: float | None = None
    profile: _Profile | None = None

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """The job's object in Batsim 4's words; user fields come from ``extra_data`` when it is a JSON object.

        Those of the profile do too: what a profile says beside Batsim's own fields reaches the scheduler with its job.
        """
        job = self.job
        extras = _extras(job.extra_data)
        members: JsonObject = {
            **extras,
            "id": self.job_id,
            "subtime": timestamp if self.submission_time is None else self.submission_time,
            "res": job.resource_request,
            "profile": job.profile_id.rpartition("!")[2],
        }
        if job.walltime is not None and job.walltime > 0:
            members["walltime"] = job.walltime
        profile = None if self.profile is None else self.profile.members()
        if extras:
            profile = extras | (profile or {})
        return JobSubmitted(timestamp, self.job_id, members, profile)


class JobCompletedEvent(msgspec.Struct):
    """A job ended; its return code comes as an unsigned number."""

    job_id: str
    state: JobState
    return_code: int = 0

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """The allocation is the one that we requested."""
        code = self.return_code - (1 << 32) if self.return_code >= 1 << 31 else self.return_code
        alloc = memory.allocations.pop(self.job_id, ())
        return JobCompleted(timestamp, self.job_id, self.state, code, alloc)


class _ProgressWrapper(msgspec.Struct):
    kill_progress: _Progress


class _Progress(msgspec.Struct):
    profile_id: str
    progress: float | None = None
    current_task_index: int | None = None
    current_task_progress: _ProgressWrapper | None = None

    def neutral(self) -> TaskProgress:
        inner = self.current_task_progress
        below = None if inner is None else inner.kill_progress.neutral()
        return TaskProgress(self.profile_id, self.progress, self.current_task_index, below)


class _JobProgress(msgspec.Struct):
    job_id: str
    wrapper: _ProgressWrapper | None = None


class JobsKilledEvent(msgspec.Struct):
    """Acknowledgement of a kill; may be empty."""

    job_ids: list[str]
    progresses: list[_JobProgress] | None = None

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """A sequence's index counts within its current repetition, unlike in Batsim 4."""
        progress = {
            item.job_id: item.wrapper.kill_progress.neutral()
            for item in self.progresses or ()
            if item.wrapper is not None
        }
        return JobKilled(timestamp, tuple(self.job_ids), progress)


class RequestedCallEvent(msgspec.Struct):
    """A wake-up."""

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """The call's id is not needed."""
        return RequestedCall(timestamp)


class HostsPStateChangedEvent(msgspec.Struct):
    """Hosts have changed their frequency."""

    host_ids: str
    pstate: int

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """Same meaning as in Batsim 4."""
        return ResourceStateChanged(timestamp, resources(self.host_ids, ".host_ids"), self.pstate)


class HostsTurnedOnOffEvent(msgspec.Struct):
    """Hosts have been turned on or off."""

    host_ids: str
    state: int

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """Batsim 4 has one event for both."""
        return ResourceStateChanged(timestamp, resources(self.host_ids, ".host_ids"), self.state)


class ExternalEventOccurredEvent(msgspec.Struct):
    """A user event, informative only."""

    id: str = ""
    external_event: JsonObject = {}

    def neutral(self, timestamp: float, memory: Memory) -> Event:
        """A forwarded user event of the kind ``generic``."""
        data: dict[str, Any] = {"type": "generic", "timestamp": timestamp, "id": self.id, **self.external_event}
        return Notify(timestamp, "generic", (), data)


_KINDS: tuple[type[Any], ...] = (
    SimulationBeginsEvent,
    SimulationEndsEvent,
    AllStaticJobsHaveBeenSubmittedEvent,
    AllStaticExternalEventsHaveBeenInjectedEvent,
    JobSubmittedEvent,
    JobCompletedEvent,
    JobsKilledEvent,
    RequestedCallEvent,
    HostsPStateChangedEvent,
    HostsTurnedOnOffEvent,
    ExternalEventOccurredEvent,
)

DECODERS: dict[str, msgspec.json.Decoder[Any]] = {kind.__name__: msgspec.json.Decoder(kind) for kind in _KINDS}
"""Decoder of each event's members, by Batsim 5's name of the event."""


def _pairs(properties: list[_Property] | None) -> dict[str, str]:
    return {item.key: item.value for item in properties or ()}


def _extras(text: str | None) -> JsonObject:
    """User fields: the members of ``extra_data`` when it is a JSON object, else the text itself."""
    if not text:
        return {}
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return {"extra_data": text}
    except RecursionError:
        raise Located("the JSON text in extra_data is nested too deeply") from None
    return value if isinstance(value, dict) else {"extra_data": text}
