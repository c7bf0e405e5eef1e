"""The server's handlers of the scheduler's requests, with the rules that Batsim enforces by aborting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from spillway.base.errors import shown
from spillway.protocol.limits import LATEST_S
from spillway.protocol.messages import (
    AnswerEstimate,
    CallMeLater,
    ChangeJobState,
    EnergyAnswer,
    ExecuteJob,
    JobState,
    KillJob,
    NotifyRegistration,
    QueryEnergy,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    Request,
    RunSubJobs,
    SetJobMetadata,
    SetResourceState,
    StopCalls,
    StopSimulation,
    ToJobMsg,
)
from spillway.simulator.engines.base import TaskSpec
from spillway.simulator.errors import SchedulerFault
from spillway.simulator.jobs.execution import Executor, Start
from spillway.simulator.jobs.io_job import merged_task
from spillway.simulator.jobs.job import Group, Job
from spillway.simulator.jobs.profiles import composed, read_profile
from spillway.simulator.jobs.profiles.base import DelayWork, Origin, ParallelWork, Placement, Profile
from spillway.simulator.jobs.profiles.linking import link_registered
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.identifiers import split_id
from spillway.simulator.reading.registry import Registry
from spillway.simulator.wire.kernel import PRECISION, Kernel
from spillway.simulator.wire.server import Server
from spillway.simulator.world.allocation import Allocation, Allocations
from spillway.simulator.world.energy import EnergyMeter
from spillway.simulator.world.machines import Machines, State
from spillway.simulator.world.placing import check_flops, placement
from spillway.simulator.world.power import PowerSwitches

_SHORTEST_WAIT_S = 1e-5
"""Shortest wait for a requested call, s; a call requested sooner comes after this time."""

_PERIOD_PRECISION = 1e-9
"""Rounding error allowed in ratios of periods, which are whole milliseconds."""

_MOST_KEPT = 2000
"""Most operations of jobs with tasks kept for another run."""


class _Placed(NamedTuple):
    """A job's allocation; its task, if it is a single one; its placement, except for a delay without mapping."""

    allocation: Allocation
    task: TaskSpec | None
    place: Placement | None


@dataclass(slots=True)
class _Period:
    """Periodic calls: period (s), number of calls left (0 or less: without end), time of the next one (s)."""

    seconds: float
    left: int
    next_s: float


