"""A workload played with given durations against a session: no simulator, no contention, only the scheduler."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

from spillway.protocol.messages import (
    Event,
    ExecuteJob,
    JobCompleted,
    JobState,
    JobSubmitted,
    Message,
    Reply,
    ResourceInfo,
    SimulationBegins,
)
from spillway.workloads.herbein import PAPER_RATE
from spillway.workloads.workload import Workload

_EDGE_NODES = 18
"""Nodes at an edge switch of CTS-1."""


def tree_of(nodes: int, provisioned: float = 1.0) -> SimulationBegins:
    """A machine like CTS-1 of any size.

    Parameters
    ----------
    provisioned
        Bandwidth of the file system, as a share of the nodes' requests at the paper's rate.
    """
    pfs = math.ceil(provisioned * PAPER_RATE * nodes)
    pool = math.ceil(432e9 / 3888 * nodes)
    return SimulationBegins(
        0.0,
        tuple(
            ResourceInfo(
                index,
                f"n{index}",
                properties={"io_path": f"pfs={pfs}/pool={pool}/edge{index // _EDGE_NODES}=216000000000"},
            )
            for index in range(nodes)
        ),
        (),
    )


def play(handle: Callable[[Message], Reply], workload: Workload) -> float:
    """Play all jobs, and return the time from the first submission to the last end, s.

    Parameters
    ----------
    handle
        Answers messages, for a session that has its machine. Events of one instant share a message.
    """
    heap: list[tuple[float, int, Event]] = []
    durations: dict[str, float] = {}
    for number, job in enumerate(workload.jobs):
        name = f"w0!{job.name}"
        durations[name] = float(workload.profiles[job.profile]["cpu"]) / 1e9
        heapq.heappush(heap, (job.subtime, number, JobSubmitted(job.subtime, name, job.to_object() | {"id": name})))
    number, begin_s, now_s = len(heap), heap[0][0], heap[0][0]
    while heap:
        now_s = heap[0][0]
        events: list[Event] = []
        while heap and heap[0][0] == now_s:
            events.append(heapq.heappop(heap)[2])
        for request in handle(Message(now_s, tuple(events))).events:
            if isinstance(request, ExecuteJob):
                number += 1
                end_s = now_s + durations[request.job_id]
                done = JobCompleted(end_s, request.job_id, JobState.COMPLETED_SUCCESSFULLY, 0, request.alloc)
                heapq.heappush(heap, (end_s, number, done))
    return now_s - begin_s
