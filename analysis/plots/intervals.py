"""Values with their intervals, beside a reference or over a quantity that was varied; values against a limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from spillway.analysis.plots.axes import named_rows, set_title, time_unit
from spillway.analysis.plots.colours import in_order
from spillway.analysis.plots.style import FAINT, INK, new_axes

OPEN = "#8A8A8A"
"""Colour of an estimate with the reference in its interval."""

_TICKS = (
    (1.6, tuple(tenth / 10 for tenth in range(1, 50))),
    (2.6, tuple(fifth / 5 for fifth in range(1, 25))),
    (math.inf, tuple(sign * 10.0**power for power in range(-6, 7) for sign in (1, 1.5, 2, 3, 5, 7))),
)
"""Ticks of the axis by its width (largest over smallest value, exclusive)."""

WITHIN, BEYOND = "#9AA5B1", "#D55E00"
"""Colours of a bar up to the limit and beyond it."""

_APART = 0.6
"""Space between the bars at the top and the others, in rows."""

_MARKERS = ("o", "s", "^", "D", "v", "P")

Line = Sequence[tuple[float, float, float, float]]
"""Points of a line: x, value, lower and upper bound."""


def forest(rows: Mapping[str, tuple[float, float, float]], *, reference: float = 1.0, ax: Axes | None = None) -> Axes:
    """Draw a row for each estimate, the first one on top.

    Parameters
    ----------
    rows
        Value, lower and upper end of its interval, by name; all above 0, as the axis is logarithmic.
    reference
        Value of the vertical line.
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


def interval_lines(
    lines: Mapping[str, Line], *, colours: Mapping[str, str] | None = None, log: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw a line per name, its intervals as bars.

    Parameters
    ----------
    lines
        By name.
    colours
        By name; default: the palette in order.
    log
        Whether the measure's axis is logarithmic; where a value is 0, from the smallest other one on.
    """
    ax = new_axes(ax)
    palette = colours or in_order(lines)
    for (name, line), marker in zip(lines.items(), _MARKERS * len(lines), strict=False):
        if not line:
            continue
        xs, values, lows, highs = (list(column) for column in zip(*line, strict=True))
        below = [max(value - low, 0.0) for value, low in zip(values, lows, strict=True)]
        above = [max(high - value, 0.0) for value, high in zip(values, highs, strict=True)]
        ax.errorbar(
            xs, values, yerr=(below, above), label=name, color=palette[name], marker=marker, markersize=4.5,
            linewidth=1.6, elinewidth=0.9, capsize=2.0,
        )  # fmt: skip
    drawn = [value for line in lines.values() for _, value, *_ in line]
    positive = [value for value in drawn if value > 0]
    if log and positive:
        kind = {"value": "log"} if len(positive) == len(drawn) else {"value": "symlog", "linthresh": min(positive)}
        ax.set_yscale(**kind)
    ax.grid(axis="y", color=FAINT, linewidth=0.7)
    return ax


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
    named_rows(ax, list(values), places=rows, margin=0.6)
    ax.set_xlim(0, 1.45 * max(known) / scale)
    ax.set_xlabel(unit)
    set_title(ax, title)
    return ax
