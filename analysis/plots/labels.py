"""Names beside points, without overlaps of names and points."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from spillway.analysis.plots.style import INK, font_size

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
