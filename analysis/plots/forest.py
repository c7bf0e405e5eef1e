"""Estimates with their intervals, one below the other, beside a value of reference."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from spillway.analysis.plots.style import FAINT, INK, new_axes

OPEN = "#8A8A8A"
"""Colour of an estimate with the reference in its interval."""

_TICKS = (
    (1.6, tuple(tenth / 10 for tenth in range(1, 50))),
    (2.6, tuple(fifth / 5 for fifth in range(1, 25))),
    (math.inf, tuple(sign * 10.0**power for power in range(-6, 7) for sign in (1, 1.5, 2, 3, 5, 7))),
)
"""Ticks of the axis by its width (largest over smallest value, exclusive)."""


def forest(rows: Mapping[str, tuple[float, float, float]], *, reference: float = 1.0, ax: Axes | None = None) -> Axes:
    """Draw a row for each estimate, the first one on top.

    Parameters
    ----------
    rows
        Value, lower and upper end of its interval, by name; all above 0, as the axis is logarithmic.
    reference
        Value of the vertical line.
    ax
        Axes to draw into; a new figure by default.
    """
    ax = new_axes(ax)
    places = range(len(rows))
    for place, (value, low, high) in zip(places, rows.values(), strict=True):
        colour = OPEN if low <= reference <= high else INK
        ax.plot([low, high], [place, place], color=colour, linewidth=1.4, solid_capstyle="butt")
        ax.plot(value, place, marker="o", markersize=5, color=colour)
    ax.axvline(reference, color=INK, linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    low = min(min(row) for row in rows.values())
    high = max(max(row) for row in rows.values())
    steps = next(found for ratio, found in _TICKS if high / low < ratio)
    ax.set_xticks([tick for tick in steps if low <= tick <= high])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_yticks(list(places), list(rows))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="x", color=FAINT, linewidth=0.7)
    return ax
