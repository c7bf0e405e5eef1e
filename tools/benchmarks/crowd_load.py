"""All jobs submitted at one instant, then ended one by one: CPU time of a session by length of the queue.

``python -m tools.benchmarks.crowd_load [--policies fcfs,filler,easy] [--jobs 20000,40000,80000,100000]``

A session and its messages, as bytes, on 96 nodes with 4 burst buffers, without a simulator: CPU s to the answer to the
submission and to the last end, and the growth from one length to the next, as the power of the number of jobs. Each
measurement has a process of its own; its peak memory is printed, and its memory with the simulator's part before the
submission.
"""

from __future__ import annotations

import argparse
import heapq
import math
import multiprocessing
import random
import resource
import time
from collections.abc import Iterator
from typing import NamedTuple

from spillway.protocol.batsim4 import codec
from spillway.protocol.messages import (
    Event,
    ExecuteJob,
    JobCompleted,
    JobState,
    JobSubmitted,
    Message,
    ResourceInfo,
    SimulationBegins,
)
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.description import PolicySpec

NODES = 96
STORAGES = 4
CAPACITY = 10**12
WALLTIME_S = 1000.0


class MeasuredCost(NamedTuple):
    """Cost of a measurement: CPU s to the answer and to the last end, MB at the peak and before the first job."""

    answered_s: float
    ended_s: float
    peak_mb: float
    before_mb: float


def begins() -> SimulationBegins:
    """Describe the machine."""
    nodes = tuple(ResourceInfo(index, f"n{index}") for index in range(NODES))
    buffers = tuple(
        ResourceInfo(NODES + index, f"bb{index}", properties={"role": "storage", "capacity_bytes": str(CAPACITY)})
        for index in range(STORAGES)
    )
    return SimulationBegins(0.0, nodes, buffers, profiles={"w0": {"p": {"type": "delay", "delay": 1.0}}})


def submissions(number: int) -> Iterator[tuple[JobSubmitted, float]]:
    """Jobs of 1 to 8 nodes, all at 1 s, with their durations (s)."""
    rng = random.Random(1)
    for index in range(number):
        name = f"w0!{index}"
        row = {"id": name, "subtime": 1.0, "res": rng.randint(1, 8), "walltime": WALLTIME_S, "profile": "p"}
        yield JobSubmitted(1.0, name, row), rng.uniform(10.0, WALLTIME_S)


class Service:
    """A session as a service runs it, bytes in and bytes out, and the CPU seconds that it took so far."""

    def __init__(self, policy: str) -> None:
        self.taken_s = 0.0
        self._session = SessionSpec(PolicySpec(policy)).session(None)

    def answer(self, time_s: float, events: tuple[Event, ...]) -> Iterator[ExecuteJob]:
        """Return the jobs that it starts; the simulator's time does not count."""
        data = codec.encode_message(Message(time_s, events))
        begin_s = time.process_time()
        reply = self._session.handle(codec.decode_message(data))
        codec.encode_reply(reply)
        self.taken_s += time.process_time() - begin_s
        return (request for request in reply.events if isinstance(request, ExecuteJob))


def measure(policy: str, number: int) -> MeasuredCost:
    """Play ``number`` jobs."""
    service = Service(policy)
    service.answer(0.0, (begins(),))
    jobs, durations_s = zip(*submissions(number), strict=True)
    before_mb, before_s = peak_mb(), service.taken_s
    starts = service.answer(1.0, jobs)
    answered_s = service.taken_s - before_s
    del jobs
    ends: list[tuple[float, int, Event]] = []
    now_s = 1.0
    while True:
        for start in starts:
            job = int(start.job_id.partition("!")[2])
            end_s = round(now_s + durations_s[job], 6)
            done = JobCompleted(end_s, start.job_id, JobState.COMPLETED_SUCCESSFULLY, 0, start.alloc)
            heapq.heappush(ends, (end_s, job, done))
        if not ends:
            return MeasuredCost(answered_s, service.taken_s - before_s, peak_mb(), before_mb)
        now_s, _, event = heapq.heappop(ends)
        starts = service.answer(now_s, (event,))


def peak_mb() -> float:
    """Peak memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Print the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", default="fcfs,filler,easy")
    parser.add_argument("--jobs", default="20000,40000,80000,100000")
    given = parser.parse_args()
    spawned = multiprocessing.get_context("spawn")
    print(f"{'policy':10} {'jobs':>9} {'answered':>9} {'ended':>8} {'growth':>7} {'peak MB':>8} {'before':>7}")
    for policy in given.policies.split(","):
        former: tuple[int, float] | None = None
        for number in map(int, given.jobs.split(",")):
            with spawned.Pool(1) as pool:
                taken = pool.apply(measure, (policy, number))
            growth = "-" if former is None else f"{math.log(taken.ended_s / former[1], number / former[0]):.2f}"
            former = number, taken.ended_s
            print(
                f"{policy:10} {number:9,} {taken.answered_s:9.1f} {taken.ended_s:8.1f} {growth:>7} "
                f"{taken.peak_mb:8.0f} {taken.before_mb:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
