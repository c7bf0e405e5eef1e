"""Parts that charts share: titles, legends, axes of time, rows with names, marks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from spillway.analysis.plots.colours import RAMP, WAIT
from spillway.analysis.plots.style import INK, NARROW, font_size, width_of
from spillway.analysis.tables.jobs import Floats, JobTable
from spillway.analysis.tables.timelines import Steps

BINS = 400
"""Equal spans of time over which rates are averaged."""

_UNITS = ((172_800.0, 86_400.0, "days"), (10_800.0, 3_600.0, "hours"), (300.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))

_NICE_S = (
    *(digit * 10.0**power for power in (-3, -2, -1) for digit in (1, 2, 5)),
    *(1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000),
    *(86_400 * days for days in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)),
)

_NARROW_COLUMNS = 4


def set_title(ax: Axes, title: str) -> None:
    """Write the title above the axes, at the left, and above a legend that begins there, too."""
    legend = ax.get_legend()
    rows = 0 if legend is None or width_of(ax) >= NARROW else -(-len(legend.get_texts()) // _NARROW_COLUMNS)
    ax.set_title(title, loc="left", fontsize="large", fontweight="bold", color=INK, pad=6.0 + 1.5 * rows * font_size())


def legend_above(ax: Axes, columns: int = 5) -> None:
    """Put the legend above the axes, at the right: it never hides data."""
    _beside_the_title(ax, *ax.get_legend_handles_labels(), columns)


def legend_below(ax: Axes, columns: int = 4) -> None:
    """Put the legend below the axes, from the left: on a narrow screen it is beside the beginning of the data."""
    ax.legend(
        ncols=columns,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.17),
        borderaxespad=0.3,
        frameon=False,
        fontsize="medium",
        handlelength=3.0,
        columnspacing=1.2,
    )


def legend_of_waits(ax: Axes) -> None:
    """Put the legend of the colours of waiting times above the axes: at the right, on narrow figures from the left."""
    handles = [Patch(alpha=0.0), *(Patch(facecolor=colour) for colour in RAMP)]
    names = ["waited:", *WAIT.names]
    _beside_the_title(ax, handles, names, len(names), handlelength=1.0, handleheight=0.9, handletextpad=0.4)


def _beside_the_title(ax: Axes, handles: Any, names: list[str], columns: int, **more: Any) -> None:
    """Put a legend above the axes, at the right, on narrow figures in rows from the left; the title is above these."""
    narrow = width_of(ax) < NARROW
    legend = ax.legend(
        handles, names, ncols=_NARROW_COLUMNS if narrow else columns, loc="lower left" if narrow else "lower right",
        bbox_to_anchor=(0.0 if narrow else 1.0, 1.0), borderaxespad=0.3, frameon=False, fontsize="medium",
        columnspacing=1.0, **({"handlelength": 1.4} | more),
    )  # fmt: skip
    legend.set_in_layout(False)  # else a legend wider than the axes would make them narrow


def time_unit(span_s: float) -> tuple[float, str]:
    """Return seconds per unit, and the unit's name, that suit an axis of ``span_s`` seconds."""
    return next((seconds, name) for least, seconds, name in _UNITS if span_s >= least)


def time_ticks(begin_s: float, end_s: float, *, log: bool, most: int = 7) -> list[float]:
    """Round times on an axis from ``begin_s`` to ``end_s``: seconds, minutes, hours, days; at most ``most``."""
    if log:
        inside = [float(nice) for nice in _NICE_S if begin_s <= nice <= end_s]
        if len(inside) > 2:
            return inside[:: max(1, -(-len(inside) // most))]
    step = next((nice for nice in _NICE_S if (end_s - begin_s) / nice < most), _NICE_S[-1])
    first = math.ceil(begin_s / step)
    return [float(step * place) for place in range(first, math.floor(end_s / step) + 1)]


def end_of(table: JobTable, begin_s: float, end_s: float | None) -> float:
    """The end of a chart of a run: the given one, or the last end of its jobs."""
    return float(table.ran().finish_s.max(initial=begin_s + 1)) if end_s is None else end_s


def time_axis(ax: Axes, begin_s: float, end_s: float, more: str = "") -> float:
    """Make the horizontal axis one of simulated time, with ``more`` in its name; return the seconds per unit."""
    scale, unit = time_unit(end_s - begin_s)
    ax.set_xlim(begin_s / scale, end_s / scale)
    ax.set_xlabel(f"simulated time ({unit}){more}")
    return scale


def averages(
    ax: Axes, steps: Steps, edges: Floats, *, scale: float, colour: str, per: float, shade: float, label: str = ""
) -> None:
    """Draw the averages of a function between ``edges`` as a shaded stair, in units of ``per``."""
    times = np.repeat(edges, 2)[1:-1] / scale
    values = np.repeat(steps.averages(edges) / per, 2)
    ax.plot(times, values, color=colour, linewidth=1.1, label=label or None)
    ax.fill_between(times, values, color=colour, alpha=shade, linewidth=0)


def named_rows(ax: Axes, names: Sequence[str], *, margin: float = 0.0, places: Sequence[float] = ()) -> None:
    """Name the rows of a chart, the first one on top.

    Parameters
    ----------
    ax
        Axes whose rows are at 0, 1, ... or at ``places``.
    names
        Their names.
    margin
        Space beyond the middle of the first and last row; 0: as Matplotlib has it.
    places
        Middles of the rows; default: 0, 1, ...
    """
    places = places or range(len(names))
    ax.set_yticks(places, list(names))
    if margin:
        ax.set_ylim(max(places, default=-1) + margin, -margin)
    else:
        ax.invert_yaxis()
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)


def diamonds(ax: Axes, xs: Any, ys: Any, size: float, **more: Any) -> None:
    """Draw marks of further values (published ones, say)."""
    look: dict[str, Any] = {"linestyle": "none", "marker": "D", "color": "white", "markeredgecolor": INK, "zorder": 4}
    ax.plot(xs, ys, markersize=size, **(look | more))


def scattered(ax: Axes, row: int, values: Floats, spread: float, **look: Any) -> None:
    """Draw values as dots in a row, at most ``spread`` above and below it, so that all can be seen."""
    heights = row + np.random.default_rng(row).uniform(-spread, spread, values.size)
    ax.plot(values, heights, linestyle="none", **look)
