"""A random Batsim: it keeps Batsim's books, plays legal conversations and refuses requests on which Batsim aborts.

Durations of jobs are drawn, so that conversations are legal and all different; the platform is not simulated.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar

from spillway.protocol.batsim4.codec import encode_message
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.protocol.messages import (
    AnswerEstimate,
    BatsimConfig,
    CallMeLater,
    Event,
    ExecuteJob,
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    JsonObject,
    KillJob,
    Message,
    Notify,
    NotifyKind,
    NotifyRegistration,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    Reply,
    RequestedCall,
    ResourceInfo,
    SetJobMetadata,
    SimulationBegins,
    SimulationEnds,
    TaskProgress,
)

ENDLESS_CALLS = 3000
"""Calls one after another, with nothing running and nothing to come, that count as endless."""


class IllegalRequest(AssertionError):
    """The scheduler sent a request that makes Batsim abort."""


class Stall(AssertionError):
    """Nothing can happen any more, although every machine is available and jobs wait."""


@dataclass(slots=True)
class Job:
    """A job in Batsim's books."""

    res: int
    walltime_s: float
    profile: JsonObject
    profile_name: str
    state: JobState = JobState.SUBMITTED
    hosts: tuple[int, ...] = ()
    began_s: float = 0.0
    length_s: float = 0.0
    ending: tuple[JobState, int] = (JobState.COMPLETED_SUCCESSFULLY, 0)


@dataclass(frozen=True)
class World:
    """World of a conversation.

    Attributes
    ----------
    compute, storage
        The machine; the file system is the last storage.
    jobs
        Static jobs: their objects, in order of submission.
    profiles
        Of workload ``w0``.
    outages
        (time, kind, resources), in order.
    drains
        (time, id of a storage node, bytes of it that are drained from then on).
    dynamic, acknowledged, forwarded, reuse
        Options of the simulator.
    """

    compute: tuple[ResourceInfo, ...]
    storage: tuple[ResourceInfo, ...]
    jobs: tuple[JsonObject, ...]
    profiles: dict[str, JsonObject]
    outages: tuple[tuple[float, NotifyKind, tuple[int, ...]], ...] = ()
    drains: tuple[tuple[float, int, int], ...] = ()
    dynamic: bool = True
    acknowledged: bool = False
    forwarded: bool = False
    reuse: bool = True


