"""The thesis's further kinds of figures: tails, parts, ratios."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from spillway.analysis.plots.distributions import bars, distribution, normalised_boxes, part_bars, tail_strip
from spillway.analysis.plots.style import panels
from spillway.analysis.tables.jobs import JobTable


def test_tail_has_the_largest_values() -> None:
    """Of ten values the three largest are drawn, within their policy's band."""
    ax = tail_strip({"a": np.arange(10.0), "b": np.arange(2.0)}, count=3, seconds=False)
    first, second = (line.get_data() for line in ax.lines)
    assert sorted(first[0]) == [7, 8, 9]
    assert np.abs(first[1]).max() < 0.5
    assert sorted(second[0]) == [0, 1]
    assert np.abs(np.asarray(second[1]) - 1).max() < 0.5


def test_boxes_of_ratios_with_a_mark() -> None:
    """All ratios are dots; the published median is a diamond."""
    ax = normalised_boxes({"a": np.array([0.5, 0.7, 0.9])}, marks={"a": 0.65, "unknown": 3.0})
    markers = {str(line.get_marker()): line.get_xdata() for line in ax.lines}
    assert sorted(markers["o"]) == [0.5, 0.7, 0.9]
    assert list(markers["D"]) == [0.65]


def test_part_bars_are_means_in_groups() -> None:
    """Two policies on two parts: four bars, side by side, the first part's left of the second's."""
    values = {"a": {"p": np.array([1.0, 3.0]), "q": np.array([4.0])}, "b": {"p": np.array([6.0]), "q": np.array([8.0])}}
    ax = part_bars(values, marks={"a": {"p": 2.5}})
    found = sorted((bar.get_x(), bar.get_height()) for bar in ax.patches)  # type: ignore[attr-defined]
    assert [height for _, height in found] == [2, 6, 4, 8]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["p", "q"]
    assert [list(line.get_ydata()) for line in ax.lines if line.get_marker() == "D"] == [[2.5]]
    assert ax.get_yscale() == "linear"


def test_part_bars_of_a_wide_range_are_logarithmic() -> None:
    """The axis is logarithmic if the largest mean would flatten the smallest."""
    assert part_bars({"a": {"p": np.array([1.0])}, "b": {"p": np.array([100.0])}}).get_yscale() == "log"


def test_bars_with_marks() -> None:
    """A published mean is a diamond in the unit of the axis."""
    ax = bars({"a": [np.array([7200.0, 14400.0])]}, marks={"a": 7200.0})
    assert [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "D"] == [2.0]


def test_distribution_has_three_charts(table: JobTable) -> None:
    """Means, quantiles and tail share one figure."""
    ax = distribution({"fcfs": table.ran().wait_s}, title="Wait", marks={"fcfs": 30.0})
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Wait: mean", "Quantiles", "Tail"]


def test_panels() -> None:
    """A grid of axes, row by row, in one figure."""
    axes = panels(2, 3, width=6, height=4)
    assert len(axes) == 6
    assert len({id(ax.get_figure()) for ax in axes}) == 1
