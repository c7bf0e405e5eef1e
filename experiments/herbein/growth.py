"""Decision times by size of the machine: the same queue, the same load, more nodes."""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import replace

import numpy as np

from experiments.herbein.published import AWARE
from schedulers.estimates import Requested
from schedulers.machine import MachineDefaults
from schedulers.policies import POLICIES
from schedulers.protocol.messages import (
    Event,
    ExecuteJob,
    JobCompleted,
    JobState,
    JobSubmitted,
    Message,
    ResourceInfo,
    SimulationBegins,
)
from schedulers.session import Session
from workloads.herbein import PAPER_RATE, HerbeinModel, HerbeinOptions, draw_herbein
from workloads.workload import Workload

SIZES = (1_000, 4_000, 16_000, 64_000)
"""Nodes."""

EDGE_NODES = 18
UNDER_PROVISIONED = 0.7
QUANTILES = (50, 75, 95, 99)


def decision_times(model: HerbeinModel, nodes: int, scheduler: str, options: HerbeinOptions) -> dict[str, float]:
    """Quantiles of the CPU time from a message to its answer under EASY, s: what else the machine does, does not count.

    Durations are given (no contention), so that nothing but the scheduler is measured; the first message, in which the
    machine is read, is left out and stated apart.

    Parameters
    ----------
    nodes
        Size of the machine; sizes of jobs grow with it.
    scheduler
        ``aware`` or ``ignorant``.
    options
        How the workload of CTS-1's size is drawn.
    """
    scaled = replace(options, nodes=nodes, size_factor=options.size_factor * nodes / 3888)
    workload = draw_herbein(model, scaled)
    session = Session(
        POLICIES["easy"].build(), defaults=MachineDefaults(bandwidth=scheduler == AWARE), estimator=Requested()
    )
    begin = time.thread_time()
    session.handle(Message(0.0, (tree_of(nodes),)))
    first_s = time.thread_time() - begin
    times = np.array(_play(session, workload))
    quantiles = {f"decision_p{quantile}_s": float(np.percentile(times, quantile)) for quantile in QUANTILES}
    quantiles["decision_max_s"] = float(times.max())
    return quantiles | {"first_message_s": first_s, "decisions": float(len(times))}


def tree_of(nodes: int) -> SimulationBegins:
    """A machine like CTS-1 under-provisioned by 30 %, of any size."""
    pfs = math.ceil(UNDER_PROVISIONED * PAPER_RATE * nodes)
    pool = math.ceil(432e9 / 3888 * nodes)
    return SimulationBegins(
        0.0,
        tuple(
            ResourceInfo(
                index,
                f"n{index}",
                properties={"io_path": f"pfs={pfs}/pool={pool}/edge{index // EDGE_NODES}=216000000000"},
            )
            for index in range(nodes)
        ),
        (),
    )


def _play(session: Session, workload: Workload) -> list[float]:
    """CPU seconds of every answer; events of one instant share a message."""
    heap: list[tuple[float, int, Event]] = []
    durations: dict[str, float] = {}
    for number, job in enumerate(workload.jobs):
        name = f"w0!{job.name}"
        durations[name] = float(workload.profiles[job.profile]["cpu"]) / 1e9
        heapq.heappush(heap, (job.subtime, number, JobSubmitted(job.subtime, name, job.to_object() | {"id": name})))
    number = len(heap)
    times = []
    while heap:
        now_s = heap[0][0]
        events: list[Event] = []
        while heap and heap[0][0] == now_s:
            events.append(heapq.heappop(heap)[2])
        begin = time.thread_time()
        reply = session.handle(Message(now_s, tuple(events)))
        times.append(time.thread_time() - begin)
        for request in reply.events:
            if isinstance(request, ExecuteJob):
                number += 1
                end_s = now_s + durations[request.job_id]
                done = JobCompleted(end_s, request.job_id, JobState.COMPLETED_SUCCESSFULLY, 0, request.alloc)
                heapq.heappush(heap, (end_s, number, done))
    return times
