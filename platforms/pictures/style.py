"""Colours, marks and texts that all pictures of platforms share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from spillway.base import units

Spot = tuple[float, float]

COLOURS = {
    "node": "#4878a8",
    "storage": "#e8962e",
    "router": "#5b5b5b",
    "pfs": "#b3452c",
    "master": "#7a5195",
    "link": "#b9b9b9",
    "cable": "#9a9a9a",
    "green": "#3a9a4e",
    "black": "#3b3b3b",
    "blue": "#2f6fd0",
    "box": "#f4f4f1",
    "inner": "#ffffff",
    "edge": "#c9c9c2",
}
"""By kind of vertex, cable or box."""

_MARKS = {"node": "o", "storage": "D", "router": "s", "pfs": "h", "master": "P", "link": "."}
_NAMES = {
    "node": "compute node",
    "storage": "burst-buffer node",
    "router": "router or switch",
    "pfs": "parallel file system",
    "master": "master",
    "link": "link",
}


def draw_vertices(
    axes: Axes, kind: str, spots: Sequence[Spot], size: float, labels: Sequence[str] | None = None
) -> None:
    """Draw marks of one kind, ``size`` in points squared, with small labels in their centres."""
    xs, ys = [x for x, _ in spots], [y for _, y in spots]
    axes.scatter(xs, ys, s=size, marker=_MARKS[kind], color=COLOURS[kind], linewidths=0, zorder=4)
    for text, (x, y) in zip(labels or (), spots, strict=False):
        axes.text(x, y, text, ha="center", va="center", fontsize=5.5, color="white", zorder=5)


def draw_cable(axes: Axes, one: Spot, other: Spot, colour: str, bend: float = 0.0, width: float = 1.0) -> None:
    """A cable; ``bend`` 0 is straight."""
    axes.add_patch(
        FancyArrowPatch(
            one, other, arrowstyle="-", connectionstyle=f"arc3,rad={bend}", color=COLOURS[colour], linewidth=width,
            shrinkA=0, shrinkB=0, zorder=2,
        )
    )  # fmt: skip


def draw_box(axes: Axes, left: float, bottom: float, width: float, height: float, colour: str, z: float = 0.0) -> None:
    """A rounded box."""
    style = f"round,pad=0,rounding_size={min(width, height, 1.5) * 0.08}"
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom), width, height, boxstyle=style, facecolor=COLOURS[colour], edgecolor=COLOURS["edge"],
            linewidth=0.8, zorder=z,
        )
    )  # fmt: skip


def draw_server(axes: Axes, kind: str, spot: Spot, text: str) -> None:
    """The file system or the master: a mark in a labelled box."""
    axes.text(
        *spot, text, ha="center", va="center", fontsize=10, color="white", zorder=6,
        bbox={"boxstyle": "round,pad=0.5", "facecolor": COLOURS[kind], "edgecolor": "none"},
    )  # fmt: skip


def vertex_legend(kinds: Iterable[str]) -> list[Line2D]:
    """Legend entries of kinds of vertices."""
    return [
        Line2D([], [], marker=_MARKS[kind], color=COLOURS[kind], linestyle="none", markersize=8, label=_NAMES[kind])
        for kind in kinds
    ]


def cable_legend(labels: dict[str, str]) -> list[Line2D]:
    """Legend entries of cables, by colour."""
    return [Line2D([], [], color=COLOURS[colour], linewidth=2, label=label) for colour, label in labels.items()]


def rate(bytes_per_s: float) -> str:
    """A bandwidth with a readable unit."""
    return _spaced(units.BANDWIDTH.write(bytes_per_s).replace("Bps", "B/s"))


def amount(size_bytes: int) -> str:
    """A size with a readable unit."""
    return _spaced(units.SIZE.write(float(size_bytes)))


def _spaced(text: str) -> str:
    number = text.rstrip("kMGTPB/s")
    return f"{number} {text[len(number) :]}"
