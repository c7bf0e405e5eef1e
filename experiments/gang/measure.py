"""Means, ratios and their intervals over workloads (seeds)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.gang.grid import Grid
from experiments.gang.run import Point, Summary

FEWEST = 4
"""Workloads for an interval."""

_STUDENT = {3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
"""97.5 % quantile of Student's distribution by degrees of freedom."""

Results = Mapping[Point, Summary]


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval (Student's), or the range of fewer than four workloads."""

    value: float
    low: float
    high: float


def geometric(values: Sequence[float]) -> Estimate:
    """Geometric mean of positive values; the interval is that of their logarithms."""
    found = arithmetic([math.log(value) for value in values])
    return Estimate(math.exp(found.value), math.exp(found.low), math.exp(found.high))


def arithmetic(values: Sequence[float]) -> Estimate:
    """Mean with its interval."""
    sample = np.asarray(values, np.float64)
    mean = float(sample.mean())
    if len(sample) < FEWEST:
        return Estimate(mean, float(sample.min()), float(sample.max()))
    half = _STUDENT.get(len(sample) - 1, 2.1) * float(sample.std(ddof=1)) / math.sqrt(len(sample))
    return Estimate(mean, mean - half, mean + half)


@dataclass(frozen=True)
class Table:
    """Results of a grid, looked up by policy, load and intensity."""

    grid: Grid
    results: Results

    def values(self, metric: str, policy: str, time_s: int, mix: str, **others: Any) -> list[float]:
        """One value per seed."""
        points = [self.grid.point(policy, time_s, mix, seed, **others) for seed in self.grid.seeds]
        return [float(getattr(self.results[point], metric)) for point in points]

    def has(self, policy: str, time_s: int, mix: str, **others: Any) -> bool:
        """Whether all its seeds were run."""
        return all(self.grid.point(policy, time_s, mix, seed, **others) in self.results for seed in self.grid.seeds)

    def ratio(self, metric: str, worse: str, better: str, time_s: int, mix: str) -> Estimate:
        """How many times as large the metric is under ``worse`` as under ``better``, workload by workload."""
        pairs = zip(
            self.values(metric, worse, time_s, mix), self.values(metric, better, time_s, mix), strict=True
        )  # fmt: skip
        return geometric([(one + 1e-9) / (other + 1e-9) for one, other in pairs])

    def near(self, time_s: float) -> int:
        """The grid's mean execution time nearest to one that the paper names."""
        return min(self.grid.times_s, key=lambda known: abs(known - time_s))
