"""Uncontended duration of a job, calculated on its own nodes: no session, no messages, no other jobs.

The operations of its program (:meth:`spillway.schedulers.jobmodels.base.JobModel.program`) become tasks of the fluid
engine, as in a simulation; between them come the delays of Batsim's server: it receives one message after another, each
takes as long as one byte from the job's first host, and the scheduler answers at whole microseconds. So the time equals
that of a simulation of this job only (up to the resolution of a clock of microseconds, if a job before it was late).

Some jobs are left to a simulation (:class:`NotCalculated`): those that reach their walltime, wait for a stated time, or
have a profile of several parts.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from spillway.core import Hosts, WorkKind, task_on
from spillway.platforms.model import Platform
from spillway.protocol.messages import BatsimConfig, JsonObject, SimulationBegins
from spillway.schedulers.jobmodels.base import Compute, Done, Granted, JobModel, Program, Transfer
from spillway.schedulers.jobmodels.hosts import hosts_of
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.sub_jobs import SHORTEST_WALLTIME_S, Lowered, Task, lower, profile_key
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.simulator.engines.adapter import task_spec
from spillway.simulator.engines.base import Engine, TaskSpec
from spillway.simulator.jobs.profiles import read_profile
from spillway.simulator.world.machines import Machines


class NotCalculated(Exception):
    """A job needs a simulation; the message has the reason."""


@dataclass(slots=True, eq=False)
class _Part:
    """A running operation: its stage and begin, its unreported sub-jobs, and whether it runs beside a computation."""

    stage: str
    began_s: float
    left: int
    beside: bool


class _Start(msgspec.Struct, frozen=True, eq=False):
    """The work that one message of the scheduler starts: a task or a sleep (s); its end arrives ``latency_s`` later."""

    what: TaskSpec | float
    part: _Part
    latency_s: float


class _Layout(NamedTuple):
    """The scheduler's form of an operation: its profile, and the work of each sub-job with its latency (s).

    The profile is kept so that no other object gets its ``id()``.
    """

    key: Hashable
    profile: JsonObject
    starts: list[tuple[TaskSpec | float, float]]


class UncontendedTimes:
    """Calculates jobs one after another, on one clock.

    Parameters
    ----------
    platform
        The machine.
    engine
        A fluid engine on it, without tasks; the caller closes it.
    model
        The jobs' model.
    """

    def __init__(self, platform: Platform, engine: Engine, model: JobModel) -> None:
        self._engine = engine
        self._model = model
        self._machines = machines = Machines(platform, {})
        self._machine = Machine.from_simulation_begins(
            SimulationBegins(0.0, machines.compute_infos, machines.storage_infos, BatsimConfig(), False, True, {}, {})
        )
        self._hosts = hosts_of(self._machine)
        self._free_s = 0.0

    @property
    def machine(self) -> Machine:
        """The scheduler's view of the machine."""
        return self._machine

    def play(self, job: Job, allocation: Allocation, submitted_s: float) -> JobRecord:
        """Calculate a job's record: its start and end, including drains, and the seconds of its stages.

        Parameters
        ----------
        job
            The job.
        allocation
            Its allocation.
        submitted_s
            Its submission, not before the job calculated last; it starts then, or at the end of that job.

        Raises
        ------
        NotCalculated
            Only a simulation can play it; no task of it is left in the engine.
        """
        lone = _LoneJob(self._engine, self._machines, self._machine, self._hosts, job, allocation)
        try:
            lone.play(self._model, max(submitted_s, self._free_s))
        finally:
            lone.leave()
        self._free_s = self._engine.clock
        return lone.record


