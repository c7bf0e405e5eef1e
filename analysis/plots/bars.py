"""Means of a metric by policy, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from analysis.compare import bootstrap_mean
from analysis.plots.style import INK, colours, new_axes, set_title, time_unit
from analysis.tables import Floats

NUMBER = 0.14
"""About the width of a number beside a bar, as a share of the longest bar."""


def bars(
    values: Mapping[str, Floats],
    ax: Axes | None = None,
    *,
    title: str = "Mean waiting time",
    seconds: bool = True,
    seed: int = 0,
    marks: Mapping[str, float] | None = None,
) -> Axes:
    """Draw one horizontal bar per policy: the mean of its values, and the 95 % bootstrap interval of that mean.

    Parameters
    ----------
    values
        Policy name to one value per job (or per part), in the order of the bars.
    ax
        Where to draw; a new figure by default.
    title
        What the values are.
    seconds
        Whether the values are seconds (then the axis takes a fitting unit).
    seed
        Seed of the bootstrap.
    marks
        A further value of some policies, drawn as a diamond (a published one, say).
    """
    ax = new_axes(ax, 8.0, 1.2 + 0.42 * max(len(values), 1))
    means = [bootstrap_mean(column, seed=seed) for column in values.values()]
    top = max((interval.high for interval in means if np.isfinite(interval.high)), default=1.0)
    scale, unit = time_unit(top) if seconds else (1.0, "")
    palette = colours(list(values))
    for row, (name, interval) in enumerate(zip(values, means, strict=True)):
        mean, low, high = interval.value / scale, interval.low / scale, interval.high / scale
        ax.barh(row, mean, height=0.66, color=palette[name])
        ax.errorbar(mean, row, xerr=[[mean - low], [high - mean]], color=INK, capsize=3, linewidth=1.1)
        beside, points = high, 5
        if marks and name in marks:
            mark = marks[name] / scale
            ax.plot(mark, row, marker="D", markersize=5, color="white", markeredgecolor=INK, zorder=4)
            if high < mark < high + NUMBER * top / scale:  # the number would be upon the diamond
                beside, points = mark, 7
        ax.annotate(
            _three_digits(mean), (beside, row), xytext=(points, 0), textcoords="offset points", va="center", fontsize=9
        )
    ax.set_yticks(range(len(values)), list(values))
    ax.invert_yaxis()
    ax.margins(x=0.1)
    ax.set_xlim(left=0)
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"{unit} (whiskers: 95 % bootstrap interval of the mean)" if unit else "95 % bootstrap interval")
    set_title(ax, title)
    return ax


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")
