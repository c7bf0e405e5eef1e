"""Several lines with intervals: a measure over a quantity that was varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from spillway.analysis.plots.colours import in_order
from spillway.analysis.plots.style import FAINT, new_axes

_MARKERS = ("o", "s", "^", "D", "v", "P")

Line = Sequence[tuple[float, float, float, float]]
"""Points of a line: x, value, lower and upper bound."""


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
    ax
        Axes to draw into; a new figure by default.
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