class _LoneJob:
    """One job, its running operations, and the messages to the server: ends and the scheduler's requests."""

    def __init__(
        self, engine: Engine, machines: Machines, machine: Machine, hosts: Hosts, job: Job, allocation: Allocation
    ) -> None:
        self._engine = engine
        self._machines = machines
        self._own_s = machines.own_message_s
        self._machine = machine
        self._hosts = hosts
        self._job = job
        self._allocation = allocation
        self._tasks: dict[int, _Start] = {}
        self._sleeps: list[tuple[float, _Start]] = []
        self._mailbox: deque[_Start | None] = deque()  # None: the scheduler's next request
        self._arriving: _Start | None = None
        self._arrival_s = self._wake_s = self._deadline_s = math.inf
        self._pending: list[_Part] = []
        self._requests: deque[_Start | None] = deque()  # None: a request that starts nothing
        self._ready = True
        self._known: set[Hashable] = set()
        self._layouts: dict[Hashable, _Layout] = {}
        self._program: Program | None = None
        self._beside = 0
        self.record = JobRecord(job, allocation, math.nan)

    def play(self, model: JobModel, submitted_s: float) -> None:
        """Play the job from start to end."""
        engine = self._engine
        if submitted_s >= engine.clock:
            engine.advance(submitted_s)
            engine.advance(submitted_s + self._own_s)
        self.record.start_s = start_s = round(engine.clock, 6)
        self._deadline_s = start_s + self._job.walltime_s - SHORTEST_WALLTIME_S
        self._program = self._whole(model, Granted(self._allocation, start_s))
        self._requests.extend([None] * (1 + (self._job.bb_bytes > 0)))  # SET_JOB_METADATA, REJECT_JOB
        self._answer([])
        while math.isnan(self.record.end_s):
            self._step()

    def leave(self) -> None:
        """Cancel the job's tasks in the engine."""
        for handle in self._tasks:
            self._engine.cancel(handle)

    def _whole(self, model: JobModel, granted: Granted) -> Program:
        yield from model.stage_in(self._job)
        yield from model.program(self._job, granted, self._machine)
        yield from model.stage_out(self._job)

    # ------------------------------------------------------------------ time

    def _step(self) -> None:
        """Move to the next event: an end, the arrival of a message, the time of the scheduler's answer."""
        engine = self._engine
        other = self._wake_s
        if self._sleeps:
            other = min(other, min([moment for moment, _ in self._sleeps]))
        limit = self._deadline_s if self._program is not None else math.inf
        handles = self._hear(min(other, limit)) if self._mailbox else []
        if handles is None:
            self._receive()
            return
        if not handles:
            handles = engine.advance(max(min(self._arrival_s, other, limit), engine.clock))
        until = min(self._arrival_s, other)
        ended = [self._tasks.pop(handle) for handle in handles]
        now = engine.clock
        if now >= limit:
            raise NotCalculated("it reaches its walltime")
        if not ended and now < until:
            raise NotCalculated("it makes no progress")
        for sleep in [one for one in self._sleeps if one[0] <= now]:
            self._sleeps.remove(sleep)
            ended.append(sleep[1])
        request = False
        if now >= self._arrival_s:
            arrived, self._arriving, self._arrival_s = self._arriving, None, math.inf
            if arrived is None:
                request = self._carry_out()
            else:
                self._pending.append(arrived.part)
            self._report()
        if now >= self._wake_s:
            self._wake_s = math.inf
            request = True
        if request:
            self._mailbox.append(None)
        self._mailbox.extend(ended)
        self._receive()

    def _hear(self, before_s: float) -> list[int] | None:
        """Receive ends one after another, while each is followed by a waiting message.

        Returns the tasks that end meanwhile; ``None`` if no task ends, and the next message is to be received.
        """
        heard: list[_Start] = []
        moments: list[float] = []
        post, moment = self._arriving, self._arrival_s
        for following in self._mailbox:
            if post is None or not moment < before_s:
                break
            heard.append(post)
            moments.append(moment)
            post = following
            moment += 0.0 if post is None else post.latency_s
        if not heard:
            return []
        passed, _, ended = self._engine.advance_through(moments)
        self._pending += [start.part for start in heard[:passed]]
        for _ in range(min(passed, len(moments) - 1)):
            self._mailbox.popleft()
        if passed == len(moments):
            self._arriving, self._arrival_s = None, math.inf
            return None
        self._arriving, self._arrival_s = heard[passed], moments[passed]
        return ended

    def _receive(self) -> None:
        """Receive the next message; a message of the scheduler takes no time if the clock does not resolve it."""
        engine = self._engine
        while self._arrival_s == math.inf and self._mailbox:
            self._arriving = self._mailbox.popleft()
            latency_s = self._own_s if self._arriving is None else self._arriving.latency_s
            self._arrival_s = engine.clock + latency_s
            if self._arriving is None and self._arrival_s == engine.clock and not self._mailbox:
                self._arrival_s = math.inf
                while self._carry_out():
                    pass
                self._report()

    def _report(self) -> None:
        """Report the arrived ends, if no message waits and the scheduler's last answer has been carried out."""
        if self._pending and not self._mailbox and self._ready:
            pending, self._pending = self._pending, []
            self._answer(pending)

    # ------------------------------------------------------------------ the scheduler's side

    def _answer(self, reported: list[_Part]) -> None:
        """Answer, as the scheduler, the reported ends: begin the next operations, at whole microseconds."""
        now_s = round(self._engine.clock, 6)
        if not reported:
            self._go_on(None, now_s)
        for part in reported:
            part.left -= 1
            if part.beside or not part.left:  # beside a computation, times are summed over requests, as in records
                self.record.took(part.stage, now_s - part.began_s)
            if part.left:
                continue
            if part.beside:
                self._beside -= 1
            else:
                self._go_on(Done(now_s, now_s, now_s), now_s)
        if self._program is None and not self._beside:
            self.record.end_s = now_s
        self._ready = False
        if now_s > self._engine.clock:
            self._wake_s = now_s
        else:
            self._mailbox.append(None)
            self._receive()

    def _carry_out(self) -> bool:
        """Carry out the scheduler's next request, or all if they take no time; return whether it had any."""
        if not self._requests:
            self._ready = True
            return False
        starts = [self._requests.popleft()]
        if self._arrival_s == math.inf and self._engine.clock + self._own_s == self._engine.clock:
            starts += self._requests
            self._requests.clear()
        specs, owners = [], []
        for start in starts:
            if start is not None and isinstance(start.what, TaskSpec):
                specs.append(start.what)
                owners.append(start)
            elif start is not None:
                self._sleeps.append((self._engine.clock + start.what, start))  # type: ignore[operator]
        if specs:
            self._tasks.update(zip(self._engine.start_many(specs), owners, strict=True))
        return True

    def _go_on(self, done: Done | None, now_s: float) -> None:
        """Queue the requests for the next operation of the program."""
        assert self._program is not None
        try:
            operation = self._program.send(done)  # type: ignore[arg-type]  # None begins a generator
        except StopIteration:
            self._program = None
            return
        if not isinstance(operation, Compute | Transfer):
            raise NotCalculated(f"its program has a {type(operation).__name__}")
        self._lay_out(operation, now_s, beside=False)
        if isinstance(operation, Compute) and operation.beside is not None:
            self._beside += 1
            self._lay_out(operation.beside, now_s, beside=True)

    def _lay_out(self, operation: Compute | Transfer, now_s: float, *, beside: bool) -> None:
        """Queue the scheduler's requests for an operation: to register its sub-jobs, then to start each."""
        layout = self._layout(operation)
        registrations = len(layout.starts) + (layout.key not in self._known)
        self._known.add(layout.key)
        part = _Part(operation.stage, now_s, len(layout.starts), beside)
        self._requests.extend([None] * registrations)
        self._requests.extend([_Start(what, part, latency_s) for what, latency_s in layout.starts])

    def _layout(self, operation: Compute | Transfer) -> _Layout:
        """An operation in the simulator's terms; kept, since a job repeats its operations."""
        nodes = tuple(operation.nodes if operation.nodes is not None else self._allocation.nodes)
        if isinstance(operation, Compute):
            same: Hashable = (id(operation.profile), nodes)
        else:
            same = (operation.source, operation.destination, operation.bytes_per_node, nodes)
        found = self._layouts.get(same)
        if found is None:
            if isinstance(operation, Compute):
                lowered = Lowered(operation.profile, (Task(self._machine.alloc_ids(nodes)),))
            else:
                lowered = lower(operation, nodes, self._allocation, self._hosts)
            key = profile_key(lowered.profile)
            found = self._layouts[same] = _Layout(key, lowered.profile, list(self._starts(lowered)))
        return found

    def _starts(self, lowered: Lowered) -> Iterator[tuple[TaskSpec | float, float]]:
        work = read_profile("", lowered.profile).work
        states = self._machines.states
        for hosts, storage in lowered.tasks:
            latency_s = states.latency(min(hosts))
            if work.kind is WorkKind.DELAY:
                yield work.seconds, latency_s
            elif work.is_task:
                yield task_spec(*task_on(work, states, hosts, list((storage or {}).items()))), latency_s
            else:
                raise NotCalculated(f"its profile is of type {lowered.profile['type']}")
