"""Results of a study, looked up by axes, with one value per independent unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spillway.experiments.studies.points import Grid, Point, Value, Values
from spillway.experiments.studies.statistics import Sample, geometric


class NotRun(LookupError):
    """No point has these axes, or a point with them failed."""


@dataclass(frozen=True)
class Results:
    """Measured values of a study.

    Attributes
    ----------
    values
        Measured values by point.
    unit
        Axis of independent units: seeds, or parts of a log.
    fixed
        Values of axes that apply to every lookup: those of one reading, those of a claim's case.
    folders
        Folders of runs of the product, by point, for figures of single jobs.
    """

    values: Mapping[Point, Values]
    unit: str = "seed"
    fixed: tuple[tuple[str, Value], ...] = ()
    folders: Mapping[Point, Path] = field(default_factory=dict)

    def at(self, axes: Mapping[str, Value]) -> Results:
        """The results at these values of axes."""
        return replace(self, fixed=(*self.fixed, *axes.items())) if axes else self

    def among(self, grid: Grid) -> Results:
        """The results of points with these values of some axes."""
        if not grid:
            return self
        values = {
            point: found
            for point, found in self.values.items()
            if all(point.get(axis) in wanted for axis, wanted in grid.items())
        }
        return replace(self, values=values)

    def points(self, axes: Mapping[str, Value]) -> list[Point]:
        """Points with these values; ``fixed`` applies to axes that ``axes`` does not name.

        Raises
        ------
        NotRun
            There is no such point.
        """
        wanted = dict(self.fixed) | dict(axes)
        found = [point for point in self.values if point.matches(wanted)]
        if not found:
            raise NotRun(", ".join(f"{name} {value}" for name, value in wanted.items()))
        return found

    def metric(self, name: str, point: Point) -> float:
        """A point's value, NaN if undefined.

        Raises
        ------
        NotRun
            The point is missing, or no point has a value of that name.
        """
        if point not in self.values:
            raise NotRun(point.id)
        value = self.values[point].get(name, math.nan)
        if math.isnan(value) and not any(name in values for values in self.values.values()):
            raise NotRun(name)
        return value

    def mean(self, name: str, axes: Mapping[str, Value]) -> Sample:
        """Mean over all points with these values, one per unit."""
        return Sample(tuple(self.means(name, axes).values()))

    def means(self, name: str, axes: Mapping[str, Value]) -> dict[Value, float]:
        """The same by the unit's value on its axis, for example to compare points with different seeds."""
        return self._by_unit(self.points(axes), lambda point: self.metric(name, point), _mean)

    def ratio(self, name: str, above: Mapping[str, Value], below: Mapping[str, Value]) -> Sample:
        """Ratios of points that differ in the named axes only: geometric mean over the pairs of a unit.

        A pair with a value that is not above 0 has no ratio, and neither has its unit.
        """
        pairs = self._pairs(above, below)

        def of(point: Point) -> float:
            one, other = self.metric(name, point), self.metric(name, pairs[point])
            return one / other if one > 0 and other > 0 else math.nan

        return Sample(tuple(self._by_unit(list(pairs), of, geometric).values()), ratios=True)

    def difference(self, name: str, above: Mapping[str, Value], below: Mapping[str, Value]) -> Sample:
        """Differences of points that differ in the named axes only: mean over the pairs of a unit."""
        pairs = self._pairs(above, below)
        found = self._by_unit(
            list(pairs), lambda point: self.metric(name, point) - self.metric(name, pairs[point]), _mean
        )
        return Sample(tuple(found.values()))

    def _pairs(self, above: Mapping[str, Value], below: Mapping[str, Value]) -> dict[Point, Point]:
        names = {*above, *below}
        others = {point.without(*names): point for point in self.points(below)}
        pairs = {point: others.get(point.without(*names)) for point in self.points(above)}
        alone = next((point for point, other in pairs.items() if other is None), None)
        if alone is not None:
            raise NotRun(f"the counterpart of {alone.id}")
        return {point: other for point, other in pairs.items() if other is not None}

    def _by_unit(
        self, points: Sequence[Point], of: Callable[[Point], float], sum_up: Callable[[Sequence[float]], float]
    ) -> dict[Value, float]:
        units: dict[Value, list[float]] = {}
        for point in points:
            units.setdefault(point.get(self.unit), []).append(of(point))
        return {unit: sum_up(values) for unit, values in units.items()}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
