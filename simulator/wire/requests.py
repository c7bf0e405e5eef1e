"""Requests of the scheduler that are rare: registration by objects, and all that the loop does not carry out itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from spillway.base.errors import shown
from spillway.core import Loop, Profile, SimulatedJob, Timer, WorkKind
from spillway.protocol.messages import (
    AdditionalIoJob,
    AnswerEstimate,
    CallMeLater,
    ChangeJobState,
    EnergyAnswer,
    JobState,
    JsonObject,
    NotifyRegistration,
    QueryEnergy,
    RegisterJob,
    RegisterProfile,
    Request,
    SetResourceState,
    StopCalls,
    StopSimulation,
    ToJobMsg,
)
from spillway.simulator.errors import SchedulerFault
from spillway.simulator.jobs.profiles import read_profile
from spillway.simulator.jobs.profiles.base import Origin
from spillway.simulator.jobs.profiles.linking import link_registered
from spillway.simulator.jobs.programs import Programs
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.identifiers import split_id
from spillway.simulator.reading.registry import Registry
from spillway.simulator.world.energy import EnergyMeter
from spillway.simulator.world.power import PowerSwitches

_PERIOD_PRECISION = 1e-9
"""Rounding error allowed in ratios of periods, which are whole milliseconds."""

_TICK_PRECISION_S = 1e-9
"""Calls closer together than this are one instant (SimGrid's ``precision/timing``), s."""


@dataclass(slots=True)
class _Period:
    """Periodic calls: period (s), number of calls left (0 or less: without end), time of the next one (s)."""

    seconds: float
    left: int
    next_s: float


class Registrations:
    """Registers profiles and jobs by objects as they come over the wire.

    Every method named after a request raises :class:`SchedulerFault` if Batsim aborts; ``index`` is the place of the
    request in the reply.
    """

    def __init__(self, loop: Loop, registry: Registry, options: SimulationOptions) -> None:
        self._loop = loop
        self._registry = registry
        self._options = options

    def profile(self, request: RegisterProfile, index: int) -> None:
        """Register a profile."""
        try:
            self._profile(request)
        except ValueError as fault:
            _fail("REGISTER_PROFILE", index, str(fault))

    def describe(self, workload: str, name: str, profile: JsonObject, index: int) -> Profile:
        """The profile that a scheduler of this process registers, whose jobs refer to it."""
        try:
            read = read_profile(name, profile, Origin(reprinted=self._options.rules.reprints))
        except ValueError as fault:
            _fail("REGISTER_PROFILE", index, str(fault))
        if read.work.kind is WorkKind.PROGRAM:  # it looks profiles up in its workload
            self._registry.workload(workload).profiles[name] = read
        return read

    def job(self, request: RegisterJob, index: int) -> SimulatedJob:
        """Register a job."""
        try:
            return self._job(request)
        except ValueError as fault:
            _fail("REGISTER_JOB", index, str(fault), request.job_id)

    def extra(self, job: SimulatedJob, io: AdditionalIoJob, index: int) -> Profile:
        """The profile of the I/O that is merged into a job."""
        try:
            return self._extra(job, io)
        except ValueError as fault:
            _fail("EXECUTE_JOB", index, str(fault), job.id)

    def _profile(self, request: RegisterProfile) -> None:
        workload = self._registry.workload(request.workload_name)
        name = request.profile_name
        if name in workload.profiles:
            raise ValueError(
                f"workload {shown(workload.name)} has, or had, a profile {shown(name)} already; every "
                "profile needs an own name"
            )
        profile = read_profile(name, request.profile, Origin(reprinted=self._options.rules.reprints))
        if self._options.rules.links:
            link_registered(profile, workload.profiles)
        if not self._options.forward_profiles:
            profile.source = {}
        workload.profiles[name] = profile

    def _job(self, request: RegisterJob) -> SimulatedJob:
        workload_name, name = split_id(request.job_id)
        workload = self._registry.find(workload_name)
        owner, separator, other = str(request.job.get("profile", "")).partition("!")
        if separator and self._options.rules.links and (linked := self._registry.find(owner)) is not None:
            workload = self._registry.workload(workload_name)
            workload.profiles.setdefault(request.job["profile"], linked.profile(other))
        if workload is None:
            raise ValueError(f"there is no workload {shown(workload_name)}; register a profile of it first")
        job = workload.read_job(request.job, lambda: "'job'", printed=True, keep=self._options.acknowledge_dynamic_jobs)
        if job.name != name:
            raise ValueError(f"the 'id' in 'job' names another job, {shown(job.id)}")
        workload.claim(job)
        self._registry.enter(workload)
        if separator:
            job.foreign_profile = request.job["profile"]
        if not self._options.rules.old_rows:
            job.energy = 0.0
        if self._options.rules.submits_now:
            job.subtime = self._loop.clock
            job.source = job.source and {**job.source, "subtime": job.subtime}
        return job

    def _extra(self, job: SimulatedJob, io: AdditionalIoJob) -> Profile:
        workload = self._registry.workload_of(job)
        if io.profile is not None:
            if io.profile_name in workload.profiles:
                raise ValueError(
                    f"additional_io_job: the profile {shown(io.profile_name)} exists already, do not give it again"
                )
            workload.profiles[io.profile_name] = read_profile(io.profile_name, io.profile)
        return workload.profile(io.profile_name)


class OtherRequests:
    """Carries out the requests that only this side of the simulator reads.

    Every method named after a request raises :class:`ValueError` if Batsim aborts; :meth:`handle` turns it into a
    :class:`SchedulerFault` that names the job and the place in the reply.
    """

    def __init__(
        self,
        loop: Loop,
        programs: Programs,
        power: PowerSwitches,
        meter: EnergyMeter | None,
        find: Callable[[str], SimulatedJob],
        later: Callable[[Callable[[], None]], int],
    ) -> None:
        self._loop = loop
        self._programs = programs
        self._power = power
        self._meter = meter
        self._find = find
        self._later = later
        self._periods: dict[str, _Period] = {}
        self._ticker: Timer | None = None
        self._handlers: dict[type, Callable[[Any], None]] = {
            AnswerEstimate: self._answer_estimate,
            CallMeLater: self._call_again_and_again,
            ChangeJobState: self._change_job_state,
            NotifyRegistration: self._notify_registration,
            QueryEnergy: self._query_energy,
            SetResourceState: self._set_resource_state,
            StopCalls: self._stop_calls,
            StopSimulation: self._stop_simulation,
            ToJobMsg: self._to_job_msg,
        }

    def handle(self, request: Request, index: int) -> None:
        """Carry out one request; ``index`` is its place in the reply."""
        handler = self._handlers.get(type(request))
        if handler is None:
            raise SchedulerFault(f"unknown request {shown(request)}", f"$.events[{index}]")
        try:
            handler(request)
        except ValueError as fault:
            _fail(_WIRE_NAMES[type(request)], index, str(fault), getattr(request, "job_id", ""))

    def _change_job_state(self, request: ChangeJobState) -> None:
        job = self._find(request.job_id)
        new = request.state
        if new not in _CHANGES:
            allowed = ", ".join(sorted(state.value for state in _CHANGES))
            raise ValueError(f"'job_state' must be one of {allowed}, got {new.value}")
        if job.state != JobState.SUBMITTED.value or new is not JobState.RUNNING:
            raise ValueError(
                f"Batsim 4.2.1 can only change SUBMITTED to RUNNING and aborts on {job.state} to {new.value}"
            )
        self._loop.set_running(job)

    def _to_job_msg(self, request: ToJobMsg) -> None:
        self._programs.message(self._find(request.job_id), request.msg)

    def _notify_registration(self, request: NotifyRegistration) -> None:
        self._loop.registration_finished = request.finished

    # ------------------------------------------------------------------ calls

    def _call_again_and_again(self, request: CallMeLater) -> None:
        """Begin periodic calls; Batsim 5 calls at multiples of the period, counted from the simulation's start."""
        name, period_s = request.name, request.period_s
        if name in self._periods:
            raise ValueError(f"calls of the name {shown(name)} are under way already")
        for other_s in [period.seconds for period in self._periods.values()]:
            ratio = max(period_s, other_s) / min(period_s, other_s)
            if abs(ratio - round(ratio)) > _PERIOD_PRECISION:
                raise ValueError(f"a period must be a multiple of the shorter ones, got {period_s:g} and {other_s:g} s")
        self._loop.waiters += 1
        self._periods[name] = _Period(period_s, request.times, self._multiple(period_s))
        self._await_tick()

    def _multiple(self, period_s: float) -> float:
        """The next multiple of a period (s)."""
        return (math.floor(self._loop.clock / period_s + _PERIOD_PRECISION) + 1) * period_s

    def _await_tick(self) -> None:
        if self._ticker is not None:
            self._loop.forget(self._ticker)
        moments = [period.next_s for period in self._periods.values()]
        self._ticker = self._loop.at(min(moments), self._later(self._tick)) if moments else None

    def _tick(self) -> None:
        """Send the periodic calls of this moment, in the order of their names."""
        self._ticker = None
        for name, period in sorted(self._periods.items()):
            if period.next_s > self._loop.clock + _TICK_PRECISION_S:
                continue
            period.left -= 1
            period.next_s = self._multiple(period.seconds)
            if period.left == 0:
                del self._periods[name]
            self._loop.call(name, period.left == 0)
        self._await_tick()

    def _stop_calls(self, request: StopCalls) -> None:
        """Stop periodic calls; a name without periodic calls is ignored."""
        if self._periods.pop(request.name, None) is not None:
            self._loop.waiters -= 1
            self._await_tick()

    def _stop_simulation(self, _: StopSimulation) -> None:
        self._loop.stop()

    # ------------------------------------------------------------------ power, energy

    def _set_resource_state(self, request: SetResourceState) -> None:
        self._power.request(request.resources, request.state)

    def _query_energy(self, _: QueryEnergy) -> None:
        if self._meter is None:
            raise ValueError("a request for the consumed energy needs --energy")
        joules = self._meter.total(self._loop.clock)
        self._loop.tell(EnergyAnswer(self._loop.now, round(joules, 6)))

    def _answer_estimate(self, _: AnswerEstimate) -> None:
        """Do nothing: Batsim reads an answer and ignores it."""


def _fail(name: str, index: int, rule: str, job: str = "") -> NoReturn:
    raise SchedulerFault(f"{name}: {rule}", f"$.events[{index}].data", job) from None


_CHANGES = frozenset(
    {
        JobState.NOT_SUBMITTED,
        JobState.RUNNING,
        JobState.COMPLETED_SUCCESSFULLY,
        JobState.COMPLETED_WALLTIME_REACHED,
        JobState.COMPLETED_KILLED,
        JobState.REJECTED,
    }
)

_WIRE_NAMES: dict[type, str] = {
    AnswerEstimate: "ANSWER",
    CallMeLater: "CALL_ME_LATER",
    ChangeJobState: "CHANGE_JOB_STATE",
    NotifyRegistration: "NOTIFY",
    QueryEnergy: "QUERY",
    SetResourceState: "SET_RESOURCE_STATE",
    StopCalls: "StopCallMeLaterEvent",
    StopSimulation: "ForceSimulationStopEvent",
    ToJobMsg: "TO_JOB_MSG",
}
