"""Sequences of operations played without sub-jobs: the same session, gate and policy, 15 to 190 times faster.

Over the protocol each operation is a dynamic job: two messages, three requests, a task of the engine. Here the session
only gets submissions and ends; the operations between them are played by a calendar of this module: an operation of
``w`` seconds takes ``w``, the time of a transfer follows from the gate and the file system's bandwidth. The gate is
that of the protocol's execution (:mod:`spillway.schedulers.jobmodels.gates`); tests compare starts and ends of both.

It has one I/O node, no walltimes and no kills, as the experiment needs no more.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from spillway.protocol.messages import (
    BatsimConfig,
    Event,
    ExecuteJob,
    JobCompleted,
    JobState,
    JobSubmitted,
    Message,
    Notify,
    NotifyKind,
    SimulationBegins,
    SimulationEnds,
)
from spillway.schedulers.core.execution import NOTHING, Ended, Staged, Step
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.gates import Account, Gate
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.operations import Operation, Operations, operations_of
from spillway.workloads.workload import Workload


@dataclass(slots=True)
class Traces:
    """Events of an execution, for its measures.

    Attributes
    ----------
    computing
        ``(start, end, nodes)`` of every compute operation.
    transferring
        ``(start, end)`` of every interval in which the file system's bandwidth was in use.
    jobs
        ``(job, start, end, account at the gate)`` of every job that has ended.
    """

    computing: list[tuple[float, float, int]] = field(default_factory=list)
    transferring: list[tuple[float, float]] = field(default_factory=list)
    jobs: list[tuple[Job, float, float, Account]] = field(default_factory=list)


@dataclass(slots=True)
class _Running:
    job: Job
    operations: Operations
    start_s: float
    index: int = 0


class Channel:
    """The file system's bandwidth, in equal parts among the transfers that have begun.

    SimGrid's parallel tasks get the same on a link that all of them cross and that limits all of them, with any numbers
    of nodes. Counted in the bytes that each transfer has got since the channel became busy, all advance alike.

    Parameters
    ----------
    bandwidth
        Bytes per second.

    Attributes
    ----------
    next_end_s
        End of the next transfer if no other one begins; infinite without transfers.
    """

    def __init__(self, bandwidth: float) -> None:
        self.next_end_s = math.inf
        self._bandwidth = bandwidth
        self._each = 0.0
        self._since_s = 0.0
        self._ends: list[tuple[float, int, str]] = []
        self._numbers = itertools.count()

    @property
    def busy(self) -> bool:
        """Whether any job transfers."""
        return bool(self._ends)

    def begin(self, key: str, volume: float, now_s: float) -> None:
        """Begin a transfer."""
        ends = self._ends
        if ends:
            self._each += (now_s - self._since_s) * self._bandwidth / len(ends)
        else:
            self._each = 0.0
        self._since_s = now_s
        heapq.heappush(ends, (self._each + volume, next(self._numbers), key))
        self._set_next_end()

    def end(self) -> str:
        """End the next transfer, at :attr:`next_end_s`."""
        self._since_s = self.next_end_s
        each, _, key = heapq.heappop(self._ends)
        self._each = max(self._each, each)
        self._set_next_end()
        return key

    def _set_next_end(self) -> None:
        ends = self._ends
        if ends:
            left = max(0.0, ends[0][0] - self._each)
            self.next_end_s = self._since_s + left * len(ends) / self._bandwidth
        else:
            self.next_end_s = math.inf


class Direct:
    """The execution model and its calendar.

    Parameters
    ----------
    gate
        Decides which jobs may transfer.
    bandwidth
        Bandwidth of the file system, bytes per second.
    """

    def __init__(self, gate: Gate, bandwidth: float) -> None:
        self.traces = Traces()
        self._gate = gate
        self._channel = Channel(bandwidth)
        self._busy_since_s = 0.0
        self._running: dict[str, _Running] = {}
        self._alarms: list[tuple[float, int, str]] = []
        self._numbers = itertools.count()
        self._through: list[str] = []

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Set the machine."""
        self._machine = machine

    rows = 1

    def refuses(self, job: Job) -> str | None:
        """Refuse no job: every drawn job states operations."""
        return None

    def move(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Not implemented: the experiment does not need it."""
        raise NotImplementedError("jobs are not moved here")

    def settle(self, now_s: float) -> Step:
        """Do nothing: all requests have been returned already."""
        return NOTHING

    def outage(self, closed: Set[int], now_s: float) -> Step:
        """Not implemented: the experiment does not need it."""
        raise NotImplementedError("machines do not fail here")

    def check(self) -> None:
        """Check that every alarm belongs to a running job."""
        assert {name for _, _, name in self._alarms} <= self._running.keys(), "an alarm of a job that has ended"

    def give_up(self, job: Job, nodes: Set[int], now_s: float) -> Step | None:
        """Give up no node: jobs keep their size."""
        return None

    def stage(self, job: Job, allocation: Allocation, now_s: float) -> Step:
        """Report the job as staged: nothing is staged here."""
        return Step(staged=(Staged(job.id),))

    def without_nodes(self, job: Job, now_s: float) -> Step:
        """Not implemented: every drawn job has nodes."""
        raise NotImplementedError("jobs without nodes are not drawn here")

    def unstage(self, job: Job, now_s: float) -> Step:
        """Do nothing: nothing is staged here."""
        return NOTHING

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Step:
        """Begin a job's first operation."""
        operations = operations_of(job.profile)
        assert operations is not None, f"job {job.id} states no operations"
        running = self._running[job.id] = _Running(job, operations, now_s)
        self._gate.enter(job.id, now_s)
        self._operate(running, now_s)
        return Step((ExecuteJob(now_s, job.id, self._machine.alloc_ids(allocation.nodes)),))

    def kill(self, job: Job, now_s: float) -> Step:
        """Not implemented: the experiment does not need it."""
        raise NotImplementedError("jobs are not killed here")

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Turn a completion into the job's end."""
        if not isinstance(event, JobCompleted):
            return None
        return Step((), (Ended(event.job_id, event.state, event.return_code),))

    # ------------------------------------------------------------------ the calendar

    def advance(self, until_s: float) -> tuple[float, list[str]]:
        """Advance to ``until_s`` or, if it comes first, to the end of a job.

        Returns
        -------
        tuple
            The time reached, and the jobs that ended then.
        """
        through: list[str] = []
        self._through = through
        alarms, channel = self._alarms, self._channel
        while not through:
            alarm_s, end_s = alarms[0][0] if alarms else math.inf, channel.next_end_s
            if min(alarm_s, end_s) > until_s or alarm_s == end_s == math.inf:
                return until_s, through
            if alarm_s < end_s:
                now_s = alarm_s
                self._next(self._running[heapq.heappop(alarms)[2]], now_s)
                continue
            now_s = end_s
            key = channel.end()
            if not channel.busy:
                self.traces.transferring.append((self._busy_since_s, now_s))
            granted = self._gate.release(key, now_s)
            self._next(self._running[key], now_s)
            if granted:
                self._grant(granted, now_s)
        return now_s, through

    def _next(self, running: _Running, now_s: float) -> None:
        running.index += 1
        if running.index < len(running.operations):
            self._operate(running, now_s)
            return
        job = running.job
        del self._running[job.id]
        self.traces.jobs.append((job, running.start_s, now_s, self._gate.leave(job.id, now_s)))
        self._through.append(job.id)

    def _operate(self, running: _Running, now_s: float) -> None:
        operation: Operation = running.operations[running.index]
        name = running.job.id
        if operation.io_bytes:
            self._grant(self._gate.request(name, name, 0, operation.io_bytes, now_s), now_s)
            return
        end_s = now_s + operation.compute_s
        heapq.heappush(self._alarms, (end_s, next(self._numbers), name))
        self.traces.computing.append((now_s, end_s, running.job.nodes))

    def _grant(self, keys: Sequence[str], now_s: float) -> None:
        for key in keys:
            running = self._running[key]
            if not self._channel.busy:
                self._busy_since_s = now_s
            self._channel.begin(key, running.operations[running.index].io_bytes, now_s)


def play(session: Session, execution: Direct, begins: SimulationBegins, workload: Workload) -> None:
    """Play a workload to its end against a session that runs jobs with this execution.

    Parameters
    ----------
    begins
        The first event of the conversation: the machine.
    workload
        Jobs with operations and without walltimes.
    """
    session.handle(Message(0.0, (begins,)))
    submissions = deque(sorted(workload.jobs, key=lambda job: (job.subtime, job.name)))  # Batsim's order
    left = {f"w0!{job.name}" for job in workload.jobs}
    while left:
        submit_s = float(submissions[0].subtime) if submissions else math.inf
        now_s, ended = execution.advance(submit_s)
        events: list[Event]
        if ended:
            events = [JobCompleted(now_s, name, JobState.COMPLETED_SUCCESSFULLY, 0, ()) for name in ended]
            left.difference_update(ended)
        else:
            assert now_s < math.inf, f"{len(left)} jobs will never end"
            events = []
            while submissions and float(submissions[0].subtime) <= now_s:
                job = submissions.popleft()
                name = f"w0!{job.name}"
                profile = workload.profiles[job.profile]
                events.append(JobSubmitted(now_s, name, {**job.to_object(), "id": name}, profile))
            if not submissions:
                events.append(Notify(now_s, NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value, ()))
        session.handle(Message(now_s, tuple(events)))
    session.handle(Message(execution.traces.jobs[-1][2], (SimulationEnds(execution.traces.jobs[-1][2]),)))
