"""Means of a metric by part of a split workload and by policy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.plots.style import INK, legend_above, new_axes, policy_colours, set_title
from spillway.analysis.tables.jobs import Floats

WIDTH = 0.84
"""Width of a part's group of bars."""

_WIDE_RANGE = 30.0
"""Ratio of the means above which the axis is logarithmic: a linear one would hide the small bars."""


def part_bars(
    values: Mapping[str, Mapping[str, Floats]],
    ax: Axes | None = None,
    *,
    title: str = "Mean waiting time",
    unit: str = "s",
    marks: Mapping[str, Mapping[str, float]] | None = None,
) -> Axes:
    """Draw a group of bars per part: the mean of each policy's values.

    Parameters
    ----------
    values
        Policy name to part name to one value per job.
    ax
        Axes to draw into; a new figure by default.
    title
        Name of the values.
    unit
        Unit of the axis, or "".
    marks
        Further values (published ones, say) by policy and part, drawn as small diamonds.
    """
    parts = list(dict.fromkeys(part for columns in values.values() for part in columns))
    ax = new_axes(ax, max(10.0, 4.0 + 0.62 * len(parts)), 4.0)
    palette = policy_colours(values)
    width = WIDTH / max(len(values), 1)
    means: list[float] = []
    for place, (name, columns) in enumerate(values.items()):
        at = np.array([parts.index(part) for part in columns]) - WIDTH / 2 + (place + 0.5) * width
        mean = np.array([column.mean() for column in columns.values()])
        ax.bar(at, mean, width * 0.92, color=palette[name], label=name)
        means += mean.tolist()
        given = (marks or {}).get(name, {})
        shown = [(x, given[part]) for x, part in zip(at, columns, strict=True) if part in given]
        if shown:
            ax.plot(*zip(*shown, strict=True), linestyle="none", marker="D", markersize=2.6, color="white",
                    markeredgecolor=INK, markeredgewidth=0.6, zorder=4)  # fmt: skip
    positive = [value for value in means if value > 0]
    if positive and max(positive) > _WIDE_RANGE * min(positive):
        ax.set_yscale("log")
    ax.set_xticks(range(len(parts)), parts)
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.6, max(len(parts), 1) - 0.4)
    ax.grid(axis="y")
    ax.set_ylabel(unit)
    if values:
        legend_above(ax, columns=6)
    set_title(ax, title)
    return ax
