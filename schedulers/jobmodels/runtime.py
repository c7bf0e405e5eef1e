"""The one runtime that plays job models: sub-jobs, kills, walltimes, turns at the I/O gate and ends of jobs.

Each running job is a process: its program (:mod:`spillway.schedulers.jobmodels.base`), and the parts of its present
operation that run or wait for a turn. Each task has one place:

=======================  ============================================================================================
naming of sub-jobs       :mod:`spillway.schedulers.jobmodels.sub_jobs`
killing                  :meth:`ProgramRuntime.kill`
walltimes                :meth:`ProgramRuntime._remaining`; :meth:`ProgramRuntime._expire` if no part of a job runs
staging                  :meth:`ProgramRuntime.stage`, :meth:`ProgramRuntime.unstage`; :meth:`ProgramRuntime._program`
waits and time-outs      :meth:`ProgramRuntime._set_timer`, :meth:`ProgramRuntime._timer_ended`
turns                    :meth:`ProgramRuntime._queue`, :meth:`ProgramRuntime._serve`
outages                  :meth:`ProgramRuntime.outage`, :meth:`ProgramRuntime._abandon`
the end of a job         :meth:`ProgramRuntime._end_if_through`
=======================  ============================================================================================

One walltime covers all operations of a job; transfers beside a computation have no walltime, and outlive a kill: their
bytes are safe only at their destination. Dynamic ``composed`` profiles are not used: Batsim 4 cannot execute them.

Operations that run on a host when it becomes unavailable continue (Batsim's rule). A job is killed when its next
operation would have to start on a node or a storage node that is out; its data there is lost. The file system belongs
to no job: transfers with it wait until it is back, while walltimes continue.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Any, ClassVar, NamedTuple

import msgspec

from spillway.base.errors import DecisionRefused, RemoteProtocolError
from spillway.protocol.limits import LATEST_S
from spillway.protocol.messages import (
    BatsimConfig,
    CallMeLater,
    Event,
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    JsonObject,
    KillJob,
    RejectJob,
    Request,
    RequestedCall,
    SetJobMetadata,
    SubJobsCompleted,
)
from spillway.schedulers.core.execution import NOTHING, Ended, Released, Staged, Step
from spillway.schedulers.jobmodels.base import (
    Compute,
    Done,
    FileSystem,
    GiveBack,
    Granted,
    JobModel,
    Operation,
    Program,
    Publish,
    Report,
    Shrinks,
    Submitted,
    Transfer,
    Wait,
)
from spillway.schedulers.jobmodels.gates import Gate, Shared
from spillway.schedulers.jobmodels.io_nodes import IoNodes
from spillway.schedulers.jobmodels.record import BufferTimes, JobRecord, without_nodes
from spillway.schedulers.jobmodels.restarts import Restarts
from spillway.schedulers.jobmodels.streams import Streams
from spillway.schedulers.jobmodels.sub_jobs import SHORTEST_WALLTIME_S, SubJobs, require_dynamic_jobs
from spillway.schedulers.jobmodels.transfers import Lowered, Task, is_striped, lower, volume
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.staging import STAGING_SECONDS, StageLimits, staging_of
from spillway.schedulers.timeline import Resource

KILLED = (JobState.COMPLETED_KILLED, -2)
_TIMED_OUT = (JobState.COMPLETED_WALLTIME_REACHED, -1)
SUCCESS = (JobState.COMPLETED_SUCCESSFULLY, 0)


class _Process(msgspec.Struct, eq=False):
    """A running job.

    ``live`` are the running parts of the present operation, ``beside`` those that run beside it; ``waiting`` and
    ``waiting_beside`` the turns that have not come; ``timer`` the number of the timer that ends its present
    :class:`Wait`, or -1; ``staging`` whether it has no nodes yet and its burst buffer is being filled, or full;
    ``outcome`` the final state, once it is clear; ``over`` whether its program has ended; ``stopped`` whether a kill of
    its running parts was requested; ``watched`` whether a call at the end of its walltime was requested; ``reason`` why
    it cannot continue; ``spoilt`` whether one of its storage nodes went out; ``lowered`` its operations on all its
    nodes in the simulator's terms: most are run more than once; ``entered_s`` the time at which it became a process
    (s), ``at_gate`` whether it has an account at the I/O gate.
    """

    job: Job
    allocation: Allocation
    program: Program
    record: JobRecord
    sub_jobs: SubJobs
    entered_s: float
    at_gate: bool = False
    operation: Submitted | Compute | Transfer | Wait | None = None
    ready_s: float = 0.0
    began_s: float = math.nan
    live: list[_Part] = msgspec.field(default_factory=list)
    beside: list[_Part] = msgspec.field(default_factory=list)
    waiting: set[str] = msgspec.field(default_factory=set)
    waiting_beside: set[str] = msgspec.field(default_factory=set)
    timer: int = -1
    staging: bool = False
    outcome: tuple[JobState, int] | None = None
    over: bool = False
    stopped: bool = False
    watched: bool = False
    reason: str = ""
    spoilt: bool = False
    lowered: dict[Hashable, Lowered] = msgspec.field(default_factory=dict)


class _Part(msgspec.Struct, eq=False):
    """An operation, or its part on some nodes, that runs: the one record of its sub-jobs.

    ``left`` are the sub-jobs that have not ended, in their order; ``beside`` whether it runs beside a computation since
    ``began_s``; ``turn`` the turn at the I/O gate that it holds, if any; ``abandoned`` whether its job continues, or
    has ended, without it.
    """

    process: _Process
    operation: Submitted | Compute | Transfer
    left: dict[str, None]
    began_s: float
    beside: bool = False
    turn: str = ""
    abandoned: bool = False


class _Turn(NamedTuple):
    """A part of an operation that waits for its turn at an I/O node."""

    process: _Process
    operation: Compute | Transfer
    nodes: tuple[int, ...]
    beside: bool


class _Follow(Step):
    """The step that follows from an event, while it is being built."""

    requests: list[Request] = msgspec.field(default_factory=list)
    ended: list[Ended] = msgspec.field(default_factory=list)
    released: list[Released] = msgspec.field(default_factory=list)
    staged: list[Staged] = msgspec.field(default_factory=list)
    granted: deque[str] = msgspec.field(default_factory=deque)


class ProgramRuntime:
    """Plays the programs of a job model.

    Parameters
    ----------
    model
        The job model.
    gate
        Gate that decides which transfers with the file system may run; by default all of them.
    io_node_depth
        See :class:`spillway.schedulers.jobmodels.io_nodes.IoNodes`.
    on_record
        Called with each job's record when the job has ended.
    direct
        Whether the simulator runs in the same process and takes operations without a message for each.
    limits
        Time-outs of staging if burst buffers have lives of their own; ``None`` if jobs stage on their nodes.
    restarts
        Whether resubmitted jobs resume from their last checkpoint.
    """

    rows: ClassVar[int] = 1

    def __init__(
        self,
        model: JobModel,
        gate: Gate | None = None,
        io_node_depth: int = 0,
        on_record: Callable[[JobRecord], None] | None = None,
        *,
        direct: bool = False,
        limits: StageLimits | None = None,
        restarts: bool = False,
    ) -> None:
        self._restarts = Restarts() if restarts else None
        self.model = model
        self._limits = limits
        self._unstaged: dict[str, SubJobs] = {}
        self._timers: list[tuple[float, int, _Process, bool]] = []
        self._timer_count = 0
        self._gate: Gate = gate if gate is not None else Shared()
        self._depth = io_node_depth
        self._on_record = on_record
        self._direct = direct
        self._reuse = True
        self._streams = Streams()
        self._processes: dict[str, _Process] = {}
        self._parts: dict[str, _Part] = {}
        self._dropped: set[str] = set()
        self._turns: dict[str, _Turn] = {}
        self._moving: set[str] = set()
        self._turn_count = 0
        self._reports: list[Any] = []
        self._closed: Set[int] = frozenset()
        self._stalled: list[str] = []
        self._machine: Machine
        self._io_nodes: IoNodes

    # ------------------------------------------------------------------ calls from the session

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Take the machine; refuse a simulator or a platform that does not meet the model's needs."""
        needs, name = self.model.needs, type(self.model).__name__
        if needs.dynamic_jobs:
            require_dynamic_jobs(config, f"the job model {name}")
        needed = needs.file_system is FileSystem.YES or (
            needs.file_system is FileSystem.WITH_BURST_BUFFERS and bool(machine.storages)
        )
        if needed and machine.pfs_id is None:
            raise RemoteProtocolError(
                f"the job model {name} needs a host of the parallel file system (role 'storage', its name beginning "
                "with 'pfs' or the property storage_kind=pfs), and the platform has no such host",
                "$.events[0].data.storage_resources",
            )
        self._machine = machine
        self._io_nodes = IoNodes(machine, self._depth)
        self._reuse = config.profile_reuse_enabled

    def refuses(self, job: Job) -> str | None:
        """Return why the model cannot play a job; ``None`` if it can."""
        staging = staging_of(job)
        if self._limits is None and (staging.in_s or staging.out_s) and "stage_in" not in self.model.stages:
            field = STAGING_SECONDS[0 if staging.in_s else 1].name
            return (
                f"its field {field!r} is played by --model io, or where burst buffers have lives of their own "
                "(--bb-life)"
            )
        return self.model.refuses(job)

    def stage(self, job: Job, allocation: Allocation, now_s: float) -> Step:
        """Begin to fill the burst buffer of a waiting job; if jobs stage on their nodes, report it as staged."""
        follow = _Follow()
        if self._limits is None:
            follow.staged.append(Staged(job.id))
            return follow
        process = self._enter(job, allocation, self.model.stage_in(job), now_s)
        process.staging, process.record.staged = True, BufferTimes(now_s)
        if self._limits.stage_in_s < math.inf:
            self._set_timer(process, now_s + self._limits.stage_in_s, now_s, follow, limit=True)
        self._advance(process, None, now_s, follow)
        self._serve(now_s, follow)
        return follow

    def unstage(self, job: Job, now_s: float) -> Step:
        """Stop the stage-in of a waiting job and drop its process."""
        process, follow = self._processes.pop(job.id, None), _Follow()
        if process is not None:
            self._unstaged[job.id] = process.sub_jobs  # no name is used twice
            self._drop(process, now_s, follow)
            self._serve(now_s, follow)
        return follow

    def _drop(self, process: _Process, now_s: float, follow: _Follow) -> None:
        """Kill and detach the running parts of a process, and give up its waits."""
        _stop(process, now_s, follow)
        _leave_behind(process.live)
        self._withdraw(process, now_s, follow)
        process.timer, process.over = -1, True
        process.program.close()
        self._dropped.add(process.job.id)
        self._leave_if_through(process.job.id, now_s)

    def _leave_if_through(self, job_id: str, now_s: float) -> None:
        """Close the account of a job that lost its buffer, once no transfer of its stage-in moves any more.

        A job that stages in again by then keeps it.
        """
        if job_id in self._dropped and not any(turn.rpartition("/")[0] == job_id for turn in self._moving):
            self._dropped.discard(job_id)
            if job_id not in self._processes:
                self._gate.leave(job_id, now_s)

    def _enter(self, job: Job, allocation: Allocation, program: Program, now_s: float) -> _Process:
        sub_jobs = self._unstaged.pop(job.id, None)
        again = sub_jobs is not None
        if sub_jobs is not None:  # its account at the gate continues
            self._gate.enter(job.id, now_s)
        else:
            sub_jobs = SubJobs.of(job.id, reuse=self._reuse, direct=self._direct)
        process = _Process(job, allocation, program, JobRecord(job, allocation, now_s), sub_jobs, now_s, again)
        self._processes[job.id] = process
        return process

    def _program(self, job: Job, granted: Granted) -> Program:
        """Yield a job's operations from its start on: its program and its staging, on its nodes or without them.

        If a checkpoint survived in its burst buffers, so did the data that it had staged in.
        """
        apart = self._limits is not None and job.bb_bytes > 0
        if not apart and not (granted.resumed is not None and granted.resumed.buffered):
            yield from self.model.stage_in(job)
        yield from self.model.program(job, granted, self._machine)
        if apart:
            yield GiveBack(covering=~Resource.BURST_BUFFERS)
        yield from self.model.stage_out(job)

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Step:
        """Begin a job's program; a job that is not run as it was submitted is rejected to the simulator."""
        resumed = self._restarts.resumed(job.left) if self._restarts is not None else None
        program = self._program(job, Granted(allocation, now_s, resumed))
        process = self._processes.get(job.id)
        if process is None:
            process = self._enter(job, allocation, program, now_s)
            if self._limits is not None and job.bb_bytes:
                process.record.staged = BufferTimes(now_s, now_s)  # nothing to stage in: given with its nodes
        else:
            process.job, process.allocation, process.program, process.staging = job, allocation, program, False
            process.outcome, process.over = None, False
            process.lowered.clear()  # it had no nodes until now
            process.record.job, process.record.allocation, process.record.start_s = job, allocation, now_s
        process.record.resumed = resumed
        process.sub_jobs.deadline_s = now_s + job.walltime_s
        follow = _Follow()
        if job.bb_bytes:
            follow.requests.append(SetJobMetadata(now_s, job.id, str(job.bb_bytes)))
        self._advance(process, None, now_s, follow)
        if follow.granted:
            self._serve(now_s, follow)
        if not process.record.whole:
            follow.requests.append(RejectJob(now_s, job.id))
        return follow

    def without_nodes(self, job: Job, now_s: float) -> Step:
        """Keep the record of a job without nodes; the simulator cannot execute it: there it is rejected."""
        if self._on_record is not None:
            self._on_record(without_nodes(job, now_s))
        return Step((RejectJob(now_s, job.id),))

    def kill(self, job: Job, now_s: float) -> Step:
        """End a job: kill its running parts except transfers beside, give up its waits; at once if nothing runs."""
        process = self._processes[job.id]
        process.outcome = KILLED
        follow = _Follow()
        _stop(process, now_s, follow)
        self._give_up(process, now_s, follow)
        self._serve(now_s, follow)
        return follow

    def move(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Refuse to move a job: jobs stay on their nodes."""
        raise DecisionRefused(job.id, "jobs can only be moved where they share nodes in time (gang scheduling)")

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Handle events about running jobs and their sub-jobs; ``None`` for other events."""
        if type(event) is SubJobsCompleted:
            return self._sub_jobs_completed(event, now_s)
        if type(event) is JobCompleted:
            return self._completed(event, now_s)
        if isinstance(event, JobSubmitted):
            return NOTHING if event.job_id in self._parts else None
        if isinstance(event, RequestedCall):
            return self._called(now_s)
        return NOTHING if isinstance(event, JobKilled) else None

    def settle(self, now_s: float) -> Step:
        """Return nothing: all requests have been returned already."""
        return NOTHING

    def outage(self, closed: Set[int], now_s: float) -> Step:
        """Note the hosts that are out; transfers that waited for the file system begin when it is back."""
        self._note_outages(closed - self._closed, now_s)
        self._closed = frozenset(closed)
        follow = _Follow()
        if not self._file_system_out():
            follow.granted.extend(self._stalled)
            self._stalled.clear()
            self._serve(now_s, follow)
        return follow

    def _note_outages(self, hosts: Set[int], now_s: float) -> None:
        """Note the loss of data on storage nodes that go out: checkpoints, and drains under way."""
        if self._restarts is None or not hosts:
            return
        self._restarts.went_out(hosts, now_s)
        for process in self._processes.values():
            storages = process.allocation.storages
            process.spoilt |= any(self._machine.storages[index].resource_id in hosts for index in storages)

    def give_up(self, job: Job, nodes: Set[int], now_s: float) -> Step | None:
        """Let a job continue without some nodes, if the state that its program publishes can be shrunk.

        An operation that runs on them continues; one that waits for its turn is planned again, with fewer nodes.
        """
        process = self._processes[job.id]
        shown = process.record.state_shown
        if process.outcome is not None or not isinstance(shown, Shrinks) or not shown.lose(nodes):
            return None
        follow = _Follow()
        if process.waiting and not process.live:
            self._withdraw(process, now_s, follow)
            self._advance(process, Done(process.ready_s, now_s, now_s, *KILLED), now_s, follow)
            self._serve(now_s, follow)
        return follow

    # ------------------------------------------------------------------ calls from controllers

    def published(self) -> tuple[Any, ...]:
        """States that the programs of running jobs publish, in order of their starts."""
        return tuple(
            [p.record.state_shown for p in self._processes.values() if p.record.state_shown is not None and not p.over]
        )

    def shown(self, job_id: str) -> Any:
        """The state that a running job publishes."""
        return self._processes[job_id].record.state_shown

    def take_reports(self) -> tuple[Any, ...]:
        """Reports of programs since the last call."""
        found = tuple(self._reports)
        self._reports.clear()
        return found

    def check(self) -> None:
        """Prove that processes, sub-jobs and turns agree; for tests."""
        owned = {sub_id for p in self._processes.values() for part in (*p.live, *p.beside) for sub_id in part.left}
        kept = {sub_id for sub_id, part in self._parts.items() if not part.abandoned}
        assert owned == kept, "sub-jobs and processes differ"
        assert all(sub_id in part.left for sub_id, part in self._parts.items()), "a part lacks a sub-job of its"
        waiting = {key for p in self._processes.values() for key in (*p.waiting, *p.waiting_beside)}
        assert waiting == self._turns.keys(), "turns and processes differ"
        for process in self._processes.values():
            busy = process.live or process.waiting or process.beside or process.waiting_beside
            stuck = not (busy or process.staging or process.timer >= 0)
            assert not stuck, f"nothing of {process.job.id!r} runs or waits, and it has not ended"

    # ------------------------------------------------------------------ one operation after another

    def _advance(self, process: _Process, done: Done | None, now_s: float, follow: _Follow) -> None:
        """Run a program until it waits for something, or ends."""
        value: Done | None = done
        while True:
            try:
                operation = process.program.send(value)  # type: ignore[arg-type]  # None begins a generator
            except StopIteration:
                if process.staging:
                    assert process.record.staged is not None
                    process.record.staged.filled_s = now_s
                    follow.staged.append(Staged(process.job.id))
                    return
                process.outcome = process.outcome or SUCCESS
                self._close(process, now_s, follow)
                return
            play = self._PLAYERS.get(type(operation))
            if play is None:
                raise TypeError(f"a job model's program must yield operations, got {operation!r}")
            value = play(self, process, operation, now_s, follow)
            if value is None:
                return

    def _give_back(self, process: _Process, operation: GiveBack, now_s: float, follow: _Follow) -> Done:
        if operation.nodes is None or operation.nodes:
            follow.released.append(Released(process.job.id, operation.nodes, operation.covering))
        if self._limits is not None and process.record.staged is not None and operation.nodes is None:
            process.record.staged.off_nodes_s = now_s
            process.sub_jobs.deadline_s = math.inf  # the walltime is that of its nodes
            if self._limits.stage_out_s < math.inf:
                self._set_timer(process, now_s + self._limits.stage_out_s, now_s, follow, limit=True)
        return Done(now_s, now_s, now_s)

    def _wait(self, process: _Process, operation: Wait, now_s: float, follow: _Follow) -> None:
        """Let time pass; the walltime of a job that has its nodes may end it earlier."""
        process.operation, process.ready_s, process.began_s = operation, now_s, now_s
        end_s = min(now_s + operation.seconds, process.sub_jobs.deadline_s)
        process.timer = self._set_timer(process, end_s, now_s, follow, limit=False)

    def _publish(self, process: _Process, operation: Publish, now_s: float, follow: _Follow) -> Done:
        process.record.state_shown = operation.state
        return Done(now_s, now_s, now_s)

    def _report(self, process: _Process, operation: Report, now_s: float, follow: _Follow) -> Done:
        self._reports.append(operation.what)
        return Done(now_s, now_s, now_s)

    def _submitted(self, process: _Process, operation: Submitted, now_s: float, follow: _Follow) -> None:
        """Let the simulator run the job itself and watch its walltime; a default walltime is watched here."""
        process.operation, process.ready_s = operation, now_s
        process.record.whole = True
        hosts = self._machine.alloc_ids(process.allocation.nodes)
        follow.requests.append(
            self._streams.execute(process.job, hosts, operation.stream_bytes, self._machine.pfs_id, now_s)
        )
        process.began_s = now_s
        if process.job.default_walltime:
            self._set_timer(process, now_s + process.job.walltime_s, now_s, follow, limit=True)
        part = _Part(process, operation, {process.job.id: None}, now_s)
        process.live.append(part)
        self._parts[process.job.id] = part

    def _timed(self, process: _Process, operation: Compute | Transfer, now_s: float, follow: _Follow) -> None:
        """Begin an operation that takes time, or queue for it; end the job if it cannot begin or its time is over."""
        process.operation, process.ready_s, process.began_s = operation, now_s, math.nan
        reason = self._out(process, operation, self._nodes(process, operation))
        if reason or _late(process, now_s):
            process.outcome, process.reason = (KILLED, reason) if reason else (_TIMED_OUT, "")
            self._close(process, now_s, follow)
            return
        if _needs_turn(operation):
            self._queue(process, operation, now_s, follow, beside=False)
            return
        self._run(process, operation, self._nodes(process, operation), now_s, follow)
        beside = operation.beside if isinstance(operation, Compute) else None
        if beside is None:
            return
        if _needs_turn(beside):
            self._queue(process, beside, now_s, follow, beside=True)
        else:
            self._run(process, beside, self._nodes(process, beside), now_s, follow, beside=True)

    _PLAYERS: ClassVar[dict[type, Callable[[ProgramRuntime, _Process, Any, float, _Follow], Done | None]]] = {
        GiveBack: _give_back,
        Publish: _publish,
        Report: _report,
        Submitted: _submitted,
        Compute: _timed,
        Transfer: _timed,
        Wait: _wait,
    }

    # ------------------------------------------------------------------ waits and time-outs

    def _set_timer(self, process: _Process, at_s: float, now_s: float, follow: _Follow, *, limit: bool) -> int:
        """Set a timer of a process: for the end of its :class:`Wait`, or for a limit of its time."""
        self._timer_count += 1
        at_s = max(at_s, now_s + 10 * SHORTEST_WALLTIME_S)
        heapq.heappush(self._timers, (at_s, self._timer_count, process, limit))
        if at_s <= LATEST_S:  # no simulation lasts longer
            follow.requests.append(CallMeLater(now_s, at_s))
        return self._timer_count

    def _called(self, now_s: float) -> Step | None:
        """Handle a requested call: for timers, or for walltimes of jobs without a running part."""
        follow, rang = _Follow(), False
        while self._timers and self._timers[0][0] <= now_s + SHORTEST_WALLTIME_S:
            _, number, process, limit = heapq.heappop(self._timers)
            self._timer_ended(process, number, now_s, follow, limit=limit)
            rang = True
        expired = self._expire(now_s, follow)
        self._serve(now_s, follow)
        return follow if rang or expired else None

    def _timer_ended(self, process: _Process, number: int, now_s: float, follow: _Follow, *, limit: bool) -> None:
        if limit and process.job.default_walltime and isinstance(process.operation, Submitted):
            if self._processes.get(process.job.id) is process and process.sub_jobs.overdue(now_s):
                process.outcome = _TIMED_OUT
                _stop(process, now_s, follow)
        elif limit:
            self._out_of_time(process, now_s, follow)
        elif process.timer == number:
            process.timer = -1
            assert isinstance(process.operation, Wait)
            process.record.took(process.operation.stage, now_s - process.began_s)
            process.record.idle_end_s = now_s  # it may end here, after its last sub-job
            if process.sub_jobs.overdue(now_s):
                process.outcome = _TIMED_OUT
                self._give_up(process, now_s, follow)
            else:
                self._advance(process, Done(process.ready_s, process.began_s, now_s), now_s, follow)

    def _out_of_time(self, process: _Process, now_s: float, follow: _Follow) -> None:
        """Handle the end of a limit of staging.

        A job that is still staging in loses its burst buffer; one that stages out ends without the rest of its data.
        """
        times = process.record.staged
        if self._processes.get(process.job.id) is not process or process.over or times is None:
            return
        assert self._limits is not None
        if process.staging and math.isnan(times.filled_s):
            follow.staged.append(
                Staged(process.job.id, f"its stage-in had not ended after {self._limits.stage_in_s:g} s")
            )
        elif now_s - times.off_nodes_s >= self._limits.stage_out_s - SHORTEST_WALLTIME_S:
            process.outcome = _TIMED_OUT
            if process.live:
                follow.requests.append(KillJob(now_s, _ids(process.live)))
            self._give_up(process, now_s, follow)

    def _run(
        self,
        process: _Process,
        operation: Compute | Transfer,
        nodes: Sequence[int],
        now_s: float,
        follow: _Follow,
        *,
        beside: bool = False,
        turn: str = "",
    ) -> None:
        """Start the sub-jobs of an operation, or of its part on some nodes."""
        lowered = self._lowered(process, operation, nodes)
        if isinstance(operation, Transfer):
            process.record.moved(operation.stage, volume(operation, len(nodes), process.allocation))
        walltime_s = math.inf if beside else self._remaining(process, now_s)
        ids = process.sub_jobs.run(lowered.profile, lowered.tasks, walltime_s, now_s, follow.requests)
        part = _Part(process, operation, dict.fromkeys(ids), now_s, beside, turn)
        self._parts.update(dict.fromkeys(ids, part))
        if beside:
            process.beside.append(part)
            return
        process.live.append(part)
        if math.isnan(process.began_s):
            process.began_s = now_s
            if operation.began is not None:
                operation.began(now_s)

    def _lowered(self, process: _Process, operation: Compute | Transfer, nodes: Sequence[int]) -> Lowered:
        """An operation, or its part on some nodes, in the simulator's terms; kept if it is for all nodes."""
        if operation.nodes is not None or len(nodes) != len(process.allocation.nodes):
            return self._lower(process, operation, nodes)
        key = (
            id(operation.profile)
            if isinstance(operation, Compute)
            else (operation.source, operation.destination, operation.bytes_per_node)
        )
        lowered = process.lowered.get(key)
        if lowered is None:
            lowered = process.lowered[key] = self._lower(process, operation, nodes)
        return lowered

    def _lower(self, process: _Process, operation: Compute | Transfer, nodes: Sequence[int]) -> Lowered:
        if isinstance(operation, Compute):
            return Lowered(_printable(operation.profile), (Task(self._machine.alloc_ids(tuple(nodes))),))
        return lower(operation, nodes, process.allocation, self._machine)

    def _remaining(self, process: _Process, now_s: float) -> float:
        """Time that a job has left (s); at its start exactly its walltime, without rounding."""
        if now_s == process.record.start_s and not process.staging:
            return process.job.walltime_s
        return process.sub_jobs.deadline_s - now_s

    # ------------------------------------------------------------------ turns at the I/O gate

    def _queue(
        self, process: _Process, operation: Compute | Transfer, now_s: float, follow: _Follow, *, beside: bool
    ) -> None:
        """Request a turn at each I/O node that an operation uses."""
        application = _account(process, beside=beside)
        if not process.at_gate:
            process.at_gate = True
            self._gate.enter(process.job.id, process.entered_s)
        waiting = process.waiting_beside if beside else process.waiting
        for io_node, nodes in self._groups(process, operation).items():
            key = f"{process.job.id}/{self._turn_count}"
            self._turn_count += 1
            self._turns[key] = _Turn(process, operation, nodes, beside)
            waiting.add(key)
            size = self._turn_bytes(process, operation, len(nodes))
            follow.granted.extend(self._gate.request(key, application, io_node, size, now_s))
        self._serve(now_s, follow)
        if process.waiting and not process.watched and process.sub_jobs.deadline_s < math.inf:
            process.watched = True  # nothing of a waiting job runs, so the simulator does not watch its walltime
            call_s = max(process.sub_jobs.deadline_s, now_s + 10 * SHORTEST_WALLTIME_S)
            if call_s <= LATEST_S:  # no simulation lasts longer
                follow.requests.append(CallMeLater(now_s, call_s))

    def _groups(self, process: _Process, operation: Compute | Transfer) -> Mapping[int, tuple[int, ...]]:
        """Nodes of an operation by I/O node; a striped buffer takes one turn, at the first of them."""
        nodes = self._nodes(process, operation)
        if not nodes:
            return {0: ()}  # only between storage and file system
        groups = self._io_nodes.groups(nodes)
        if len(groups) > 1 and isinstance(operation, Transfer) and is_striped(operation, process.allocation):
            return {min(groups): tuple(nodes)}
        return groups

    def _turn_bytes(self, process: _Process, operation: Compute | Transfer, nodes: int) -> float:
        """Bytes of the part of an operation on some nodes."""
        if isinstance(operation, Transfer):
            return volume(operation, nodes, process.allocation)
        return (operation.turn_bytes or 0.0) * nodes / len(self._nodes(process, operation))

    def _nodes(self, process: _Process, operation: Compute | Transfer) -> Sequence[int]:
        return operation.nodes if operation.nodes is not None else process.allocation.nodes

    def _serve(self, now_s: float, follow: _Follow) -> None:
        """Begin the operations that have got their turns; a job without time left passes its turn on at once."""
        while follow.granted:
            key = follow.granted.popleft()
            process, operation, nodes, beside = self._turns[key]
            if isinstance(operation, Transfer) and self._file_system_out():
                self._stalled.append(key)
                continue
            del self._turns[key]
            (process.waiting_beside if beside else process.waiting).discard(key)
            reason = self._out(process, operation, nodes)
            if reason:
                follow.granted.extend(self._gate.release(key, now_s))
                self._abandon(process, reason, now_s, follow)
                continue
            if not beside and _late(process, now_s):
                follow.granted.extend(self._gate.release(key, now_s))
                process.outcome = process.outcome or _TIMED_OUT
                self._give_up(process, now_s, follow)
                continue
            self._moving.add(key)
            self._run(process, operation, nodes, now_s, follow, beside=beside, turn=key)

    def _expire(self, now_s: float, follow: _Follow) -> bool:
        """End jobs with their walltime over while they only wait for a turn; return whether there are any."""
        late = [p for p in self._processes.values() if p.waiting and not p.live and p.sub_jobs.overdue(now_s)]
        for process in late:
            process.outcome = process.outcome or _TIMED_OUT
            self._give_up(process, now_s, follow)
        return bool(late)

    # ------------------------------------------------------------------ outages

    def _file_system_out(self) -> bool:
        return bool(self._closed) and self._machine.pfs_id in self._closed

    def _out(self, process: _Process, operation: Compute | Transfer, nodes: Sequence[int]) -> str:
        """Return why an operation cannot begin, which is a node or a storage node that is out; "" if it can."""
        if not self._closed:
            return ""
        used: set[int] = set()
        for task in self._lowered(process, operation, nodes).tasks:
            used.update(task.hosts, (task.storage or {}).values())
        gone = sorted(self._closed & used - {self._machine.pfs_id})
        return f"its next operation needs {self._machine.name_of(gone[0])}, which is unavailable" if gone else ""

    def _abandon(self, process: _Process, reason: str, now_s: float, follow: _Follow) -> None:
        """End a job that cannot continue: kill its running parts except transfers beside."""
        _stop(process, now_s, follow)
        process.outcome, process.reason = KILLED, reason
        self._give_up(process, now_s, follow)
        if process.over and process.job.id in self._processes:
            self._end_if_through(process, now_s, follow)

    # ------------------------------------------------------------------ ends of sub-jobs

    def _completed(self, event: JobCompleted, now_s: float) -> Step | None:
        """Handle the end of a sub-job, or of a job that was run as it was submitted."""
        part = self._parts.get(event.job_id)
        if part is None:
            return None
        if len(part.left) > 1 and event.state is JobState.COMPLETED_SUCCESSFULLY and not event.return_code:
            return self._sub_jobs_completed(SubJobsCompleted(event.timestamp, (event.job_id,)), now_s)
        del self._parts[event.job_id], part.left[event.job_id]
        return self._ended(part, event.state, event.return_code, now_s)

    def _sub_jobs_completed(self, event: SubJobsCompleted, now_s: float) -> Step | None:
        """Handle successful ends of sub-jobs: return the step of the first end with effects, and the later ends."""
        ids, parts = event.job_ids, self._parts
        for count, sub_id in enumerate(ids, 1):
            part = parts.pop(sub_id, None)
            if part is None:
                return None
            left = part.left
            del left[sub_id]
            if left and (not part.beside or part.abandoned):
                continue
            if not left or part.process.over:
                step = self._ended(part, *SUCCESS, now_s)
                if count < len(ids):
                    step.rest = SubJobsCompleted(event.timestamp, ids[count:])
                return step
            assert isinstance(part.operation, Transfer)
            part.process.record.took(part.operation.stage, now_s - part.began_s)
        return NOTHING

    def _ended(self, part: _Part, state: JobState, return_code: int, now_s: float) -> Step:
        """Return the step after the end of a sub-job: the last of its part, a failure, or beside a job that is over."""
        follow, process = _Follow(), part.process
        if not part.left:
            if part.turn:
                self._moving.discard(part.turn)
                follow.granted.extend(self._gate.release(part.turn, now_s))
            if not part.abandoned:
                (process.beside if part.beside else process.live).remove(part)
        if part.abandoned:
            if part.turn:
                self._leave_if_through(process.job.id, now_s)
        elif part.beside:
            assert isinstance(part.operation, Transfer)
            process.record.took(part.operation.stage, now_s - part.began_s)
            process.record.drained += not process.spoilt and self._is_through(process, part.operation)
            self._end_if_through(process, now_s, follow)
        else:
            self._ended_part(process, state, return_code, now_s, follow)
        if follow.granted:
            self._serve(now_s, follow)
        return follow

    def _is_through(self, process: _Process, transfer: Transfer) -> bool:
        """Whether no part of a transfer beside a computation runs or waits."""
        return all(part.operation is not transfer for part in process.beside) and all(
            self._turns[key].operation is not transfer for key in process.waiting_beside
        )

    def _ended_part(self, process: _Process, state: JobState, return_code: int, now_s: float, follow: _Follow) -> None:
        """Handle the end or the failure of a part of the present operation, or of the job itself."""
        operation = process.operation
        assert operation is not None
        failed = state is not JobState.COMPLETED_SUCCESSFULLY
        if isinstance(operation, Submitted) and (failed or self._limits is None):
            process.outcome = (state, return_code)
        elif failed and not (state is JobState.COMPLETED_FAILED and getattr(operation, "may_fail", False)):
            process.outcome = process.outcome or (state, return_code)
        if process.live:
            return
        if process.outcome is not None or not process.waiting:
            self._account_for(process, operation, now_s)
        if process.outcome is not None:
            self._give_up(process, now_s, follow, idle=False)
        elif not process.waiting:
            done = Done(process.ready_s, process.began_s, now_s, state, return_code)
            self._advance(process, done, now_s, follow)

    def _account_for(self, process: _Process, operation: Operation, now_s: float) -> None:
        """Add the time of an operation that has ended to the record."""
        if isinstance(operation, Compute | Transfer):
            process.record.took(operation.stage, now_s - process.began_s)
            if self._restarts is not None and process.outcome is None:
                process.record.reached(operation.stage, now_s - process.began_s)
        process.record.operations += process.outcome is None

    # ------------------------------------------------------------------ the end of a job

    def _give_up(self, process: _Process, now_s: float, follow: _Follow, *, idle: bool = True) -> None:
        """Let a job run no further operation: it gives up its turns, and ends when no part of it runs.

        If no part runs already (``idle``), it ends now, however long ago its last sub-job ended.
        """
        process.timer = -1
        if idle and not process.live and not process.over:
            process.record.idle_end_s = now_s
            if process.operation is not None and not math.isnan(process.began_s):
                self._account_for(process, process.operation, now_s)  # parts of it had ended
        if process.waiting:
            self._withdraw(process, now_s, follow)
        if not process.live and not process.waiting and not process.over:
            self._close(process, now_s, follow)

    def _withdraw(self, process: _Process, now_s: float, follow: _Follow) -> None:
        """Give up the turns that a job waits for, and those that wait for the file system."""
        for key in self._gate.withdraw(process.job.id, now_s):
            del self._turns[key]
            process.waiting.discard(key)
        for key in [key for key in self._stalled if key in process.waiting]:
            self._stalled.remove(key)
            del self._turns[key]
            process.waiting.discard(key)
            follow.granted.extend(self._gate.release(key, now_s))

    def _close(self, process: _Process, now_s: float, follow: _Follow) -> None:
        """Close the program of a job, and end the job if nothing else of it runs."""
        process.over = True
        process.program.close()
        self._end_if_through(process, now_s, follow)

    def _end_if_through(self, process: _Process, now_s: float, follow: _Follow) -> None:
        """End a job after the end of its program, once transfers beside it have ended too (or may be left behind)."""
        if not process.over or process.live or process.waiting_beside:
            return
        assert process.outcome is not None
        if process.staging:
            del self._processes[process.job.id]
            if process.at_gate:
                self._gate.leave(process.job.id, now_s)
            reason = process.reason or f"its stage-in ended as {process.outcome[0].value}"
            follow.staged.append(Staged(process.job.id, reason))
            return
        if process.beside:
            if process.outcome == SUCCESS or not all(_may_be_left(part) for part in process.beside):
                return
            _leave_behind(process.beside)
        elif process.at_gate:
            self._gate.leave(_account(process, beside=True), now_s)
        del self._processes[process.job.id]
        record = process.record
        if process.at_gate:
            record.io_wait_s = self._gate.leave(process.job.id, now_s).waited_s
        record.end_s, record.sub_jobs = now_s, process.sub_jobs.count
        record.state, record.return_code = process.outcome
        if self._on_record is not None:
            self._on_record(record)
        left, kept_s = None, 0.0
        if self._restarts is not None and process.outcome == KILLED:
            left, kept_s = self._restarts.left(self.model, record, self._machine)
        follow.ended.append(Ended(process.job.id, *process.outcome, process.reason, left, kept_s))


def _stop(process: _Process, now_s: float, follow: _Follow) -> None:
    """Kill the running parts of a process except transfers beside, once: their ends may be on the way already."""
    if process.live and not process.stopped:
        process.stopped = True
        follow.requests.append(KillJob(now_s, _ids(process.live)))


def _ids(parts: Sequence[_Part]) -> tuple[str, ...]:
    """Sub-jobs of parts that have not ended, in their order."""
    return tuple([sub_id for part in parts for sub_id in part.left])


def _leave_behind(parts: list[_Part]) -> None:
    """Let a job continue, or end, without these parts."""
    for part in parts:
        part.abandoned = True
    parts.clear()


def _may_be_left(part: _Part) -> bool:
    """Whether a job that fails ends without this part beside it."""
    return isinstance(part.operation, Transfer) and part.operation.abandoned


def _printable(profile: JsonObject) -> JsonObject:
    """A profile with a delay that Batsim prints as more than 0: it aborts on a registered delay of 0."""
    if profile.get("type") == "delay" and profile["delay"] < SHORTEST_WALLTIME_S:
        return {**profile, "delay": SHORTEST_WALLTIME_S}
    return profile


def _late(process: _Process, now_s: float) -> bool:
    """Whether no time is left for an operation that begins now; the first of a job always begins."""
    return now_s > process.record.start_s and process.sub_jobs.overdue(now_s)


def _needs_turn(operation: Compute | Transfer) -> bool:
    """Whether an operation passes the I/O gate."""
    return operation.shared if isinstance(operation, Transfer) else operation.turn_bytes is not None


def _account(process: _Process, *, beside: bool) -> str:
    """Account at the gate: transfers beside a computation have one of their own, and outlive the job's."""
    return f"{process.job.id}/beside" if beside else process.job.id
