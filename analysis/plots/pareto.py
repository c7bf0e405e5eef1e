"""Two metrics at once, and the policies that no other one beats in both."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from spillway.analysis.plots.labels import label_points
from spillway.analysis.plots.style import INK, new_axes, policy_colours, set_title, time_ticks
from spillway.base.units import duration

LEAST = 1.5
"""Least ratio of an axis's ends."""


def pareto(
    points: Mapping[str, tuple[float, float]],
    ax: Axes | None = None,
    *,
    names: tuple[str, str] = ("mean waiting time", "longest waiting time"),
    title: str = "Trade-off",
    log: bool = True,
    seconds: bool = True,
) -> Axes:
    """Draw one point per policy, smaller is better on both axes, and the line of those that no other beats.

    Parameters
    ----------
    points
        Policy name to its two values.
    ax
        Axes to draw into; a new figure by default.
    names
        Names of the axes.
    title
        Title above the chart.
    log
        Whether both axes are logarithmic.
    seconds
        Whether both values are seconds (then the ticks are minutes, hours, days).
    """
    ax = new_axes(ax, 5.4, 4.0)
    palette = policy_colours(points)
    front = unbeaten(points)
    if log and all(min(point) > 0 for point in points.values()):
        ax.set_xscale("log")
        ax.set_yscale("log")
    for name, (x, y) in points.items():
        ax.scatter(x, y, s=70, color=palette[name], edgecolor=INK if name in front else "white", zorder=2)
    ax.margins(0.18)
    ax.set_xlim(_widened(*ax.get_xlim()))
    ax.set_ylim(_widened(*ax.get_ylim()))
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        if seconds and points:
            axis.set_major_locator(FixedLocator(list(time_ticks(*limits, log=axis.get_scale() == "log"))))
            axis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
            axis.set_minor_locator(NullLocator())
    if front:
        corner = np.array([points[name] for name in front])
        ax.plot(corner[:, 0], corner[:, 1], drawstyle="steps-post", color=INK, linewidth=0.9, linestyle=":", zorder=1)
    label_points(ax, points)
    ax.grid(which="major")
    ax.set_xlabel(names[0])
    ax.set_ylabel(f"{names[1]}\n(dotted: unbeaten in both)")
    set_title(ax, title)
    return ax


def _widened(low: float, high: float) -> tuple[float, float]:
    """An axis over a factor of :data:`LEAST` at least: similar values look similar, and ticks differ."""
    if low <= 0 or high / low >= LEAST:
        return low, high
    middle = math.sqrt(low * high)
    return middle / math.sqrt(LEAST), middle * math.sqrt(LEAST)


def unbeaten(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Names of the points that no other one beats (at most as large in both, smaller in one), from left to right."""

    def beaten(name: str) -> bool:
        x, y = points[name]
        return any(a <= x and b <= y and (a, b) != (x, y) for a, b in points.values())

    return sorted((name for name in points if not beaten(name)), key=lambda name: points[name])
