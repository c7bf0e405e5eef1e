"""A tiny event loop that plays jobs of given durations against a session: fast enough for thousands of examples."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spillway.protocol import messages as m
from spillway.schedulers.core.session import Session
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.timesharing.sharing import NodeSharingPolicy

SPACE_SHARING = [name for name, entry in POLICIES.items() if not issubclass(entry.cls, NodeSharingPolicy)]
"""Policies under which a job has its nodes to itself; those that share them in time run as dynamic jobs."""


@dataclass(frozen=True)
class MiniJob:
    """A job to play: request and true duration (s)."""

    submit_s: float
    nodes: int
    walltime_s: float
    run_s: float
    bb_bytes: int = 0
    io_rate: int = 0
    site_wait_s: float = 0.0
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Further fields."""


@dataclass(frozen=True)
class MiniMachine:
    """Shape of the machine to play on."""

    nodes: int
    storages: int = 0
    storage_bytes: int = 0
    io_paths: tuple[str, ...] = ()

    def begins(self) -> m.SimulationBegins:
        """The first event."""
        return m.SimulationBegins(
            0.0,
            tuple(
                m.ResourceInfo(i, f"n{i}", properties={"io_path": self.io_paths[i]} if self.io_paths else {})
                for i in range(self.nodes)
            ),
            tuple(
                m.ResourceInfo(self.nodes + i, f"s{i}", properties={"capacity_bytes": str(self.storage_bytes)})
                for i in range(self.storages)
            ),
        )


def play(session: Session, machine: MiniMachine, jobs: list[MiniJob], late_s: float = 0.0) -> list[object]:
    """Run the jobs to the end and return all replies.

    Time is exact: completions are reported at the instant of the end, ends before submissions, each instant in one
    message; only a job that reaches its walltime is reported ``late_s`` after it, as in Batsim due to message latency.
    Raises AssertionError when a job is started twice or after the end.
    """
    heap: list[tuple[float, int, int, m.Event]] = []
    durations: dict[str, float] = {}
    counter = 0
    for index, job in enumerate(sorted(jobs, key=lambda j: j.submit_s)):
        job_id = f"w0!{index}"
        durations[job_id] = job.run_s
        wire = {"id": job_id, "subtime": job.submit_s, "res": job.nodes, "walltime": job.walltime_s, "profile": "p"}
        wire |= {"bb": job.bb_bytes, "io_rate": job.io_rate, "site_wait_s": job.site_wait_s, **job.extras}
        heapq.heappush(heap, (job.submit_s, 1, counter, m.JobSubmitted(job.submit_s, job_id, wire)))
        counter += 1
    walltimes = {f"w0!{i}": j.walltime_s for i, j in enumerate(sorted(jobs, key=lambda j: j.submit_s))}
    replies: list[object] = [session.handle(m.Message(0.0, (machine.begins(),)))]
    running: set[str] = set()
    now_s = 0.0
    while heap:
        now_s = heap[0][0]
        events: list[m.Event] = []
        while heap and heap[0][0] == now_s:
            event = heapq.heappop(heap)[3]
            if isinstance(event, m.JobCompleted):
                if event.job_id not in running:
                    continue
                running.discard(event.job_id)
            events.append(event)
        if not any(isinstance(entry[3], m.JobSubmitted) for entry in heap):
            events.append(m.Notify(now_s, m.NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value))
        if not events:
            continue
        reply = session.handle(m.Message(now_s, tuple(events)))
        session.check()
        replies.append(reply)
        for request in reply.events:
            if isinstance(request, m.ExecuteJob):
                assert request.job_id not in running
                running.add(request.job_id)
                run_s, wall_s = durations[request.job_id], walltimes[request.job_id]
                ok = wall_s <= 0 or run_s < wall_s
                end_s = now_s + (run_s if ok else wall_s + late_s)
                state = m.JobState.COMPLETED_SUCCESSFULLY if ok else m.JobState.COMPLETED_WALLTIME_REACHED
                counter += 1
                done = m.JobCompleted(end_s, request.job_id, state, 0 if ok else -1, request.alloc)
                heapq.heappush(heap, (end_s, 0, counter, done))
            elif isinstance(request, m.CallMeLater):
                counter += 1
                heapq.heappush(heap, (request.at, 2, counter, m.RequestedCall(request.at)))
            elif isinstance(request, m.KillJob):
                for job_id in request.job_ids:
                    counter += 1
                    gone = m.JobCompleted(now_s, job_id, m.JobState.COMPLETED_KILLED, -2, ())
                    heapq.heappush(heap, (now_s, 0, counter, gone))
            else:
                assert isinstance(request, m.RejectJob) or type(request).__name__ == "SetJobMetadata"
    replies.append(session.handle(m.Message(now_s, (m.SimulationEnds(now_s),))))
    return replies
