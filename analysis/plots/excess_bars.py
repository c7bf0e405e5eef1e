"""Bars of values against a limit; the excess has a colour of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.axes import Axes

from spillway.analysis.plots.style import INK, new_axes, set_title, time_unit

WITHIN, BEYOND = "#9AA5B1", "#D55E00"
"""Colours of a bar up to the limit and beyond it."""

_APART = 0.6
"""Space between the bars at the top and the others, in rows."""


def excess_bars(
    values: Mapping[str, float], limit: float, ax: Axes | None = None, *, title: str, least: float = 0.0, above: int = 0
) -> Axes:
    """Draw one horizontal bar per name, a vertical line at the limit, and the excess of each bar.

    Parameters
    ----------
    values
        Seconds by name, in the order of the bars; NaN: no bar; infinite: as long as the longest.
    limit
        Seconds.
    ax
        Axes to draw into; a new figure by default.
    title
        Name of the values.
    least
        Up to this excess (s) a bar counts as within the limit.
    above
        Number of bars at the top that are apart from the others, below a line.
    """
    ax = new_axes(ax, 5.4, 1.2 + 0.3 * max(len(values), 1))
    known = [limit, *(value for value in values.values() if math.isfinite(value))]
    scale, unit = time_unit(max(known))
    rows = [row + _APART * (0 < above <= row) for row in range(len(values))]
    for row, value in zip(rows, values.values(), strict=True):
        bound = min(value, max(known))  # an infinite value is as long as the longest
        within = bound if value <= limit + least else limit
        words = "not played" if math.isnan(value) else "never" if math.isinf(value) else f"{value / scale:.0f}"
        if not math.isnan(value):
            ax.barh(row, within / scale, height=0.66, color=WITHIN)
            ax.barh(row, (bound - within) / scale, left=within / scale, height=0.66, color=BEYOND)
            words += f" (+{(value - limit) / scale:.0f})" if within < value < math.inf else ""
        place = 0.0 if math.isnan(value) else bound / scale
        ax.annotate(words, (place, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small")
    ax.axvline(limit / scale, color=INK, linewidth=1.0, linestyle=(0, (4, 2)))
    if 0 < above < len(values):
        ax.axhline(above - 0.5 + _APART / 2, color=INK, linewidth=0.8)
    ax.set_yticks(rows, list(values))
    ax.set_ylim(max(rows, default=0) + 0.6, -0.6)
    ax.set_xlim(0, 1.45 * max(known) / scale)
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(unit)
    set_title(ax, title)
    return ax