@dataclass
class Peer:
    """The simulator's side of one conversation.

    Attributes
    ----------
    lenient
        Set after a fault that leaves both sides with different books: requests that look illegal are then ignored.
    reported
        Ids of jobs whose ends were reported, in order.
    unsent
        Ids of jobs whose submission a fault left out.
    begun, last_s
        Whether the first message was answered; time of the last message that was.
    write
        A message as bytes.
    """

    world: World
    rng: Random
    lenient: bool = False
    clock_s: float = 0.0
    jobs: dict[str, Job] = field(default_factory=dict)
    profiles: dict[str, dict[str, JsonObject]] = field(default_factory=dict)
    reported: list[str] = field(default_factory=list)
    unsent: set[str] = field(default_factory=set)
    ended: bool = False
    begun: bool = False
    last_s: float = 0.0
    write: Callable[[Message], bytes] = encode_message

    def __post_init__(self) -> None:
        self._calendar: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._pending: list[Event] = []
        self._busy: set[int] = set()
        self._gone: set[int] = set()
        self._outages = len(self.world.outages)
        self._static = len(self.world.jobs)
        self._finished_registration = not self.world.dynamic
        self._open = 0
        self._calls = 0
        self._idle_calls = 0
        self._names: set[str] = set()
        self._killed: set[str] = set()
        self._ended_s: dict[str, float] = {}
        self.profiles["w0"] = dict(self.world.profiles)
        for job in self.world.jobs:
            self._at(float(job["subtime"]), lambda job=job: self._submit(job))
        for time_s, kind, resources in self.world.outages:
            self._at(time_s, lambda kind=kind, resources=resources: self._outage(kind, resources))
        self._drained: set[int] = set()
        for time_s, storage, size in self.world.drains:
            self._at(time_s, lambda storage=storage, size=size: self._drain(storage, size))

    @property
    def unavailable(self) -> frozenset[int]:
        """Unavailable machines."""
        return frozenset(self._gone)

    @property
    def available(self) -> frozenset[int]:
        """Available machines."""
        return frozenset(range(len(self.world.compute) + len(self.world.storage))) - self._gone

    # ------------------------------------------------------------------ messages

    def begin(self) -> Message:
        """The first message."""
        world = self.world
        config = BatsimConfig(
            dynamic_jobs_enabled=world.dynamic,
            dynamic_jobs_acknowledged=world.dynamic and world.acknowledged,
            profile_reuse_enabled=world.dynamic and world.reuse,
            profiles_forwarded_on_submission=world.forwarded,
        )
        profiles = {} if world.forwarded else {"w0": world.profiles}
        return Message(0.0, (SimulationBegins(0.0, world.compute, world.storage, config, profiles=profiles),))

    def next(self) -> Message:
        """The next message: all that happens at the next instant, or the end."""
        while not self._pending:
            if not self._calendar:
                return self._nothing_left()
            self.clock_s = max(self.clock_s, self._calendar[0][0])
            while self._calendar and self._calendar[0][0] <= self.clock_s:
                heapq.heappop(self._calendar)[2]()
        events, self._pending = tuple(self._pending), []
        self._count_calls(events)
        return Message(self.clock_s, events)

    def _nothing_left(self) -> Message:
        waiting = [name for name, job in self.jobs.items() if job.state is JobState.SUBMITTED]
        if self._gone and (waiting or not self._finished_registration):  # machines that returned too early return again
            self._outages += 1
            self._outage(NotifyKind.MACHINE_AVAILABLE, tuple(sorted(self._gone)))
            return self.next()
        if self._drained and waiting:
            for storage in sorted(self._drained):
                self._drain(storage, 0)
            return self.next()
        if waiting and not self.lenient:
            raise Stall(f"at {self.clock_s} s nothing runs, every machine is available, and {waiting[:5]} wait")
        if not self._finished_registration and not self.lenient:
            raise Stall(f"at {self.clock_s} s all jobs have ended, and registration was not finished")
        self.ended = True
        return Message(self.clock_s, (SimulationEnds(self.clock_s),))

    def _count_calls(self, events: tuple[Event, ...]) -> None:
        idle = not self._busy and not self._static and not self._outages
        only_calls = all(isinstance(event, RequestedCall) for event in events)
        self._idle_calls = self._idle_calls + 1 if idle and only_calls else 0
        if self._idle_calls > ENDLESS_CALLS:
            raise Stall(f"{ENDLESS_CALLS} calls one after another with nothing running and nothing to come")

    def _at(self, time_s: float, action: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._calendar, (round(time_s, 6), self._count, action))

    def _submit(self, job: JsonObject) -> None:
        self._static -= 1
        job_id = f"w0!{job['id']}"
        profile = self.profiles["w0"][job["profile"]]
        self.jobs[job_id] = Job(job["res"], float(job.get("walltime", -1)), profile, job["profile"])
        forwarded = profile if self.world.forwarded else None
        self._pending.append(JobSubmitted(self.clock_s, job_id, job | {"id": job_id}, forwarded))
        if not self._static:
            self._pending.append(Notify(self.clock_s, NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value))

    def _outage(self, kind: NotifyKind, resources: tuple[int, ...]) -> None:
        """Make machines unavailable or available; as in Batsim, jobs that run there continue."""
        self._outages -= 1
        if kind is NotifyKind.MACHINE_UNAVAILABLE:
            self._gone.update(resources)
        else:
            self._gone -= set(resources)
        self._pending.append(Notify(self.clock_s, kind.value, resources))

    def _drain(self, storage: int, size: int) -> None:
        """Drain a part of a storage node, or return it: an event that Batsim passes on unchanged."""
        (self._drained.add if size else self._drained.discard)(storage)
        data = {"timestamp": self.clock_s, "type": STORAGE_DRAINED, "resources": str(storage), "bytes": size}
        self._pending.append(Notify(self.clock_s, STORAGE_DRAINED, (), data))

    def _called(self) -> None:
        self._pending.append(RequestedCall(self.clock_s))

    def _complete(self, job_id: str, job: Job) -> None:
        if job.state is not JobState.RUNNING:
            return
        self._close(job_id, job, *job.ending)

    def _close(self, job_id: str, job: Job, state: JobState, code: int) -> None:
        job.state = state
        self._busy.difference_update(job.hosts)
        self._pending.append(JobCompleted(self.clock_s, job_id, state, code, job.hosts))
        self.reported.append(job_id)
        self._ended_s[job_id] = self.clock_s
        del self.jobs[job_id]

    # ------------------------------------------------------------------ replies

    def take(self, reply: Reply) -> None:
        """Carry out a reply, now; :class:`IllegalRequest` if Batsim would abort."""
        if reply.now != self.clock_s:
            raise IllegalRequest(f"a reply at {reply.now} s to a message at {self.clock_s} s")
        self._killed.clear()
        for request in reply.events:
            handler = self._HANDLERS.get(type(request))
            if handler is None:
                raise IllegalRequest(f"an unexpected {type(request).__name__}")
            handler(self, request)

    def _refuse(self, text: str) -> None:
        if not self.lenient:
            raise IllegalRequest(text)

    def _execute(self, request: ExecuteJob) -> None:
        self._start(request.job_id, request.alloc)

    def _start(self, job_id: str, hosts: tuple[int, ...]) -> None:
        job = self.jobs.get(job_id)
        if job is None or job.state is not JobState.SUBMITTED:
            return self._refuse(f"EXECUTE_JOB of {job_id!r}, which is {job and job.state}")
        compute = len(self.world.compute)
        for host in hosts:
            if host in self._gone:
                self._refuse(f"EXECUTE_JOB of {job_id!r} on the unavailable machine {host}")
            if host < compute and host in self._busy:
                self._refuse(f"EXECUTE_JOB of {job_id!r} on the busy machine {host}")
            if not 0 <= host < compute + len(self.world.storage):
                self._refuse(f"EXECUTE_JOB of {job_id!r} on the unknown machine {host}")
        job.state, job.hosts, job.began_s = JobState.RUNNING, hosts, self.clock_s
        self._busy.update(host for host in hosts if host < compute)
        job.length_s, job.ending = self._length(job)
        self._at(self.clock_s + job.length_s, lambda: self._complete(job_id, job))
        return None

    def _length(self, job: Job) -> tuple[float, tuple[JobState, int]]:
        """Duration of a job, drawn unless its profile states it, and its end."""
        rng = self.rng
        length_s = job.profile.get("delay") or rng.choice((0.0, 0.5, 3.0, 12.0, 40.0)) * rng.random()
        if rng.random() < 0.2:
            length_s = float(round(length_s))
        if 0 < job.walltime_s <= length_s:
            return job.walltime_s, (JobState.COMPLETED_WALLTIME_REACHED, -1)
        if rng.random() < 0.02:
            return length_s * rng.random(), (JobState.COMPLETED_FAILED, 1)
        return length_s, (JobState.COMPLETED_SUCCESSFULLY, 0)

    def _reject(self, request: RejectJob) -> None:
        job = self.jobs.get(request.job_id)
        if job is None or job.state is not JobState.SUBMITTED:
            return self._refuse(f"REJECT_JOB of {request.job_id!r}, which is {job and job.state}")
        del self.jobs[request.job_id]
        return None

    def _kill(self, request: KillJob) -> None:
        """Kill jobs; as in Batsim, those killed before in this reply are left out, one that ended now is allowed."""
        killed: dict[str, TaskProgress] = {}
        names = tuple(name for name in request.job_ids if name not in self._killed)
        self._killed.update(names)
        for job_id in names:
            job = self.jobs.get(job_id)
            if job is None and self._ended_s.get(job_id) == self.clock_s:
                continue
            if job is None or job.state is not JobState.RUNNING:
                self._refuse(f"KILL_JOB of {job_id!r}, which is {job and job.state}")
                continue
            share = (self.clock_s - job.began_s) / job.length_s if job.length_s else 1.0
            killed[job_id] = TaskProgress(job.profile_name, round(min(share, 1.0), 6))
            self._close(job_id, job, JobState.COMPLETED_KILLED, -2)
        if names:
            self._pending.append(JobKilled(self.clock_s, names, killed))

    def _call(self, request: CallMeLater) -> None:
        if not request.at > self.clock_s:
            raise IllegalRequest(f"CALL_ME_LATER at {request.at} s, not after {self.clock_s} s")
        self._at(max(request.at, self.clock_s + 1e-5), self._called)

    def _register_profile(self, request: RegisterProfile) -> None:
        self._need_registration()
        profiles = self.profiles.setdefault(request.workload_name, {})
        if request.profile_name in profiles:
            raise IllegalRequest(f"REGISTER_PROFILE {request.profile_name!r} a second time")
        if not isinstance(request.profile.get("type"), str):
            raise IllegalRequest(f"REGISTER_PROFILE {request.profile!r} without a type")
        profiles[request.profile_name] = request.profile

    def _register_job(self, request: RegisterJob) -> None:
        self._need_registration()
        workload, _, _ = request.job_id.partition("!")
        profile = self.profiles.get(workload, {}).get(request.job["profile"])
        if profile is None or request.job_id in self._names:
            raise IllegalRequest(f"REGISTER_JOB {request.job_id!r}: its profile is missing, or its id was used before")
        self._names.add(request.job_id)
        walltime_s = request.job.get("walltime", -1)
        self.jobs[request.job_id] = Job(request.job["res"], walltime_s, profile, request.job["profile"])
        if self.world.acknowledged:
            self._pending.append(JobSubmitted(self.clock_s, request.job_id, request.job))

    def _need_registration(self) -> None:
        if not self.world.dynamic or self._finished_registration:
            raise IllegalRequest("a registration that is not allowed")

    def _registration(self, request: NotifyRegistration) -> None:
        self._finished_registration = request.finished

    def _metadata(self, request: SetJobMetadata) -> None:
        if request.job_id not in self.jobs:
            self._refuse(f"SET_JOB_METADATA of {request.job_id!r}, which does not exist")

    def _nothing(self, _: Any) -> None:
        """Do nothing."""

    _HANDLERS: ClassVar[dict[type, Callable[[Peer, Any], None]]] = {
        ExecuteJob: _execute,
        RejectJob: _reject,
        KillJob: _kill,
        CallMeLater: _call,
        RegisterProfile: _register_profile,
        RegisterJob: _register_job,
        NotifyRegistration: _registration,
        SetJobMetadata: _metadata,
        AnswerEstimate: _nothing,
    }
