"""Sequenced execution: a job's compute and I/O operations one after another, as dynamic sub-jobs, I/O through a gate.

A real job that states operations (:mod:`schedulers.core.operations`) is rejected in Batsim's books and replaced by
sub-jobs in a workload of its own: a ``delay`` on all nodes for a compute operation, a ``parallel_homogeneous_pfs`` to
the file system for an I/O operation, one per I/O node that the job touches. A transfer is registered when the gate
lets it begin; until then nothing of the job runs. Jobs without operations run rigidly.

References
----------
Jeannot, Pallez, Vidal, IJHPCA 2023 (DOI 10.1177/10943420231175854), sections "Machine Model" and "Job Model".
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.core.operations import Operation, Operations, operations_of
from schedulers.errors import RemoteProtocolError
from schedulers.jobmodels.base import NOTHING, Ended, Step
from schedulers.jobmodels.gates import Gate, Shared
from schedulers.jobmodels.io_nodes import IoNodes
from schedulers.jobmodels.rigid import Rigid
from schedulers.jobmodels.sub_jobs import SHORTEST_WALLTIME_S, SubJobs
from schedulers.wire.messages import (
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
)


@dataclass(slots=True)
class OperationRecord:
    """What became of a job's operations (s).

    Attributes
    ----------
    computed_s, transferred_s, waited_s
        Time spent computing, transferring, waiting for an I/O node.
    operations
        Operations that are through.
    """

    job: Job
    start_s: float
    end_s: float = math.nan
    state: JobState = JobState.RUNNING
    computed_s: float = 0.0
    transferred_s: float = 0.0
    waited_s: float = 0.0
    operations: int = 0
    sub_jobs: int = 0


@dataclass(slots=True)
class _Sequence:
    """A running job."""

    job: Job
    operations: Operations
    record: OperationRecord
    sub_jobs: SubJobs
    groups: Mapping[int, tuple[int, ...]]
    hosts: tuple[int, ...]
    index: int = 0
    began_s: float = 0.0
    waiting: dict[str, None] = field(default_factory=dict)
    live: dict[str, str] = field(default_factory=dict)
    """Turn of each running sub-job, "" for a compute operation."""
    state: JobState = JobState.COMPLETED_SUCCESSFULLY
    return_code: int = 0
    watched: bool = False


@dataclass(slots=True)
class _Follow:
    """What follows from an event, while it is found out."""

    requests: list[Request] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    granted: deque[str] = field(default_factory=deque)

    def step(self) -> Step:
        return Step(self.requests, self.ended) if self.requests or self.ended else NOTHING


class Sequenced:
    """Runs sequences of operations.

    Parameters
    ----------
    gate
        Who may transfer; default: everybody (:class:`schedulers.jobmodels.gates.Shared`).
    io_node_depth
        See :class:`schedulers.jobmodels.io_nodes.IoNodes`.
    on_record
        Called with each job's :class:`OperationRecord` when the job is through.
    """

    def __init__(
        self,
        gate: Gate | None = None,
        io_node_depth: int = 0,
        on_record: Callable[[OperationRecord], None] | None = None,
    ) -> None:
        self._gate = gate if gate is not None else Shared()
        self._depth = io_node_depth
        self._on_record = on_record
        self._rigid = Rigid()
        self._jobs: dict[str, _Sequence] = {}
        self._sub_jobs: dict[str, _Sequence] = {}
        self._turns: dict[str, tuple[_Sequence, int]] = {}
        self._reuse = True
        self._machine: Machine
        self._io_nodes: IoNodes

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Learn the machine; refuse a simulator without dynamic jobs or a platform without a file system."""
        if not config.dynamic_jobs_enabled:
            raise RemoteProtocolError(
                "sequences of operations need dynamic jobs: start Batsim with --enable-dynamic-jobs "
                "--enable-profile-reuse",
                "$.events[0].data.config.dynamic-jobs-enabled",
            )
        if machine.pfs_id is None:
            raise RemoteProtocolError(
                "sequences of operations need a storage host of kind 'pfs' to transfer to; the platform has none",
                "$.events[0].data.storage_resources",
            )
        self._rigid.begin(machine, config)
        self._machine = machine
        self._io_nodes = IoNodes(machine, self._depth)
        self._reuse = config.profile_reuse_enabled

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Sequence[Request]:
        """Replace the job by its first operation."""
        operations = operations_of(job.profile)
        if operations is None:
            return self._rigid.start(job, allocation, now_s)
        sequence = _Sequence(
            job,
            operations,
            OperationRecord(job, now_s),
            SubJobs.of(job.id, self._reuse, now_s + job.walltime_s),
            self._io_nodes.groups(allocation),
            self._machine.alloc_ids(allocation.nodes),
        )
        self._jobs[job.id] = sequence
        self._gate.enter(job.id, now_s)
        follow = _Follow()
        self._operate(sequence, now_s, follow)
        self._serve(now_s, follow)
        return (*follow.requests, RejectJob(now_s, job.id))

    def kill(self, job: Job, now_s: float) -> Step:
        """Give up what waits, kill what runs; a job of which nothing runs has ended."""
        sequence = self._jobs.get(job.id)
        if sequence is None:
            return self._rigid.kill(job, now_s)
        sequence.state, sequence.return_code = JobState.COMPLETED_KILLED, -2
        follow = _Follow()
        if sequence.live:
            follow.requests.append(KillJob(now_s, tuple(sequence.live)))
        self._give_up(sequence, now_s, follow)
        return follow.step()

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Digest what concerns sub-jobs, and walltimes that end while a job waits."""
        if isinstance(event, JobCompleted):
            sequence = self._sub_jobs.pop(event.job_id, None)
            return self._rigid.handle(event, now_s) if sequence is None else self._completed(event, sequence, now_s)
        if isinstance(event, JobSubmitted):
            return NOTHING if event.job_id in self._sub_jobs else None
        if isinstance(event, RequestedCall):
            return self._expire(now_s)
        return NOTHING if isinstance(event, JobKilled) else None

    # ------------------------------------------------------------------ steps

    def _completed(self, event: JobCompleted, sequence: _Sequence, now_s: float) -> Step:
        follow = _Follow()
        key = sequence.live.pop(event.job_id)
        if key:
            follow.granted.extend(self._gate.release(key, now_s))
        if event.state is not JobState.COMPLETED_SUCCESSFULLY and sequence.return_code == 0:
            sequence.state, sequence.return_code = event.state, event.return_code
        if sequence.return_code != 0:
            self._give_up(sequence, now_s, follow)
        elif not sequence.live and not sequence.waiting:
            self._next(sequence, now_s, follow)
        self._serve(now_s, follow)
        return follow.step()

    def _next(self, sequence: _Sequence, now_s: float, follow: _Follow) -> None:
        """An operation is through: begin the next, or end."""
        record, took_s = sequence.record, now_s - sequence.began_s
        if sequence.operations[sequence.index].io_bytes:
            record.transferred_s += took_s
        else:
            record.computed_s += took_s
        record.operations += 1
        sequence.index += 1
        if sequence.index == len(sequence.operations):
            self._end(sequence, now_s, follow)
        elif sequence.sub_jobs.overdue(now_s):
            self._overdue(sequence, now_s, follow)
        else:
            self._operate(sequence, now_s, follow)

    def _operate(self, sequence: _Sequence, now_s: float, follow: _Follow) -> None:
        """Begin an operation, or queue for it."""
        operation = sequence.operations[sequence.index]
        sequence.began_s = math.nan if operation.io_bytes else now_s
        if not operation.io_bytes:
            profile = {"type": "delay", "delay": operation.compute_s, "ret": 0}
            self._run(sequence, f"compute_{operation.compute_s}", profile, sequence.hosts, "", now_s, follow)
            return
        for node, part in sequence.groups.items():
            key = f"{sequence.job.id}/{sequence.index}/{node}"
            self._turns[key] = (sequence, node)
            sequence.waiting[key] = None
            volume = operation.io_bytes * len(part) / sequence.job.nodes
            follow.granted.extend(self._gate.request(key, sequence.job.id, node, volume, now_s))
        if sequence.sub_jobs.deadline_s < math.inf and not sequence.watched:
            sequence.watched = True  # nothing of a waiting job runs, so Batsim does not watch its walltime
            call_s = max(sequence.sub_jobs.deadline_s, now_s + SHORTEST_WALLTIME_S)
            follow.requests.append(CallMeLater(now_s, call_s))

    def _serve(self, now_s: float, follow: _Follow) -> None:
        """Let the turns begin that the gate has granted; a turn whose job is overdue passes on at once."""
        while follow.granted:
            key = follow.granted.popleft()
            sequence, node = self._turns.pop(key)
            del sequence.waiting[key]
            if sequence.sub_jobs.overdue(now_s):
                follow.granted.extend(self._gate.release(key, now_s))
                self._overdue(sequence, now_s, follow)
                continue
            self._transfer(sequence, sequence.operations[sequence.index], node, key, now_s, follow)

    def _transfer(
        self, sequence: _Sequence, operation: Operation, node: int, key: str, now_s: float, follow: _Follow
    ) -> None:
        per_node = operation.io_bytes / sequence.job.nodes
        assert self._machine.pfs_id is not None
        profile = {
            "type": "parallel_homogeneous_pfs",
            "bytes_to_read": 0,
            "bytes_to_write": per_node,
            "storage": "pfs",
            "ret": 0,
        }
        if math.isnan(sequence.began_s):
            sequence.began_s = now_s
        part = sequence.groups[node]
        hosts = sequence.hosts if len(sequence.groups) == 1 else self._machine.alloc_ids(part)
        storage = {"pfs": self._machine.pfs_id}
        self._run(sequence, f"io_{per_node}", profile, hosts, key, now_s, follow, storage)

    def _run(
        self,
        sequence: _Sequence,
        name: str,
        profile: dict[str, object],
        hosts: tuple[int, ...],
        key: str,
        now_s: float,
        follow: _Follow,
        storage: dict[str, int] | None = None,
    ) -> None:
        sub_id = sequence.sub_jobs.run(name, profile, hosts, storage, now_s, follow.requests)
        self._sub_jobs[sub_id] = sequence
        sequence.live[sub_id] = key

    # ------------------------------------------------------------------ ends

    def _expire(self, now_s: float) -> Step | None:
        """End the jobs whose walltime is over while nothing of them runs."""
        late = [job for job in self._jobs.values() if job.waiting and not job.live and job.sub_jobs.overdue(now_s)]
        follow = _Follow()
        for sequence in late:
            self._overdue(sequence, now_s, follow)
        self._serve(now_s, follow)
        return follow.step() if late else None

    def _overdue(self, sequence: _Sequence, now_s: float, follow: _Follow) -> None:
        if sequence.return_code == 0:
            sequence.state, sequence.return_code = JobState.COMPLETED_WALLTIME_REACHED, -1
        self._give_up(sequence, now_s, follow)

    def _give_up(self, sequence: _Sequence, now_s: float, follow: _Follow) -> None:
        """A job has failed: it waits no longer, and ends when nothing of it runs."""
        for key in self._gate.withdraw(sequence.job.id, now_s):
            del sequence.waiting[key]
            del self._turns[key]
        if not sequence.live and not sequence.waiting and sequence.job.id in self._jobs:
            self._end(sequence, now_s, follow)

    def _end(self, sequence: _Sequence, now_s: float, follow: _Follow) -> None:
        del self._jobs[sequence.job.id]
        account = self._gate.leave(sequence.job.id, now_s)
        record = sequence.record
        record.end_s, record.state, record.waited_s = now_s, sequence.state, account.waited_s
        record.sub_jobs = sequence.sub_jobs.count
        if self._on_record is not None:
            self._on_record(record)
        follow.ended.append(Ended(sequence.job.id, sequence.state, sequence.return_code))
