"""Coverage of the product's 95 % intervals: ``python -m tools.coverage [--quick]`` prints the table.

An interval holds if it contains the truth, of which there are two kinds. The first is a queue with one server and
exponential gaps and services, whose mean wait is known (Lindley's recursion; rho^2 / (1 - rho) for a service of mean
rho): one long run each, or several short ones that begin empty, with the mean of many such runs. The second is the
product itself: KTH-like logs under two policies, with the mean over all seeds. The rules were chosen on such queues
(other seeds), so that only the last row was not used for choosing. Intervals are given more often for runs that
happened to be quiet: if few are given, fewer hold.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.analysis.measures.compare import Interval, compare_runs, mean_interval

Floats = npt.NDArray[np.float64]
FASTER = 0.95
"""Services of the second policy, as a share of the first's: the pair shares its gaps."""


class Coverage(NamedTuple):
    """Number of workloads, of those with an interval, and of intervals that contain the truth."""

    what: str
    workloads: int
    mean_given: int
    mean_held: int
    ratio_given: int
    ratio_held: int

    def line(self) -> str:
        """One line of the table."""
        parts = [
            f"{given:4d} {held / given if given else math.nan:7.1%}"
            for given, held in ((self.mean_given, self.mean_held), (self.ratio_given, self.ratio_held))
        ]
        return f"{self.what:58s} {self.workloads:5d}   {parts[0]}   {parts[1]}"


def waits(gaps: Floats, services: Floats) -> Floats:
    """Waiting times of a queue with one server that begins empty."""
    steps = np.concatenate(([0.0], services[:-1] - gaps[1:]))
    walk = np.cumsum(steps)
    return walk - np.minimum.accumulate(np.minimum(walk, 0.0))


def queue(rng: np.random.Generator, load: float, jobs: int) -> tuple[Floats, Floats]:
    """Waiting times of the same jobs under both policies."""
    gaps, services = rng.exponential(1.0, jobs), rng.exponential(load, jobs)
    return waits(gaps, services), waits(gaps, FASTER * services)


def measured(what: str, samples: Iterator[tuple[list[Floats], list[Floats]]], mean: float, ratio: float) -> Coverage:
    """Count intervals of the first policy's mean, and of the ratio of the second to the first."""
    counts = [0] * 5
    for base, other in samples:
        counts[0] += 1
        for place, interval, true in (
            (1, mean_interval(base), mean),
            (3, compare_runs(other, base).ratio, ratio),
        ):
            counts[place] += interval.is_known
            counts[place + 1] += holds(interval, true)
    return Coverage(what, *counts)


def true_values(many: Floats) -> tuple[float, float]:
    """The mean of the first policy, and the ratio of the second in a typical run, from the means of many runs."""
    return float(many[:, 0].mean()), float(np.exp(np.log(many[:, 1] / many[:, 0]).mean()))


def holds(interval: Interval, truth: float) -> bool:
    """Whether an interval contains the truth."""
    return interval.is_known and interval.low <= truth <= interval.high


def long_runs(load: float, jobs: int, workloads: int, seed: int = 11) -> Coverage:
    """Coverage for one long run each."""
    rng = np.random.default_rng(seed)
    pairs = (queue(rng, load, jobs) for _ in range(workloads))
    mean, other = load**2 / (1 - load), (FASTER * load) ** 2 / (1 - FASTER * load)
    what = f"queue, load {load:g}, one run of {jobs:,} jobs"
    return measured(what, (([a], [b]) for a, b in pairs), mean, other / mean)


def short_runs(load: float, jobs: int, runs: int, workloads: int, seed: int = 12) -> Coverage:
    """Coverage for several short runs each, all beginning empty; the truth is the mean of 20,000 others."""
    rng = np.random.default_rng(seed)
    many = np.array([[column.mean() for column in queue(rng, load, jobs)] for _ in range(20_000)])

    def sample() -> tuple[list[Floats], list[Floats]]:
        pairs = [queue(rng, load, jobs) for _ in range(runs)]
        return [a for a, _ in pairs], [b for _, b in pairs]

    samples = (sample() for _ in range(workloads))
    return measured(f"queue, load {load:g}, {runs} runs of {jobs:,} jobs", samples, *true_values(many))


def logs(jobs: int, runs: int, workloads: int) -> Coverage:
    """Coverage for KTH-like logs on the thesis machine under ``easy`` and ``sjf-easy``; truth: all seeds."""
    found = list(_played(jobs, runs * workloads))
    many = np.array([[column.mean() for column in pair] for pair in found])
    groups = [found[start : start + runs] for start in range(0, len(found), runs)]
    samples = (([a for a, _ in group], [b for _, b in group]) for group in groups)
    return measured(f"kth-like:jobs={jobs}, {runs} seeds, easy and sjf-easy", samples, *true_values(many))


def _played(jobs: int, seeds: int) -> Iterator[tuple[Floats, Floats]]:
    from spillway.analysis.tables.jobs import read_run
    from spillway.experiments.cli import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        campaign = path / "coverage.toml"
        campaign.write_text(
            f'engine = "fixed"\nplots = false\nseeds = {list(range(1000, 1000 + seeds))}\n[[workload]]\n'
            f'source = "kth-like:jobs={jobs}"\n[[platform]]\nsource = "thesis"\n[[policy]]\npolicy = "easy"\n'
            '[[policy]]\npolicy = "sjf-easy"\n'
        )
        assert main([str(campaign), "--out", str(path / "out")]) == 0
        for seed in range(1000, 1000 + seeds):
            tables = []
            for policy in ("easy", "sjf-easy"):
                (run,) = (path / "out").glob(f"*_{policy}_*_s{seed}_*")
                table = read_run(run).ran()
                tables.append(table.wait_s[np.argsort(table.submit_s, kind="stable")])
            yield tables[0], tables[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="queues only")
    parser.add_argument("--workloads", type=int, default=200)
    options = parser.parse_args()
    kinds: list[Callable[[], Coverage]] = [
        lambda load=load, jobs=jobs: long_runs(load, jobs, options.workloads)  # type: ignore[misc]
        for load in (0.5, 0.7, 0.8, 0.9)
        for jobs in (1_000, 20_000, 50_000, 100_000, 200_000)
    ]
    kinds += [
        lambda load=load, runs=runs: short_runs(load, 1_000, runs, 5 * options.workloads)  # type: ignore[misc]
        for load in (0.5, 0.7, 0.8, 0.9)
        for runs in (5, 10, 20)
    ]
    if not options.quick:
        kinds.append(lambda: logs(1_000, 5, 100))
    print(f"{'':58s} {'':5s}   {'mean':>12s}   {'ratio':>12s}\n{'':58s} {'tried':>5s}   given   hold   given   hold")
    for kind in kinds:
        print(kind().line(), flush=True)


if __name__ == "__main__":
    main()
