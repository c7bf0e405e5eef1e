"""Kinds of tables that a study can name: means, and differences from a baseline, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from spillway.analysis.document.blocks import Table
from spillway.experiments.studies import statistics
from spillway.experiments.studies.points import Point, Value
from spillway.experiments.studies.results import NotRun, Results
from spillway.experiments.studies.statistics import Estimate, Sample


@dataclass(frozen=True)
class Means:
    """Means of some values, a row for each combination of some axes.

    Attributes
    ----------
    title
        Title of the table, and name of its file.
    metrics
        Heading by name of the value.
    rows
        Axes in which the rows differ.
    against
        A baseline: the table then has differences from the points with these values of axes, all else equal, and no
        rows for the baseline itself; empty: means. Its axes are among ``rows``.
    only
        Axes that are fixed.

    Raises
    ------
    ValueError
        An axis of the baseline is not among the rows: the baseline would be compared with itself.
    """

    title: str
    metrics: Mapping[str, str]
    rows: tuple[str, ...]
    against: Mapping[str, Value] = field(default_factory=dict)
    only: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if lacking := [axis for axis in self.against if axis not in self.rows]:
            raise ValueError(f"table {self.title!r}: rows must have the axes of its baseline, {lacking[0]} is missing")

    def estimates(self, results: Results) -> dict[tuple[Value, ...], dict[str, Estimate]]:
        """Values of each row, by its axes and the name of the value; empty if no point, or no baseline, was run."""
        here = results.at(self.only)
        try:
            points = here.points({}) if here.points(self.against) else []
        except NotRun:
            return {}
        keys = dict.fromkeys(tuple(point[axis] for axis in self.rows) for point in points if not self._is_base(point))
        return {
            key: {name: statistics.estimate(self._sample(here, name, key)) for name in self.metrics} for key in keys
        }

    def __call__(self, results: Results) -> Table:
        """The table in printed form, with intervals of 95 % in brackets for five units or more."""
        rows = [
            (*(f"{value:g}" if isinstance(value, float) else str(value) for value in key), *map(words, found.values()))
            for key, found in self.estimates(results).items()
        ]
        return Table((*self.rows, *self.metrics.values()), rows)

    def _is_base(self, point: Point) -> bool:
        return bool(self.against) and point.matches(self.against)

    def _sample(self, results: Results, name: str, key: tuple[Value, ...]) -> Sample:
        axes = dict(zip(self.rows, key, strict=True))
        if not self.against:
            return results.mean(name, axes)
        above = {axis: axes[axis] for axis in self.against}
        return results.at(axes).difference(name, above, self.against)


@dataclass(frozen=True)
class Ratios(Means):
    """Ratios to a baseline: geometric means over groups of units, all groups with the same weight.

    Intervals are of a bootstrap over groups and units (:func:`spillway.experiments.studies.statistics.resampled`). The
    first metric has a further column: the number of units in which it is smaller than the baseline's.

    Attributes
    ----------
    grouped
        Whether units have groups, named by all words but their last one: the log of the period ``kth 3``.
    """

    grouped: bool = False

    def estimates(self, results: Results) -> dict[tuple[Value, ...], dict[str, Estimate]]:
        """See :meth:`Means.estimates`."""
        return {key: self._row(results.at(self.only), key)[0] for key in self._keys(results)}

    def __call__(self, results: Results) -> Table:
        """See :meth:`Means.__call__`."""
        rows = []
        for key in self._keys(results):
            found, (fewer, units) = self._row(results.at(self.only), key)
            rows.append((*map(str, key), *map(words, found.values()), f"{fewer} of {units}"))
        return Table((*self.rows, *self.metrics.values(), "better in"), rows)

    def _keys(self, results: Results) -> Iterator[tuple[Value, ...]]:
        yield from super().estimates(results)

    def _row(self, results: Results, key: tuple[Value, ...]) -> tuple[dict[str, Estimate], tuple[int, int]]:
        axes = dict(zip(self.rows, key, strict=True))
        above = {axis: axes[axis] for axis in self.against}
        found, better = {}, (0, 0)
        for name in self.metrics:
            groups: dict[str, list[float]] = {}
            for unit in dict.fromkeys(point[results.unit] for point in results.at(axes).points(above)):
                [value] = results.at({**axes, results.unit: unit}).ratio(name, above, self.against).values
                groups.setdefault(str(unit).rpartition(" ")[0] if self.grouped else str(unit), []).append(value)
            found[name] = statistics.resampled(list(groups.values()))
            if len(found) == 1:
                ratios = [value for group in groups.values() for value in group]
                better = sum(value < 1 for value in ratios), len(ratios)
        return found, better


def words(found: Estimate) -> str:
    """An estimate with its interval, which is left out for fewer than five units."""
    value = number(found.value)
    return value if found.units < statistics.FEWEST else f"{value} ({number(found.low)} to {number(found.high)})"


def number(value: float) -> str:
    """A number with about three digits."""
    value = 0.0 if abs(value) < 0.0005 else value  # no "-0.00"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