class Requests:
    """Carries out the scheduler's requests.

    Every method named after a request raises :class:`ValueError` if Batsim aborts; :meth:`handle` turns it into a
    :class:`SchedulerFault` that names the job and the place in the reply.
    """

    def __init__(
        self,
        kernel: Kernel,
        server: Server,
        registry: Registry,
        machines: Machines,
        executor: Executor,
        power: PowerSwitches,
        meter: EnergyMeter | None,
        options: SimulationOptions,
    ) -> None:
        self._kernel = kernel
        self._server = server
        self._registry = registry
        self._machines = machines
        self._executor = executor
        self._power = power
        self._meter = meter
        self._options = options
        self._allocations = Allocations(machines)
        self._kept: dict[tuple[str, str], tuple[object, Profile, list[_Placed]]] = {}
        self._periods: dict[str, _Period] = {}
        self._ticker: int | None = None
        self._handlers: dict[type, Callable[[Any], list[Start | None] | None]] = {
            AnswerEstimate: self._answer_estimate,
            CallMeLater: self._call_me_later,
            ChangeJobState: self._change_job_state,
            ExecuteJob: self._execute_job,
            KillJob: self._kill_job,
            NotifyRegistration: self._notify_registration,
            QueryEnergy: self._query_energy,
            RegisterJob: self._register_job,
            RegisterProfile: self._register_profile,
            RejectJob: self._reject_job,
            RunSubJobs: self._run_sub_jobs,
            SetJobMetadata: self._set_job_metadata,
            SetResourceState: self._set_resource_state,
            StopCalls: self._stop_calls,
            StopSimulation: self._stop_simulation,
            ToJobMsg: self._to_job_msg,
        }

    def handle(self, request: Request, index: int) -> list[Start | None]:
        """Carry out one request; ``index`` is its place in the reply.

        Returns the starts of further messages of the same request, in their order (``None``: no start).
        """
        try:
            handler = self._handlers[type(request)]
        except KeyError:
            raise SchedulerFault(f"unknown request {shown(request)}", f"$.events[{index}]") from None
        try:
            return handler(request) or []
        except ValueError as fault:
            self._fail(request, index, str(fault))

    def ahead(self, request: Request, index: int) -> list[Start | None] | None:
        """Starts of the messages of a request (``None``: no start), registered or made ready now.

        ``None`` instead of a list if the time of the request matters.
        """
        kind = type(request)
        if kind is ExecuteJob:
            try:
                return [self._ready(request, index)]  # type: ignore[arg-type]
            except ValueError as fault:
                self._fail(request, index, str(fault))
        if kind is RunSubJobs or kind is RegisterProfile or (
            kind is RegisterJob and not self._options.acknowledge_dynamic_jobs
        ):  # fmt: skip
            return [None, *self.handle(request, index)]
        if isinstance(request, SetJobMetadata):
            job = self._registry.jobs.get(request.job_id)
            if job is not None and job.state is JobState.SUBMITTED:  # only the scheduler can change it
                return [None, *self.handle(request, index)]
        return None

    def _fail(self, request: Request, index: int, rule: str) -> NoReturn:
        job = getattr(request, "job_id", "")
        raise SchedulerFault(f"{_WIRE_NAMES[type(request)]}: {rule}", f"$.events[{index}].data", job) from None

    # ------------------------------------------------------------------ jobs

    def _execute_job(self, request: ExecuteJob) -> None:
        self._begin((self._ready(request, 0),), (self._kernel.clock,))

    def _ready(self, request: ExecuteJob, index: int) -> Start:
        """The start that a request demands."""
        job = self._registry.jobs.get(request.job_id) or self._registry.job(request.job_id)
        if job.state is not JobState.SUBMITTED:
            _refuse_state(job)
        profile, extra = job.profile, request.additional_io_job
        allocation, task, place = self._placed(
            profile, job.res, request.alloc, request.mapping, request.storage_mapping
        )
        if extra is not None:
            if task is None or place is None:
                raise ValueError(f"its profile {shown(profile.name)} ({profile.kind}) cannot take an additional_io_job")
            task = merged_task(job, task, place, extra, self._allocations, self._machines)
        return Start(job, allocation, task, place, index)

    def _placed(
        self,
        profile: Profile,
        res: int,
        hosts: tuple[int, ...],
        mapping: Mapping[int, int] | None,
        storage: Mapping[str, int] | None,
    ) -> _Placed:
        """Allocation, task and placement of a job of ``res`` resources on these hosts."""
        allocation = self._allocations.of(hosts)
        if not self._options.rules.sized:
            if mapping is None and res not in (0, len(allocation.ids)):
                mapping = {executor: executor % len(allocation.ids) for executor in range(res)}
        else:
            count = len(allocation.ids) if mapping is None else len(mapping)
            if count != res and not _elastic(profile):
                self._check_free(allocation)
                what = "'alloc' must have" if mapping is None else "'mapping' must have"
                raise ValueError(
                    f"its {what} as many places as the job requests, {res}, got {count} on {shown(allocation.text)}"
                )
        work = profile.work
        if isinstance(work, ParallelWork):
            place = placement(allocation, mapping, storage, self._machines)
            task = work.task(place)
            if allocation.storage and not (type(task.flops) is float and task.flops == 0.0):
                check_flops(task, place)
            return _Placed(allocation, task, place)
        if not isinstance(work, DelayWork) or mapping is not None:
            return _Placed(allocation, None, placement(allocation, mapping, storage, self._machines))
        return _Placed(allocation, None, None)

    def begin(self, starts: Sequence[Start], moments: Sequence[float], handles: Sequence[int] = ()) -> None:
        """Start jobs, each at its moment (s); several only if :meth:`.Executor.tasks_ahead` lets them begin ahead.

        ``handles`` are those of their tasks, if these run already.
        """
        if len(starts) > 1 and self._all_free(starts):
            self._server.running += len(starts)
            self._executor.start(starts, moments, handles)
            return
        for place, start in enumerate(starts):
            try:
                self._begin((start,), moments[place : place + 1], handles[place : place + 1])
            except ValueError as fault:
                raise SchedulerFault(f"EXECUTE_JOB: {fault}", f"$.events[{start.number}].data", start.job.id) from None

    def _begin(self, starts: Sequence[Start], moments: Sequence[float], handles: Sequence[int] = ()) -> None:
        for start in starts:
            if start.job.state is not JobState.SUBMITTED:
                _refuse_state(start.job)
            self._check_free(start.allocation)
        self._server.running += len(starts)
        self._executor.start(starts, moments, handles)

    def _all_free(self, starts: Sequence[Start]) -> bool:
        """Whether jobs can surely start one after another, checked all together."""
        machines, options = self._machines, self._options
        if not options.storage_sharing or self._meter is not None:
            return False
        used: set[int] = set()
        compute: list[int] = []
        for start in starts:
            if start.job.state is not JobState.SUBMITTED:
                return False
            used.update(start.allocation.ids)
            compute += start.allocation.compute
        if not options.compute_sharing:
            used_by = machines.jobs.__getitem__
            if len(set(compute)) < len(compute) or any(map(used_by, compute)):
                return False
        return _RUNNABLE.issuperset(map(machines.state.__getitem__, used))

    def _check_free(self, allocation: Allocation) -> None:
        machines, options = self._machines, self._options
        states, jobs = machines.state, machines.jobs
        compute = allocation.ids is allocation.compute and self._meter is None
        if compute and _IDLE.issuperset(map(states.__getitem__, allocation.ids)):
            return  # an idle compute host runs no job
        if not options.compute_sharing:
            for number in allocation.compute:
                if jobs[number]:
                    self._busy(number, "--enable-compute-sharing")
        if not options.storage_sharing:
            for number in allocation.storage:
                if jobs[number]:
                    self._busy(number, "storage sharing (leave out --disable-storage-sharing)")
        for number in allocation.ids:
            state = states[number]
            if state is not State.IDLE and state is not State.COMPUTING:
                name = machines.all[number].name
                raise ValueError(f"machine {number} ({shown(name)}) cannot compute now, it is {state.name.lower()}")
        if self._meter is not None:
            for number in allocation.ids:
                if not self._power.computes(number):
                    name = machines.all[number].name
                    raise ValueError(f"machine {number} ({shown(name)}) is not in a computation power state")

    def _busy(self, number: int, remedy: str) -> NoReturn:
        running = [
            job.id
            for job in self._registry.jobs.values()
            if job.state is JobState.RUNNING and job.allocation is not None and number in job.allocation.ids
        ]
        raise ValueError(
            f"machine {number} ({shown(self._machines.all[number].name)}) is in use by "
            f"{', '.join(running) or 'a job'}, and "
            f"sharing it needs {remedy}"
        )

    def _reject_job(self, request: RejectJob) -> None:
        job = self._registry.job(request.job_id)
        if job.state is not JobState.SUBMITTED:
            raise ValueError(f"only a SUBMITTED job can be rejected, it is {job.state.value}")
        self._server.job_rejected(job)

    def _kill_job(self, request: KillJob) -> None:
        if not (request.job_ids or self._options.rules.kills_again):
            raise ValueError("'job_ids' must name at least one job")
        jobs: list[Job] = []
        for job_id in request.job_ids:
            try:
                job = self._registry.job(job_id)
            except ValueError as fault:
                raise ValueError(f"{shown(job_id)}: {fault}") from None
            if job.kill_requested:
                continue
            if job.state is not JobState.RUNNING and not job.complete:
                raise ValueError(f"{shown(job_id)}: only a running job can be killed, it is {job.state.value}")
            if job.allocation is None:
                raise ValueError(f"{shown(job_id)}: it is RUNNING by CHANGE_JOB_STATE only, there is nothing to kill")
            job.kill_requested = True
            jobs.append(job)
        if jobs or self._options.rules.kills_again:
            self._server.killers += 1
            stop = self._executor.stop
            progress = {job.id: stop(job) for job in jobs if job.state is JobState.RUNNING}
            self._kernel.post_here(self._server.killing_done, (jobs, progress))

    def _set_job_metadata(self, request: SetJobMetadata) -> None:
        if '"' in request.metadata:
            raise ValueError(f"'metadata' must not contain a double quote, got {shown(request.metadata)}")
        self._registry.job(request.job_id).metadata = request.metadata

    def _change_job_state(self, request: ChangeJobState) -> None:
        job = self._registry.job(request.job_id)
        new = request.state
        if new not in _CHANGES:
            allowed = ", ".join(sorted(state.value for state in _CHANGES))
            raise ValueError(f"'job_state' must be one of {allowed}, got {new.value}")
        if job.state is not JobState.SUBMITTED or new is not JobState.RUNNING:
            raise ValueError(
                f"Batsim 4.2.1 can only change SUBMITTED to RUNNING and aborts on {job.state.value} to {new.value}"
            )
        job.state = JobState.RUNNING
        job.start = self._kernel.clock
        self._server.running += 1

    def _to_job_msg(self, request: ToJobMsg) -> None:
        job = self._registry.job(request.job_id)
        if job.inbox is None:
            job.inbox = []
        job.inbox.append(request.msg)
        self._executor.message_came(job)

    # ------------------------------------------------------------------ registration

    def check_registration(self, index: int, closed: bool) -> None:
        """Refuse a registration that is not allowed; ``index`` is the request's place in the reply."""
        if self._options.dynamic_jobs and not closed:
            return
        path = f"$.events[{index}]"
        if not self._options.dynamic_jobs:
            raise SchedulerFault("registering jobs and profiles needs --enable-dynamic-jobs", path)
        raise SchedulerFault(
            "nothing can be registered after the notification registration_finished (continue_registration does not "
            "help the next event of its reply: register in the next message)",
            path,
        )

    def _register_profile(self, request: RegisterProfile) -> None:
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

    def _register_job(self, request: RegisterJob) -> None:
        workload_name, name = split_id(request.job_id)
        workload = self._registry.find(workload_name)
        owner, separator, other = str(request.job.get("profile", "")).partition("!")
        if separator and self._options.rules.links and (linked := self._registry.find(owner)) is not None:
            workload = self._registry.workload(workload_name)
            workload.profiles.setdefault(request.job["profile"], linked.profile(other))
        if workload is None:
            raise ValueError(f"there is no workload {shown(workload_name)}; register a profile of it first")
        acknowledge = self._options.acknowledge_dynamic_jobs
        job = workload.read_job(request.job, "'job'", printed=True, keep=acknowledge)
        if job.name != name:
            raise ValueError(f"the 'id' in 'job' names another job, {shown(job.id)}")
        workload.claim(job)
        self._registry.enter(workload, (job,))
        self._server.submitted += 1
        if acknowledge:
            self._server.announce(job)
        else:
            job.state = JobState.SUBMITTED

    def _run_sub_jobs(self, request: RunSubJobs) -> list[Start | None]:
        """Register sub-jobs of one profile; on the wire that takes a message for each, and one to start each.

        Their workload is forgotten when the last of them has been reported, and made again for new ones.
        """
        workload = self._registry.workload(request.workload_name)
        workload.local = True
        profile, places = self._placed_tasks(request)
        workload.profiles[request.profile_name] = profile
        walltime, now = round(request.walltime, 6), round(request.timestamp, 6)
        begin, group = len(workload.name) + 1, Group(len(places))
        jobs: list[Job] = []
        starts: list[Start | None] = [None] * (len(request.ids) - request.known)
        for sub_id, (allocation, task, place) in zip(request.ids, places, strict=True):
            job = Job(
                workload, sub_id[begin:], sub_id, profile, now, len(allocation.ids), walltime, None, group,
                JobState.SUBMITTED,
            )  # fmt: skip
            jobs.append(job)
            starts.append(Start(job, allocation, task, place, 0))
        self._registry.enter(workload, jobs)
        self._server.submitted += len(jobs)
        return starts

    def _placed_tasks(self, request: RunSubJobs) -> tuple[Profile, list[_Placed]]:
        """Profile, allocations, tasks and placements of sub-jobs; kept for the next request of the same sub-jobs.

        Sub-jobs with the same task share its placement, too.
        """
        key = request.workload_name, request.profile_name
        kept = self._kept.get(key)
        if kept is not None and kept[0] is request.tasks:
            return kept[1], kept[2]
        profile = read_profile(request.profile_name, request.profile)
        profile.source = {}
        known: dict[int, _Placed] = {}
        places: list[_Placed] = []
        for task in request.tasks:
            place = known.get(id(task))
            if place is None:
                hosts, storage = task
                place = known[id(task)] = self._placed(profile, len(hosts), hosts, None, storage)
            places.append(place)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = request.tasks, profile, places
        return profile, places

    def _notify_registration(self, request: NotifyRegistration) -> None:
        self._server.registration_finished = request.finished

    # ------------------------------------------------------------------ time, power, energy

    def _call_me_later(self, request: CallMeLater) -> None:
        now = self._kernel.clock
        moment = request.at
        if request.period_s:
            self._call_again_and_again(request)
            return
        if self._options.rules.late_calls and moment <= now:
            self._server.waiters += 1
            self._kernel.spawn(lambda: self._call((request.name, True)))
            return
        if not now < moment <= LATEST_S:
            raise ValueError(
                f"'timestamp' must lie after the present time {now:.9g} and be at most {LATEST_S:.0f}, got {moment!r}"
            )
        self._server.waiters += 1
        moment = moment if moment - now >= _SHORTEST_WAIT_S else now + _SHORTEST_WAIT_S
        self._kernel.at(moment, self._call, (request.name, True))

    def _call(self, call: tuple[str, bool]) -> None:
        if not self._server.ends_sent:
            self._kernel.post_here(self._server.waiting_done, call)

    def _call_again_and_again(self, request: CallMeLater) -> None:
        """Begin periodic calls; Batsim 5 calls at multiples of the period, counted from the simulation's start."""
        name, period_s = request.name, request.period_s
        if name in self._periods:
            raise ValueError(f"calls of the name {shown(name)} are under way already")
        for other_s in [period.seconds for period in self._periods.values()]:
            ratio = max(period_s, other_s) / min(period_s, other_s)
            if abs(ratio - round(ratio)) > _PERIOD_PRECISION:
                raise ValueError(f"a period must be a multiple of the shorter ones, got {period_s:g} and {other_s:g} s")
        self._server.waiters += 1
        self._periods[name] = _Period(period_s, request.times, self._multiple(period_s))
        self._await_tick()

    def _multiple(self, period_s: float) -> float:
        """The next multiple of a period (s)."""
        return (math.floor(self._kernel.clock / period_s + _PERIOD_PRECISION) + 1) * period_s

    def _await_tick(self) -> None:
        if self._ticker is not None:
            self._kernel.forget(self._ticker)
        moments = [period.next_s for period in self._periods.values()]
        self._ticker = self._kernel.at(min(moments), self._tick) if moments else None

    def _tick(self, _: object) -> None:
        """Send the periodic calls of this moment, in the order of their names."""
        self._ticker = None
        for name, period in sorted(self._periods.items()):
            if period.next_s > self._kernel.clock + PRECISION:
                continue
            period.left -= 1
            period.next_s = self._multiple(period.seconds)
            if period.left == 0:
                del self._periods[name]
            self._call((name, period.left == 0))
        self._await_tick()

    def _stop_calls(self, request: StopCalls) -> None:
        """Stop periodic calls; a name without periodic calls is ignored."""
        if self._periods.pop(request.name, None) is not None:
            self._server.waiters -= 1
            self._await_tick()

    def _stop_simulation(self, _: StopSimulation) -> None:
        self._server.forced = True

    def _set_resource_state(self, request: SetResourceState) -> None:
        self._power.request(request.resources, request.state)

    def _query_energy(self, _: QueryEnergy) -> None:
        if self._meter is None:
            raise ValueError("a request for the consumed energy needs --energy")
        joules = self._meter.total(self._kernel.clock)
        self._server.pending.append(EnergyAnswer(self._server.now, round(joules, 6)))

    def _answer_estimate(self, _: AnswerEstimate) -> None:
        """Do nothing: Batsim reads an answer and ignores it."""


def _elastic(profile: Profile) -> bool:
    """Whether a job of this profile may run on any number of machines."""
    if profile.elastic:
        return True
    parts = profile.work.parts if isinstance(profile.work, composed.Sequence) else None
    return bool(parts) and all(part.elastic for part in parts or ())


_IDLE = frozenset((State.IDLE,))
_RUNNABLE = frozenset((State.IDLE, State.COMPUTING))


def _refuse_state(job: Job) -> NoReturn:
    raise ValueError(f"only a SUBMITTED job can be executed, it is {job.state.value}")


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
    ExecuteJob: "EXECUTE_JOB",
    KillJob: "KILL_JOB",
    NotifyRegistration: "NOTIFY",
    QueryEnergy: "QUERY",
    RegisterJob: "REGISTER_JOB",
    RegisterProfile: "REGISTER_PROFILE",
    RejectJob: "REJECT_JOB",
    RunSubJobs: "RunSubJobs",
    SetJobMetadata: "SET_JOB_METADATA",
    SetResourceState: "SET_RESOURCE_STATE",
    StopCalls: "StopCallMeLaterEvent",
    StopSimulation: "ForceSimulationStopEvent",
    ToJobMsg: "TO_JOB_MSG",
}
