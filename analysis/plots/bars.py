"""Means of a metric by policy, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.measures.compare import mean_interval
from spillway.analysis.plots.style import INK, new_axes, policy_colours, set_title, time_unit
from spillway.analysis.tables.jobs import Floats
from spillway.base.units import duration, number

NUMBER = 0.2
"""About the width of a number beside a bar, as a share of the longest bar."""


def bars(
    values: Mapping[str, Sequence[Floats]],
    ax: Axes | None = None,
    *,
    title: str = "Mean waiting time",
    seconds: bool = True,
    marks: Mapping[str, float] | None = None,
) -> Axes:
    """Draw one horizontal bar per policy: the mean of its values, and that mean's 95 % interval where there is one.

    Parameters
    ----------
    values
        Policy name to its runs, one value per job in order of submission, in the order of the bars.
    ax
        Axes to draw into; a new figure by default.
    title
        Name of the values.
    seconds
        Whether the values are seconds (then the axis takes a fitting unit).
    marks
        A further value of some policies, drawn as a diamond (a published one, say).
    """
    ax = new_axes(ax, 5.4, 1.2 + 0.42 * max(len(values), 1))
    means = [mean_interval(runs) for runs in values.values()]
    top = max((end for interval in means for end in (interval.value, interval.high) if np.isfinite(end)), default=1.0)
    scale, unit = time_unit(top) if seconds else (1.0, "")
    palette = policy_colours(values)
    for row, (name, interval) in enumerate(zip(values, means, strict=True)):
        mean = interval.value / scale
        low, high = (interval.low / scale, interval.high / scale) if interval.is_known else (mean, mean)
        ax.barh(row, mean, height=0.66, color=palette[name])
        if interval.is_known:
            ax.errorbar(mean, row, xerr=[[mean - low], [high - mean]], color=INK, capsize=3, linewidth=1.1)
        beside, points = high, 5
        if marks and name in marks:
            mark = marks[name] / scale
            ax.plot(mark, row, marker="D", markersize=5, color="white", markeredgecolor=INK, zorder=4)
            if high < mark < high + NUMBER * top / scale:  # the number would overlap the diamond
                beside, points = mark, 7
        words = duration(interval.value) if seconds else number(interval.value)
        ax.annotate(words, (beside, row), xytext=(points, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(values)), list(values))
    ax.invert_yaxis()
    ax.margins(x=0.16)
    ax.set_xlim(left=0)
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    whiskers = "whiskers: 95 % interval of the mean" if any(interval.is_known for interval in means) else ""
    ax.set_xlabel(f"{unit} ({whiskers})" if unit and whiskers else unit or whiskers)
    set_title(ax, title)
    return ax
