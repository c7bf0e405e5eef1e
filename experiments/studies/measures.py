"""Measures for claims; equal measures count as the same value."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
class Comparison:
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
class RatioOfMeans:
    """A mean at some points as a multiple of the mean at others, unit by unit, where both were played.

    Attributes
    ----------
    metric, above, below, axes
        See :class:`Comparison`; the points need no counterparts: each side is the mean over its own.
    percent
        Whether the value is the change in percent.
    """

    metric: str
    above: Mapping[str, Value]
    below: Mapping[str, Value]
    axes: Mapping[str, Value]
    percent: bool = False

    def __call__(self, results: Results) -> Sample:
        """One value per unit; undefined where the mean below is not above 0."""
        return Sample(tuple(self.by_unit(results).values()), ratios=not self.percent)

    def by_unit(self, results: Results) -> dict[Value, float]:
        """Values by the unit's value on its axis."""
        here = results.at(self.axes)
        above, below = here.means(self.metric, self.above), here.means(self.metric, self.below)
        found = {
            unit: upper / below[unit] if below[unit] > 0 else math.nan for unit, upper in above.items() if unit in below
        }
        return {unit: 100 * (value - 1) for unit, value in found.items()} if self.percent else found


@dataclass(frozen=True)
class ComparisonPair:
    """Two comparisons, unit by unit where both were played: the ratio of them, or their difference."""

    one: RatioOfMeans
    other: RatioOfMeans
    ratios: bool

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        one, other = self.one.by_unit(results), self.other.by_unit(results)
        pairs = [(value, other[unit]) for unit, value in one.items() if unit in other]
        return Sample(tuple(a / b if self.ratios else a - b for a, b in pairs), ratios=self.ratios)


@dataclass(frozen=True)
class OccurrenceMean:
    """A mean over the units in which the measured thing happened: those with a value."""

    measure: Mean

    def __call__(self, results: Results) -> Sample:
        """One value per unit that has one."""
        return Sample(tuple(value for value in self.measure(results).values if math.isfinite(value)))


@dataclass(frozen=True)
class LargestOverAxis:
    """The largest of a measure's values over some values of an axis ("up to"), seed by seed."""

    measure: Mean | Comparison | RatioOfMeans
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

    measure: Mean | Comparison
    points: tuple[Mapping[str, Value], ...]
    sign: int

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        levels = zip(*(self.measure(results.at(axes)).values for axes in self.points), strict=True)
        return Sample(tuple(min(self.sign * (after - before) for before, after in pairwise(unit)) for unit in levels))


def mean(metric: str, **axes: Value) -> Mean:
    """Mean over all points with these values of axes: ``mean("mean_waiting_time_s", policy="easy")``."""
    return Mean(metric, axes)


def ratio(metric: str, above: Mapping[str, Value], below: Mapping[str, Value], **axes: Value) -> Comparison:
    """Ratio of two values: ``ratio("mean_waiting_time_s", {"policy": "fcfs"}, {"policy": "easy"})``."""
    return Comparison(metric, above, below, axes, ratios=True)


def difference(metric: str, above: Mapping[str, Value], below: Mapping[str, Value], **axes: Value) -> Comparison:
    """Difference of two values; written as :func:`ratio`."""
    return Comparison(metric, above, below, axes, ratios=False)
