"""Cost of queries to timelines of a loaded machine: ``python -m tools.benchmarks.timeline_load``."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spillway.core import Timeline
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Link, Machine, Node, Storage, nearest_first

SIZES = (1, 1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 16, 25, 32, 48, 64, 80)
WALLTIMES_S = (60, 300, 600, 3600, 3600, 7200, 14400, 14400, 36000, 60000)
OPERATIONS = ("earliest_fit", "fit_now", "reserve", "copy", "snapshot")
CAPACITY_BYTES = 40_000_000_000


def dragonfly() -> Machine:
    """The thesis's machine: 96 nodes and 12 storage nodes of 40 GB in three groups of four chassis."""
    places = [(str(i // 36), str(i // 9 % 4), str(i // 3 % 3)) for i in range(108)]
    storages = tuple(Storage(i, f"node_{i}", places[i][:2], CAPACITY_BYTES) for i in range(0, 108, 9))
    nodes = tuple(Node(i, f"node_{i}", places[i]) for i in range(108) if i % 9)
    return Machine(
        nodes=nodes,
        storages=storages,
        node_link=np.full(96, -1, np.int32),
        nearest_storages=nearest_first(nodes, storages),
    )


def cluster_of_switches(count: int) -> Machine:
    """``count`` nodes under edge switches of 18, a pool, and a file system with 70 % of 18 MB/s per node."""
    edges = -(-count // 18)
    links = (
        Link("pfs", 18_000_000 * count * 7 // 10, -1),
        Link("pool", 432_000_000_000, 0),
        *(Link(f"edge{i}", 216_000_000_000, 1) for i in range(edges)),
    )
    return Machine(
        nodes=tuple(Node(i, f"n{i}", ()) for i in range(count)),
        links=links,
        node_link=np.array([2 + i // 18 for i in range(count)], np.int32),
        nearest_storages=np.zeros((count, 0), np.int32),
    )


def queue(seed: int, machine: Machine) -> Iterable[Job]:
    """Endless jobs like KTH's, scaled to the machine, with burst buffers or I/O rates where the machine has either."""
    rng = random.Random(seed)
    scale = len(machine.nodes) / 96
    number = 0
    while True:
        nodes = max(1, int(rng.choice(SIZES) * scale))
        bb_bytes = 0
        if machine.storages:
            drawn = min(4e10, max(1e8, rng.lognormvariate(math.log(2.6e9), 1.0)))
            bb_bytes = min(int(drawn), CAPACITY_BYTES // math.ceil(nodes / len(machine.storages)))
        io_rate = 18_000_000 if machine.links else 0
        yield Job(f"w!{number}", number, 0.0, rng.choice(WALLTIMES_S) + rng.random(), nodes, bb_bytes, io_rate)
        number += 1


@dataclass(frozen=True)
class Load:
    """A timeline with ``segments`` segments, and jobs for queries."""

    machine: Machine
    timeline: Timeline
    jobs: list[Job]


def load(segments: int, requested: int, machine: Machine, seed: int = 1) -> Load:
    """Plan jobs one after the other, each at its earliest start, until the timeline has ``segments`` segments."""
    timeline, jobs = Timeline(machine), iter(queue(seed, machine))
    while len(timeline) < segments:
        job = next(jobs)
        fit = timeline.earliest_fit(job, job.walltime_s)
        if fit is not None:
            timeline.reserve(fit.start_s, fit.start_s + job.walltime_s, fit.allocation)
    return Load(machine, timeline, [next(jobs) for _ in range(requested)])


def microseconds(function: Callable[..., Any], calls: list[tuple[Any, ...]], rounds: int = 3) -> float:
    """Mean time of a call in microseconds, in the best of some rounds."""
    best_s = math.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        for arguments in calls:
            function(*arguments)
        best_s = min(best_s, time.perf_counter() - begin)
    return best_s / len(calls) * 1e6


def costs(picture: Load) -> dict[str, float]:
    """Microseconds of the operations of a timeline."""
    timeline = picture.timeline
    calls = [(job, job.walltime_s) for job in picture.jobs]
    fits = [(job, timeline.earliest_fit(job, job.walltime_s)) for job in picture.jobs]
    bookings = [
        (fit.start_s, fit.start_s + job.walltime_s, fit.allocation) for job, fit in fits if fit is not None
    ]  # fmt: skip

    def book(*booking: Any) -> None:
        timeline.reserve(*booking)
        timeline.release(*booking)

    return {
        "earliest_fit": microseconds(timeline.earliest_fit, calls),
        "fit_now": microseconds(timeline.fit_now, calls),
        "reserve": microseconds(book, bookings) / 2,
        "copy": microseconds(timeline.copy, [()] * 200),
        "snapshot": microseconds(timeline.snapshot, [()] * 200),
    }


def main() -> None:
    """Print the tables."""
    print("microseconds per operation")
    print(f"{'machine':>22} {'segments':>8}", *(f"{name:>12}" for name in OPERATIONS))
    rows = [("96 nodes, 12 storages", dragonfly(), (5, 50, 200, 1000))]
    rows += [(f"{count} nodes, links", cluster_of_switches(count), (50, 300)) for count in (1000, 3888, 16000, 64000)]
    for name, machine, sizes in rows:
        for segments in sizes:
            picture = load(segments, 2000 if len(machine.nodes) < 1000 else 100, machine)
            print(f"{name:>22} {segments:>8}", *(f"{cost:>12.2f}" for cost in costs(picture).values()))


if __name__ == "__main__":
    main()
