"""Measures for claims; equal measures count as the same value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample


@dataclass(frozen=True)
class Mean:
    """Mean of a measured value over all points with some values of axes."""

    metric: str
    axes: Mapping[str, Value]

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        return results.mean(self.metric, self.axes)


@dataclass(frozen=True)
class Compared:
    """A value at some points against their counterparts, which differ from them in the named axes only.

    Attributes
    ----------
    metric
        Name of the measured value.
    above, below
        The axes that differ.
    axes
        The axes that both have in common.
    ratios
        Whether the value is a ratio (of ``above`` to ``below``) or a difference.
    """

    metric: str
    above: Mapping[str, Value]
    below: Mapping[str, Value]
    axes: Mapping[str, Value]
    ratios: bool

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        compare = results.at(self.axes).ratio if self.ratios else results.at(self.axes).difference
        return compare(self.metric, self.above, self.below)


@dataclass(frozen=True)
class Change:
    """Change in percent from the mean at some points to that at others, seed by seed; the latter may be 0."""

    metric: str
    above: Mapping[str, Value]
    below: Mapping[str, Value]
    axes: Mapping[str, Value]

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        here = results.at(self.axes)
        pairs = zip(here.mean(self.metric, self.above).values, here.mean(self.metric, self.below).values, strict=True)
        return Sample(tuple(100 * (one / other - 1) if other > 0 else math.nan for one, other in pairs))


@dataclass(frozen=True)
class Occurring:
    """A mean over the units in which the measured thing happened: those with a value."""

    measure: Mean

    def __call__(self, results: Results) -> Sample:
        """One value per unit that has one."""
        return Sample(tuple(value for value in self.measure(results).values if math.isfinite(value)))


@dataclass(frozen=True)
class Largest:
    """The largest of a measure's values over some values of an axis ("up to"), seed by seed."""

    measure: Mean | Compared | Change
    axis: str
    values: tuple[Value, ...]

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        found = [self.measure(results.at({self.axis: value})) for value in self.values]
        return Sample(tuple(map(max, zip(*(sample.values for sample in found), strict=True))), found[0].ratios)


@dataclass(frozen=True)
class Steps:
    """The smallest change of a value from each of some points to the next, unit by unit.

    Attributes
    ----------
    measure
        The value.
    points
        Axes of each point, in order.
    sign
        -1 if the value must fall: the result is above 0 if it does at each step.
    """

    measure: Mean | Compared
    points: tuple[Mapping[str, Value], ...]
    sign: int

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        levels = zip(*(self.measure(results.at(axes)).values for axes in self.points), strict=True)
        return Sample(tuple(min(self.sign * (after - before) for before, after in pairwise(unit)) for unit in levels))


def mean(metric: str, **axes: Value) -> Mean:
    """Mean over all points with these values of axes: ``mean("mean_waiting_time_s", policy="easy")``."""
    return Mean(metric, axes)


def ratio(metric: str, above: Mapping[str, Value], below: Mapping[str, Value], **axes: Value) -> Compared:
    """Ratio of two values: ``ratio("mean_waiting_time_s", {"policy": "fcfs"}, {"policy": "easy"})``."""
    return Compared(metric, above, below, axes, ratios=True)


def difference(metric: str, above: Mapping[str, Value], below: Mapping[str, Value], **axes: Value) -> Compared:
    """Difference of two values; written as :func:`ratio`."""
    return Compared(metric, above, below, axes, ratios=False)


def occurring(metric: str, **axes: Value) -> Occurring:
    """As :func:`mean`, over the units in which the value is there: ``occurring("decided", case="B")``."""
    return Occurring(mean(metric, **axes))


def change(metric: str, above: Mapping[str, Value], below: Mapping[str, Value], **axes: Value) -> Change:
    """Difference of two values in percent of ``below``; written as :func:`ratio`."""
    return Change(metric, above, below, axes)


def largest(measure: Mean | Compared | Change, axis: str, values: Sequence[Value]) -> Largest:
    """Largest value over an axis: ``largest(change("flops", ...), "processes", (36, 82))``."""
    return Largest(measure, axis, tuple(values))
