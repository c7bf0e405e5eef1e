"""Time-shared execution: a job runs in the slices of its rows, each stretch of them as one dynamic job.

Policies get a machine with a row of nodes per slice of the cycle
(:meth:`spillway.schedulers.model.machine.Machine.stacked`); here the rows take turns on the real nodes. To Batsim a
real job is rejected; its stretches are in a workload of their own (``w0%15!0`` ... for ``w0!15``). At the end of a
slice a job that does not run in the next is killed, its progress is read back, and the rest is registered anew when its
row's turn comes. A job that runs in several rows one after the other is not interrupted. Everything is settled once per
message: first kills, then, when they are confirmed, the starts on the nodes that they have freed. The same holds for
links: a stretch begins when running ones leave enough bandwidth for its rate on each.

Walltimes count the time that a job has received; the restart after a move does not count. A job ends in the state that
Batsim gives its last sub-job: if its walltime is used up exactly at the end of a slice, it was killed there, and that
is its final state in the record, as in Batsim's.

References
----------
Zhang et al., JSSPP 2003, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from spillway.core import SubJobs
from spillway.protocol.messages import (
    BatsimConfig,
    CallMeLater,
    Event,
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    KillJob,
    RejectJob,
    Request,
    RequestedCall,
    SetJobMetadata,
)
from spillway.schedulers.jobmodels.record import JobRecord, without_nodes
from spillway.schedulers.jobmodels.slices import Remaining, remaining_of, unscalable
from spillway.schedulers.jobmodels.sub_jobs import SHORTEST_WALLTIME_S, require_dynamic_jobs
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.timesharing.bandwidth import FreeBandwidth, Links
from spillway.schedulers.timesharing.columns import columns_of, mask_of
from spillway.schedulers.timesharing.files import file_columns
from spillway.schedulers.timesharing.sharing import Costs, MigrationStart
from spillway.schedulers.timesharing.slices import MICRO, Slices, to_us


class _JobEnd(NamedTuple):
    """The end of a job (not of a sub-job); ``reason``: why it ended without a request, or empty."""

    job_id: str
    state: JobState
    return_code: int
    reason: str = ""


class _Step(NamedTuple):
    """Consequences of one event: ``requests`` to send, in order, and ``ended`` jobs."""

    requests: Sequence[Request] = ()
    ended: Sequence[_JobEnd] = ()


_NOTHING = _Step()


@dataclass(slots=True)
class _MatrixJob:
    """A job in the matrix.

    ``columns`` are those of its last stretch, ``target`` those on which it is to run; ``live`` is the stretch that runs
    now, begun at ``since_us`` on the columns ``held``, ``dying`` once its end was requested. Before ``moves_us`` the
    job does not run on its target yet. It streams ``rate`` bytes per second from each column.
    """

    job: Job
    files: int
    rows: int
    target: int
    columns: int
    remaining: Remaining
    sub_jobs: SubJobs
    budget_s: float
    record: JobRecord
    rate: int
    live: str = ""
    since_us: int = 0
    held: int = 0
    moves_us: int = 0
    dying: bool = False
    killed: bool = False
    last: tuple[JobState, int] = (JobState.COMPLETED_KILLED, -2)


class TimeShared:
    """Runs jobs in slices.

    Parameters
    ----------
    slices
        Rows and quantum. With one row no job ever waits for a turn: space sharing, with costs of blocks by their place.
    costs
        Costs of blocks and of migration.
    migration_start
        Time at which moved jobs restart on their new columns.
    on_record
        Called with each job's record when the job has ended.
    """

    def __init__(
        self,
        slices: Slices,
        costs: Costs,
        migration_start: MigrationStart = MigrationStart.NEXT_QUANTUM,
        on_record: Callable[[JobRecord], None] | None = None,
    ) -> None:
        self._on_record = on_record
        self._slices = slices
        self._migration_start = migration_start
        self._costs = costs
        self._jobs: dict[str, _MatrixJob] = {}
        self._live: dict[str, _MatrixJob] = {}
        self._held = 0
        self._out = 0
        self._asked_us = -1
        self._machine: Machine
        self._links: Links
        self._room: FreeBandwidth

    @property
    def rows(self) -> int:
        """Rows of the machine that policies get."""
        return self._slices.level

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Take the real machine; refuse a simulator without dynamic jobs."""
        require_dynamic_jobs(config, "time sharing")
        self._machine = machine
        self._links = Links.of(machine)
        self._room = FreeBandwidth(self._links)

    # ------------------------------------------------------------------ calls from the session

    def refuses(self, job: Job) -> str | None:
        """Return why a job's profile cannot be run in slices; ``None`` if it can."""
        return unscalable(job)

    def start(self, job: Job, allocation: Allocation, now_s: float) -> _Step:
        """Add a job; its first slice comes with :meth:`settle`."""
        rows, columns = self._place(allocation)
        files = file_columns(job, len(self._machine.nodes))
        remaining = remaining_of(job, self._costs, local=not files or files == columns)
        sub_jobs = SubJobs(job.id, reuse=False)
        record = JobRecord(job, allocation, now_s, preempted=True)
        self._jobs[job.id] = _MatrixJob(
            job,
            files,
            rows,
            columns,
            columns,
            remaining,
            sub_jobs,
            job.walltime_s + job.grace_s,
            record,
            allocation.io_rate,
        )
        requests: list[Request] = [SetJobMetadata(now_s, job.id, str(job.bb_bytes))] if job.bb_bytes else []
        return _Step((*requests, RejectJob(now_s, job.id)))

    def without_nodes(self, job: Job, now_s: float) -> _Step:
        """Keep the record of a job without nodes; in the simulator it is rejected."""
        if self._on_record is not None:
            self._on_record(without_nodes(job, now_s))
        return _Step((RejectJob(now_s, job.id),))

    def move(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Give a job other rows or columns; its running stretch continues if it is in the right place."""
        shared = self._jobs[job.id]
        before = shared.target
        shared.rows, shared.target = self._place(allocation)
        if shared.target != before:
            shared.moves_us = self._migration_start.begins_us(to_us(now_s), self._slices)

    def kill(self, job: Job, now_s: float) -> _Step:
        """End a job: at once if no stretch runs, otherwise at the end of its stretch, which is killed."""
        shared = self._jobs[job.id]
        if not shared.live:
            shared.record.idle_end_s = now_s
            return self._end(shared, JobState.COMPLETED_KILLED, -2, now_s)
        shared.killed = True
        if shared.dying:
            return _NOTHING
        shared.dying = True
        return _Step((KillJob(now_s, (shared.live,)),))

    def handle(self, event: Event, now_s: float) -> _Step | None:
        """Handle events about stretches and the ends of slices; ``None`` for other events."""
        handler = self._HANDLERS.get(type(event))
        return None if handler is None else handler(self, event, now_s)

    def settle(self, now_s: float) -> _Step:
        """Stop and begin stretches at the end of a message, and request a call for the next slice.

        A stretch that has lasted as long as its job needs is not stopped: it began nanoseconds after its slice, as
        messages take time, and its end is on the way. The next stretch on its nodes begins at that end.

        A job with one of its nodes out when its turn comes cannot run there: it ends, killed.
        """
        now_us = to_us(now_s)
        bit = 1 << self._slices.row(now_us)
        requests: list[Request] = []
        staying = self._staying(bit, now_us)
        stops = [
            s
            for s in self._live.values()
            if not s.dying and s.live not in staying and not s.remaining.is_over(now_us - s.since_us)
        ]
        for shared in stops:
            shared.dying = True
        if stops:
            requests.append(KillJob(now_s, tuple(shared.live for shared in stops)))
        ended: list[_JobEnd] = []
        for shared in list(self._jobs.values()):
            turn = shared.rows & bit and shared.moves_us <= now_us
            if not turn or shared.live or self._held & shared.target:
                continue
            if not self._room.carries(0, shared.target, shared.rate):
                continue
            if self._out & shared.target:
                ended.append(self._lose(shared, now_s))
            else:
                self._run(shared, now_s, requests)
        if self._jobs and (self.rows > 1 or self._moving(now_us)):
            boundary_us = self._slices.boundary_us(now_us)
            if boundary_us > self._asked_us:
                self._asked_us = boundary_us
                requests.append(CallMeLater(now_s, boundary_us / MICRO))
        return _Step(requests, ended)

    def outage(self, closed: Set[int], now_s: float) -> _Step:
        """Note the nodes that are out; a stretch that runs there continues to its end."""
        self._out = mask_of(index for host, index in self._machine.node_index.items() if host in closed)
        return _NOTHING

    def check(self) -> None:
        """Prove that running stretches and their jobs agree."""
        assert {shared.live for shared in self._jobs.values() if shared.live} == self._live.keys(), "stretches differ"

    # ------------------------------------------------------------------ events

    def _completed(self, event: JobCompleted, now_s: float) -> _Step | None:
        shared = self._live.get(event.job_id)
        if shared is None:
            return None
        if event.state is JobState.COMPLETED_KILLED and shared.dying:
            shared.last = event.state, event.return_code
            return _NOTHING  # the confirmation with its progress follows in the same message
        self._release(shared)
        return self._end(shared, event.state, event.return_code, now_s)

    def _killed(self, event: JobKilled, now_s: float) -> _Step:
        ended: list[_JobEnd] = []
        for sub_id in event.job_ids:
            shared = self._live.get(sub_id)
            if shared is None:
                continue  # it has ended already
            elapsed_us = to_us(now_s) - shared.since_us
            self._release(shared)
            progress = event.progress.get(sub_id)
            share = progress.progress if progress is not None and progress.progress is not None else 0.0
            own_us = max(elapsed_us - shared.remaining.lag_us, 0)
            shared.remaining.serve(elapsed_us, share)
            shared.budget_s -= own_us / MICRO
            if shared.killed or shared.budget_s < SHORTEST_WALLTIME_S:
                ended += self._end(shared, *shared.last, now_s).ended
        return _Step((), ended)

    def _submitted(self, event: JobSubmitted, now_s: float) -> _Step | None:
        return _NOTHING if "%" in event.job_id and event.job_id in self._live else None

    def _called(self, event: RequestedCall, now_s: float) -> _Step | None:
        """Hide the beginning of a slice from the policy; other calls are its own."""
        mine = self._asked_us >= 0 and to_us(now_s) >= self._asked_us
        return _NOTHING if mine else None

    _HANDLERS: ClassVar[dict[type, Callable[[TimeShared, Any, float], _Step | None]]] = {
        JobCompleted: _completed,
        JobKilled: _killed,
        JobSubmitted: _submitted,
        RequestedCall: _called,
    }

    # ------------------------------------------------------------------ steps

    def _place(self, allocation: Allocation) -> tuple[int, int]:
        """Rows and columns of an allocation on the stacked machine, as masks."""
        width = len(self._machine.nodes)
        return mask_of(node // width for node in allocation.nodes), mask_of(node % width for node in allocation.nodes)

    def _moving(self, now_us: int) -> bool:
        """Whether a job waits for the next slice to move."""
        return any(shared.moves_us > now_us for shared in self._jobs.values())

    def _staying(self, bit: int, now_us: int) -> set[str]:
        """Running stretches that continue.

        They are those of jobs on their target, and those of jobs that are yet to move, if they fit into the columns and
        the bandwidth that the jobs of this row leave.
        """
        staying: set[str] = set()
        yet_to_move: list[_MatrixJob] = []
        for shared in self._live.values():
            if shared.moves_us > now_us:
                yet_to_move.append(shared)
            elif shared.rows & bit and shared.target == shared.held:
                staying.add(shared.live)
        if not yet_to_move:
            return staying
        wanted, room = 0, FreeBandwidth(self._links)
        for shared in self._jobs.values():
            if shared.rows & bit and shared.moves_us <= now_us:
                wanted |= shared.target
                room.take(0, shared.target, shared.rate)
        for shared in yet_to_move:
            if not shared.held & wanted and room.carries(0, shared.held, shared.rate):
                room.take(0, shared.held, shared.rate)
                staying.add(shared.live)
        return staying

    def _run(self, shared: _MatrixJob, now_s: float, requests: list[Request]) -> None:
        """Begin a stretch."""
        if shared.columns != shared.target:
            shared.columns = shared.target
            shared.remaining.go_home()
        hosts = self._machine.alloc_ids(columns_of(shared.columns))
        shared.sub_jobs.deadline_s = now_s + shared.budget_s + shared.remaining.lag_us / MICRO
        walltime_s = shared.sub_jobs.deadline_s - now_s
        shared.live = shared.sub_jobs.run(shared.remaining.profile(), hosts, walltime_s, now_s, requests)
        shared.since_us, shared.held = to_us(now_s), shared.columns
        self._live[shared.live] = shared
        self._held |= shared.held
        self._room.take(0, shared.held, shared.rate)

    def _release(self, shared: _MatrixJob) -> None:
        del self._live[shared.live]
        self._held &= ~shared.held
        self._room.give(0, shared.held, shared.rate)
        shared.live, shared.held, shared.dying = "", 0, False

    def _lose(self, shared: _MatrixJob, now_s: float) -> _JobEnd:
        """End a job that cannot run in its turn."""
        node = columns_of(self._out & shared.target)[0]
        shared.record.idle_end_s = now_s
        (ended,) = self._end(shared, JobState.COMPLETED_KILLED, -2, now_s).ended
        name = self._machine.nodes[node].name
        return ended._replace(reason=f"its next slice needs node {name}, which is unavailable")

    def _end(self, shared: _MatrixJob, state: JobState, return_code: int, now_s: float) -> _Step:
        del self._jobs[shared.job.id]
        record = shared.record
        record.end_s, record.state, record.return_code = now_s, state, return_code
        record.sub_jobs = shared.sub_jobs.count
        if self._on_record is not None:
            self._on_record(record)
        return _Step((), (_JobEnd(shared.job.id, state, return_code),))
