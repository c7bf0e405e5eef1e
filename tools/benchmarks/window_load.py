"""Time of the choice of a window, and share of choices proven best, by method and window size.

``python -m tools.benchmarks.window_load [--pictures N] [--method NAME ...] [--size N ...] [--steps N] [--z3-limit N]``

Each picture is a loaded machine of the thesis (96 nodes, 12 storage nodes of 40 GB): jobs start at random until several
did not fit, then a few of them end. The window's jobs are drawn like the running ones. Two loads of the storage nodes:
requests as in the thesis (log-normal, its Table 2.3), and twice as large.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean, median

from spillway.schedulers.search.packing import Packing, PackingAnswer, pack
from spillway.schedulers.search.subset import SubsetProblem, SubsetResult, largest_first
from spillway.schedulers.search.subset_bb import Budget, branch_and_bound
from spillway.schedulers.search.subset_z3 import Z3Packer
from tests.schedulers.search.problems import is_packing

NODES, STORAGES, CAPACITY = 96, 12, 40 * 10**9
MISFITS = 5
"""Jobs that do not fit before a machine counts as loaded."""


@dataclass(frozen=True)
class Limits:
    """Budgets of the methods, in their own measures."""

    steps: int = 1_000_000
    z3: int = 1_000_000


Method = Callable[[SubsetProblem, Limits], SubsetResult]


def draw_job(rng: random.Random, load: float) -> tuple[int, int]:
    """Nodes and burst-buffer bytes per node, in the shape of the thesis's workload."""
    nodes = 1 if rng.random() < 0.35 else max(1, min(NODES, round(rng.lognormvariate(1.6, 1.1))))
    size = int((rng.lognormvariate(14.814, 1.09725) - 150_361) * 1024 * load)
    size = min(CAPACITY, max(100_000_000, size))
    if rng.random() < 0.086:
        size = 10_000_000
    if nodes > STORAGES * (CAPACITY // size):
        size = CAPACITY // -(-nodes // STORAGES)
    return nodes, size


def picture(rng: random.Random, window: int, load: float, units_first: bool) -> SubsetProblem:
    """Draw a loaded machine and a window of jobs."""
    free, capacities = NODES, [CAPACITY] * STORAGES
    running: list[tuple[int, list[int]]] = []
    misfits = 0
    while misfits < MISFITS:
        nodes, size = draw_job(rng, load)
        placed = pack([nodes], [size], capacities) if nodes <= free else None
        if placed is None or placed.verdict is not PackingAnswer.YES:
            misfits += 1
            continue
        taken = [count * size for count in placed.taken[0].tolist()]
        free, capacities = free - nodes, [left - one for left, one in zip(capacities, taken, strict=True)]
        running.append((nodes, taken))
    for nodes, taken in rng.sample(running, min(len(running), rng.randint(1, 3))):
        free, capacities = free + nodes, [left + one for left, one in zip(capacities, taken, strict=True)]
    jobs = [draw_job(rng, load) for _ in range(window)]
    waits = [float(rng.randrange(200_000)) for _ in jobs]
    return SubsetProblem([n for n, _ in jobs], [size for _, size in jobs], waits, free, capacities, units_first)


def pictures(count: int, window: int, load: float, seed: int = 5) -> Iterator[SubsetProblem]:
    """Yield the same pictures for every method; nodes first and bytes first in turn."""
    rng = random.Random(seed)
    for index in range(count):
        yield picture(rng, window, load, index % 2 == 0)


def by_bb(problem: SubsetProblem, limits: Limits) -> SubsetResult:
    """Branch and bound, the default."""
    return branch_and_bound(problem, Budget(limits.steps))


def by_largest_first(problem: SubsetProblem, limits: Limits) -> SubsetResult:
    """Run the thesis's loop over sets; Z3 for sets that counting and a rule of thumb leave open."""
    packer = Z3Packer(limits.z3)

    def fits(chosen: tuple[int, ...]) -> Packing:
        quick = pack(*problem.of(chosen), problem.capacities, 0)
        return (
            packer.pack(*problem.of(chosen), problem.capacities) if quick.verdict is PackingAnswer.UNDECIDED else quick
        )

    return largest_first(problem, fits, 1 << len(problem.units))


METHODS: dict[str, Method] = {"bb": by_bb, "largest-first": by_largest_first}
LARGEST = {"bb": 1000, "largest-first": 14}
"""Largest window that each method is tried on."""


@dataclass(frozen=True)
class Row:
    """Results of one method on some pictures.

    Attributes
    ----------
    proven
        Share of choices proven best.
    seconds
        Time of each choice.
    gaps
        Gaps of the choices not proven, in the first and the second part of the score.
    """

    proven: float
    seconds: list[float]
    gaps: list[tuple[float, float]]


def measure(method: str, count: int, window: int, load: float, limits: Limits) -> Row:
    """Choose on every picture, and check every choice independently of the method."""
    seconds, gaps = [], []
    for problem in pictures(count, window, load):
        begin = time.perf_counter()
        result = METHODS[method](problem, limits)
        seconds.append(time.perf_counter() - begin)
        assert result.chosen is not None
        assert problem.within_limits(result.chosen)
        assert is_packing(*problem.of(result.chosen), problem.capacities, result.taken)
        if not result.proven:
            gaps.append(result.gap)
    return Row(1 - len(gaps) / count, seconds, gaps)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=100)
    parser.add_argument("--method", action="append", choices=tuple(METHODS))
    parser.add_argument("--size", action="append", type=int)
    parser.add_argument("--steps", type=int, default=Limits.steps)
    parser.add_argument("--z3-limit", type=int, default=Limits.z3)
    arguments = parser.parse_args()
    limits = Limits(arguments.steps, arguments.z3_limit)
    print("load method          size  proven  median ms  p95 ms  max ms  mean gap 1st / 2nd  largest")
    for load in (1.0, 2.0):
        for method in arguments.method or METHODS:
            for size in arguments.size or (10, 20, 40, 60):
                if size > LARGEST[method]:
                    continue
                row = measure(method, arguments.pictures, size, load, limits)
                times = sorted(1e3 * second for second in row.seconds)
                gaps = [f"{mean(part):.2%} / " for part in zip(*row.gaps, strict=True)] or ["-", ""]
                worst = f"{max(max(gap) for gap in row.gaps):.2%}" if row.gaps else "-"
                print(
                    f"{load:4.1f} {method:15} {size:4} {row.proven:7.1%} {median(times):10.2f} "
                    f"{times[int(0.95 * len(times))]:7.2f} {times[-1]:7.1f}  {''.join(gaps).rstrip('/ '):18}  {worst}",
                    flush=True,
                )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
