"""Kinds of figures that a study can name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spillway.analysis.tables.names import slug
from spillway.experiments.studies import statistics
from spillway.experiments.studies.claims import Measure
from spillway.experiments.studies.points import Grid, Value
from spillway.experiments.studies.results import NotRun, Results
from spillway.experiments.studies.statistics import Estimate
from spillway.experiments.studies.tables import Means

_PANEL_INCHES = (4.4, 3.6)


@dataclass(frozen=True)
class Lines:
    """A value over an axis with numbers, a line for each value of another axis, a panel for each of a third.

    Intervals are drawn for five units or more.

    Attributes
    ----------
    metric, words
        The value that is drawn, and its name at the vertical axis.
    x, x_words
        The horizontal axis, and its name; of values such as ``apart 2`` the number is drawn.
    by
        A line for each value of this axis.
    panel
        A panel for each value of this axis ("": one panel).
    log
        Whether the measure's scale is logarithmic.
    only
        Axes that are fixed.
    against
        A baseline: differences from the points with these values of axes, all else equal, are drawn, without the
        baseline itself; empty: the values are drawn.
    names
        Names of the values of ``by``.
    measure
        Measure in place of the mean of the metric (a ratio); the metric is then only the figure's name.
    lines
        A line for each of these values, with their names, in place of one for each value of ``by``.
    parts
        Number of parts of a course: the values are ``METRIC 0``, ``METRIC 1`` ... over the execution, without
        intervals, and there is no other axis; 0: no course.
    shown
        Values that are drawn, for some axes; all values of the others.
    name
        Name of the file ("": the measure over the horizontal axis).
    """

    metric: str
    words: str
    x: str = ""
    x_words: str = ""
    by: str = "policy"
    panel: str = ""
    log: bool = False
    only: Mapping[str, Value] = field(default_factory=dict)
    against: Mapping[str, Value] = field(default_factory=dict)
    names: Mapping[Value, str] = field(default_factory=dict)
    measure: Measure | None = None
    lines: Mapping[str, str] = field(default_factory=dict)
    parts: int = 0
    shown: Grid = field(default_factory=dict)
    name: str = ""

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figure, if a point was run; return its files."""
        from spillway.analysis.plots.axes import set_title
        from spillway.analysis.plots.intervals import interval_lines
        from spillway.analysis.plots.style import panels, save

        here = results.among(self.shown).at(self.only)
        try:
            points = here.points({})
        except NotRun:
            return []
        boxes: list[Value] = list(dict.fromkeys(point[self.panel] for point in points)) if self.panel else [""]
        width, height = _PANEL_INCHES
        axes = panels(1, len(boxes), width=width * len(boxes), height=height)
        for ax, box in zip(axes, boxes, strict=True):
            at = here.at({self.panel: box}) if self.panel else here
            interval_lines(self._lines(at), log=self.log, ax=ax)
            ax.set_xlabel(self.x_words)
            if self.panel:
                set_title(ax, f"{self.panel} {box}")
        axes[0].set_ylabel(self.words)
        axes[0].legend(frameon=False, fontsize="medium")
        name = self.name or f"{self.metric} over {self.x}" + " compared" * bool(self.against)
        return save(axes[0], folder / slug(name))

    def _lines(self, results: Results) -> dict[str, list[tuple[float, float, float, float]]]:
        found: dict[str, list[tuple[float, float, float, float]]] = {}
        for (name, x), estimate in self._values(results).items():
            whole = estimate.units >= statistics.FEWEST and not self.parts
            ends = (estimate.low, estimate.high) if whole else (estimate.value, estimate.value)
            place = float(str(x).rpartition(" ")[2])
            found.setdefault(self.names.get(name, str(name)), []).append((place, estimate.value, *ends))
        return {name: sorted(line) for name, line in found.items()}

    def _values(self, results: Results) -> dict[tuple[Value, ...], Estimate]:
        """Values by line and position on the horizontal axis."""
        if self.parts:
            names = dict.fromkeys(point[self.by] for point in results.points({}))
            return {
                (name, (part + 0.5) / self.parts): _mean(results, f"{self.metric} {part}", {self.by: name})
                for name in names
                for part in range(self.parts)
            }
        if self.lines:
            places = dict.fromkeys(point[self.x] for point in results.points({}))
            return {
                (words, x): _mean(results, metric, {self.x: x}) for metric, words in self.lines.items() for x in places
            }
        if self.measure is None:
            kind = Means("", {self.metric: ""}, (self.by, self.x), self.against)
            return {row: values[self.metric] for row, values in kind.estimates(results).items()}
        rows = dict.fromkeys((point[self.by], point[self.x]) for point in results.points({}))
        return {
            (name, x): statistics.estimate(self.measure(results.at({self.by: name, self.x: x}))) for name, x in rows
        }


