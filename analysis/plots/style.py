"""What all figures share: a colour-blind-safe palette, time axes, saving."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from schedulers import durable

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#6B6B6B", "#332288", "#882255")
"""Okabe and Ito's colours (distinguishable with every common colour blindness), then two of Tol's."""

INK = "#222222"
FAINT = "#DDDDDD"

SETTINGS: Any = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "svg.hashsalt": "spillway",
    "svg.fonttype": "none",
}

_UNITS = ((172_800.0, 86_400.0, "days"), (10_800.0, 3_600.0, "hours"), (300.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))


def colours(names: Sequence[str]) -> dict[str, str]:
    """Give each name a colour of the palette, in order; the palette repeats after its end."""
    return {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(names)}


def new_axes(ax: Axes | None, width: float = 8.0, height: float = 4.0) -> Axes:
    """Return ``ax``, or the axes of a fresh figure (inches) without a window."""
    if ax is not None:
        return ax
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure.add_subplot()


def set_title(ax: Axes, title: str) -> None:
    """Write the title above the axes, at the left."""
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)


def legend_above(ax: Axes, columns: int = 5) -> None:
    """Put the legend above the axes, at the right: it never hides data."""
    ax.legend(
        ncols=columns,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.3,
        frameon=False,
        fontsize=9,
        handlelength=1.4,
        columnspacing=1.2,
    )


def time_unit(span_s: float) -> tuple[float, str]:
    """Return seconds per unit, and the unit's name, that suit an axis of ``span_s`` seconds."""
    return next((seconds, name) for least, seconds, name in _UNITS if span_s >= least)


def save(ax: Axes, stem: Path) -> list[Path]:
    """Write the figure as ``stem.png`` and ``stem.svg``; the same data give the same bytes. Return the paths."""
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.png"), stem.with_name(f"{stem.name}.svg")]
    kinds: tuple[dict[str, Any], ...] = (
        {"format": "png", "dpi": 150, "metadata": {"Software": None}},
        {"format": "svg", "metadata": {"Date": None}},
    )
    for path, kind in zip(paths, kinds, strict=True):
        drawn = io.BytesIO()
        with mpl.rc_context(SETTINGS):
            figure.savefig(drawn, **kind)
        durable.write_bytes(path, drawn.getvalue())
    return paths
