"""Measures of the paper's statements, family by family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from spillway.experiments.studies.points import Point, Value
from spillway.experiments.studies.results import NotRun, Results
from spillway.experiments.studies.statistics import Sample
from spillway.workloads.models.ranks import rank_correlation

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FewestJobs:
    """Jobs that run at a time, in the cell (load and strategy) of a family with the smallest sum over seeds."""

    family: str

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        cells: dict[tuple[Value, Value], list[float]] = {}
        for point in results.points({"family": self.family}):
            cells.setdefault((point["load"], point["policy"]), []).append(results.metric("jobs_at_a_time", point))
        return Sample(tuple(min(cells.values(), key=math.fsum)))


@dataclass(frozen=True)
class _OverRuns:
    """A value of all runs of a seed together.

    Attributes
    ----------
    family
        Family of the runs.
    axes
        Further values of axes that select runs.
    """

    family: str
    axes: Mapping[str, Value] = field(default_factory=dict)

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        here = results.at({"family": self.family, **self.axes})
        seeds: dict[Value, list[Point]] = {}
        for point in here.points({}):
            seeds.setdefault(point[results.unit], []).append(point)
        return Sample(tuple(self.value(here, points) for points in seeds.values()))

    def value(self, results: Results, points: Sequence[Point]) -> float:
        """The value of one unit."""
        raise NotImplementedError


class Symptom(_OverRuns):
    """Rank correlation, over packs and loads, of the drift of bandwidth with the lateness of I/O-intensive jobs."""

    def value(self, results: Results, points: Sequence[Point]) -> float:
        """The value of one unit."""
        packs = [point for point in points if point["policy"] != "LS"]
        return rank_correlation(*(_column(results, name, packs) for name in ("transferring drift", "io_last")))


class EfficientStretch(_OverRuns):
    """Mean stretch of the runs that idle less than a tenth of the time."""

    def value(self, results: Results, points: Sequence[Point]) -> float:
        """The value of one unit."""
        found = [results.metric("mean_stretch", point) for point in points if results.metric("idle", point) < 0.1]
        return math.fsum(found) / len(found) if found else math.nan


class _Slope(_OverRuns):
    """Slope of the least-squares line of mean stretch over idle time."""

    def value(self, results: Results, points: Sequence[Point]) -> float:
        """The value of one unit."""
        x, y = (_column(results, name, points) for name in ("idle", "mean_stretch"))
        x = x - x.mean()
        if len(x) < 2:
            raise NotRun("more than one load")
        return float(x @ y) / float(x @ x) if float(x @ x) > 0 else math.nan


def _column(results: Results, name: str, points: Sequence[Point]) -> Floats:
    return np.array([results.metric(name, point) for point in points], np.float64)


@dataclass(frozen=True)
class Pace:
    """Slope of stretch over idle time of a case's strategy, divided by that of lists."""

    family: str

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        others = replace(results, fixed=tuple(axis for axis in results.fixed if axis[0] != "policy"))
        own = {"policy": dict(results.fixed)["policy"]}
        one, other = (_Slope(self.family, axes)(others).values for axes in (own, {"policy": "LS"}))
        return Sample(tuple(a / b if b else math.nan for a, b in zip(one, other, strict=True)))