def _mean(results: Results, metric: str, axes: Mapping[str, Value]) -> Estimate:
    return statistics.estimate(results.mean(metric, axes))


@dataclass(frozen=True)
class Bars:
    """Stacked parts of values, means over the units: a group of bars for each value of an axis, a bar for each case.

    Attributes
    ----------
    name, title, words
        Name of the file, title, and name of the vertical axis.
    x
        Axis of the groups.
    parts
        Names of the parts by the beginning of their values' names
        (:data:`spillway.analysis.plots.colours.OF_TIMES`).
    cases
        Ends of the values' names; each is written above its bar.
    only
        Axes that are fixed.
    names
        Names of the values of ``x``.
    """

    name: str
    title: str
    words: str
    x: str
    parts: Mapping[str, str]
    cases: tuple[str, ...]
    only: Mapping[str, Value] = field(default_factory=dict)
    names: Mapping[Value, str] = field(default_factory=dict)

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figure, if a point was run; return its files."""
        from spillway.analysis.plots.axes import set_title
        from spillway.analysis.plots.colours import OF_TIMES
        from spillway.analysis.plots.style import panels, save

        here = results.at(self.only)
        try:
            groups = list(dict.fromkeys(point[self.x] for point in here.points({})))
        except NotRun:
            return []
        (ax,) = panels(1, 1, width=6.4, height=3.8)
        width = 0.8 / len(self.cases)
        for column, group in enumerate(groups):
            for place, case in enumerate(self.cases):
                at, bottom = column + (place - (len(self.cases) - 1) / 2) * width, 0.0
                for part, words in self.parts.items():
                    value = _mean(here, f"{part}{case}", {self.x: group}).value
                    label = "" if column or place else words
                    ax.bar(at, value, 0.85 * width, bottom=bottom, color=OF_TIMES[part], label=label)
                    bottom += value
                ax.annotate(case.strip("_"), (at, bottom), ha="center", va="bottom", fontsize="small")
        ax.set_xticks(range(len(groups)), [self.names.get(group, str(group)) for group in groups])
        ax.set_ylim(0, ax.get_ylim()[1] * 1.18)
        ax.set_ylabel(self.words)
        ax.grid(axis="y")
        set_title(ax, self.title)
        ax.legend(loc="upper right", frameon=False, fontsize="medium", ncols=len(self.parts))
        return save(ax, folder / slug(self.name))


@dataclass(frozen=True)
class Forest:
    """Rows of tables with their intervals, one below the other, compared with 1: a panel for each value.

    Attributes
    ----------
    name
        Name of the file.
    panels
        Table and metric by the panel's title; the order of rows is that of the first panel, the smallest value on top.
    words
        Name of the horizontal axis.
    """

    name: str
    panels: Mapping[str, tuple[Means, str]]
    words: str

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figure, if a point was run; return its files."""
        from spillway.analysis.plots.axes import set_title
        from spillway.analysis.plots.intervals import forest
        from spillway.analysis.plots.style import panels, save

        columns = {title: self._rows(table, metric, results) for title, (table, metric) in self.panels.items()}
        columns = {title: rows for title, rows in columns.items() if rows}
        if not columns:
            return []
        first = next(iter(columns.values()))
        order = sorted(first, key=lambda row: first[row][0])
        width, height = _PANEL_INCHES
        axes = panels(1, len(columns), width=width * len(columns), height=max(height, 0.26 * len(order) + 1.0))
        for ax, (title, rows) in zip(axes, columns.items(), strict=True):
            forest({row: rows[row] for row in order if row in rows}, ax=ax)
            set_title(ax, title)
            ax.set_xlabel(self.words)
        if all(rows.keys() == first.keys() for rows in columns.values()):
            for ax in axes[1:]:
                ax.set_yticklabels([])
        return save(axes[0], folder / slug(self.name))

    @staticmethod
    def _rows(table: Means, metric: str, results: Results) -> dict[str, tuple[float, float, float]]:
        """Values that a logarithmic axis can show; a single unit has no interval."""
        found = {" ".join(map(str, row)): values[metric] for row, values in table.estimates(results).items()}
        return {
            name: (
                estimate.value,
                *(
                    (estimate.low, estimate.high)
                    if estimate.low > 0 and math.isfinite(estimate.high)
                    else (estimate.value,) * 2
                ),
            )
            for name, estimate in found.items()
            if 0 < estimate.value < math.inf
        }
