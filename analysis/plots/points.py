"""Points of two values: metrics and the policies that no other one beats in both, promised and actual starts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from spillway.analysis.plots.axes import set_title, time_ticks, time_unit
from spillway.analysis.plots.colours import PALETTE
from spillway.analysis.plots.style import INK, font_size, new_axes, policy_colours
from spillway.analysis.tables.jobs import Floats
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
    names
        Names of the axes.
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
    for axis in (ax.xaxis, ax.yaxis):
        if seconds and points:
            axis.set_major_locator(FixedLocator(_ticks(ax, across=axis is ax.xaxis)))
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


def _ticks(ax: Axes, *, across: bool) -> list[float]:
    """Round times on an axis; across the page as many as have room beside each other, two at least."""
    begin_s, end_s = ax.get_xlim() if across else ax.get_ylim()
    log = (ax.get_xscale() if across else ax.get_yscale()) == "log"
    found = time_ticks(begin_s, end_s, log=log)
    if not across:
        return found
    figure = ax.get_figure(root=True)
    assert figure is not None
    letter = WIDTH * font_size() * figure.dpi / 72.0
    for most in range(7, 2, -1):
        fewer = time_ticks(begin_s, end_s, log=log, most=most)
        if len(fewer) < 2:
            break
        found = fewer
        middles = [0.9 * ax.transData.transform((tick, ax.get_ylim()[0]))[0] for tick in found]  # the axes may shrink
        wide = [letter * (len(duration(tick)) + 1) for tick in found]
        places = zip(itertools.pairwise(middles), itertools.pairwise(wide), strict=True)
        if all(right - left > sum(both) / 2 for (left, right), both in places):
            break
    return found


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


WIDTH = 0.62
"""Width of a letter as a share of the height, on average (DejaVu Sans)."""

_RADIUS = 6.0
"""Radius of a marker in points, with a margin."""

_REACHES = (8.0, 16.0, 26.0, 38.0, 52.0, 70.0, 92.0, 120.0, 150.0)
"""Distances of a name from its point (pt); beyond the first, a line connects them."""

_SIDES = ((1, 0.4), (1, -0.4), (-1, 0.4), (-1, -0.4), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


class Box(NamedTuple):
    """A rectangle in points."""

    left: float
    low: float
    right: float
    high: float

    def shared(self, other: Box) -> float:
        """Area that both cover."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.high, other.high) - max(self.low, other.low)
        return max(wide, 0.0) * max(tall, 0.0)

    def outside(self, other: Box) -> float:
        """Area of this one that the other does not cover."""
        return (self.right - self.left) * (self.high - self.low) - self.shared(other)


def label_points(ax: Axes, points: Mapping[str, tuple[float, float]]) -> list[Box]:
    """Write each name beside its point; return the boxes, in points of the figure. Scales and limits must be final."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    unit, size = 72.0 / figure.dpi, font_size()
    places = [tuple(unit * ax.transData.transform(point)) for point in points.values()]
    window = ax.get_window_extent()
    frame = Box(unit * window.x0, unit * window.y0, unit * window.x1, unit * window.y1)
    taken = [Box(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS) for x, y in places]
    boxes = []
    for (name, point), (x, y) in zip(points.items(), places, strict=True):
        wide, tall = WIDTH * size * len(name), 1.3 * size
        boxes.append(box := _best(x, y, wide, tall, taken, frame))
        taken.append(box)
        far = min(abs(box.left - x), abs(box.right - x)) > _REACHES[0] + 1 or abs((box.low + box.high) / 2 - y) > 16
        ax.annotate(
            name, point, xytext=(box.left - x, (box.low + box.high) / 2 - y), textcoords="offset points",
            fontsize=size, va="center", arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.6} if far else None,
        )  # fmt: skip
    return boxes


def _best(x: float, y: float, wide: float, tall: float, taken: Sequence[Box], frame: Box) -> Box:
    """The nearest free place, or the place with the least overlap."""
    tried: list[tuple[float, int, Box]] = []
    for reach, (across, up) in itertools.product(_REACHES, _SIDES):
        middle_x = x + across * (reach + wide / 2) if across else x
        middle_y = y + up * (reach + tall / 2)
        box = Box(middle_x - wide / 2, middle_y - tall / 2, middle_x + wide / 2, middle_y + tall / 2)
        covered = sum(map(box.shared, taken)) + box.outside(frame)
        if not covered:
            return box
        tried.append((covered, len(tried), box))
    return min(tried)[2]


def promises(
    promised_s: Floats, actual_s: Floats, ax: Axes | None = None, *, title: str = "Promised and actual starts"
) -> Axes:
    """Draw each job's actual waiting time over the one that its first reservation promised.

    Points on the line kept their promise; below it they started earlier, above it later.

    Parameters
    ----------
    promised_s, actual_s
        Waiting times in seconds (:func:`spillway.analysis.answers.story.first_promises`).
    """
    ax = new_axes(ax, 5.6, 5.2)
    top = float(max(promised_s.max(initial=1.0), actual_s.max(initial=1.0)))
    scale, unit = time_unit(top)
    late = actual_s > promised_s + 1
    early = actual_s < promised_s - 1
    groups = ((early, "earlier", PALETTE[2]), (~early & ~late, "as promised", PALETTE[7]), (late, "later", PALETTE[5]))
    for mask, name, colour in groups:
        share = 100 * float(np.mean(mask)) if mask.size else 0.0
        label = f"{name} ({share:.0f} %)"
        ax.scatter(promised_s[mask] / scale, actual_s[mask] / scale, s=12, color=colour, alpha=0.7, label=label)
    ax.plot([0, top / scale], [0, top / scale], color=INK, linewidth=0.8)
    ax.set_xlim(0, 1.03 * top / scale)
    ax.set_ylim(0, 1.03 * top / scale)
    ax.grid()
    ax.set_xlabel(f"waiting time promised by the first reservation ({unit})")
    ax.set_ylabel(f"actual waiting time ({unit})")
    ax.legend(loc="upper left", fontsize="medium")
    set_title(ax, title)
    return ax
