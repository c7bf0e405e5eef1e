"""What all figures share: settings, time axes, legends, saving."""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from spillway.analysis.colours import colour_of
from spillway.analysis.job_colours import JobColours
from spillway.base import durable

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


def plain(name: str) -> str:
    """A name that Matplotlib draws as it is: ``$`` would begin a formula."""
    return name.replace("$", r"\$")


def policy_colours(names: Iterable[str]) -> dict[str, str]:
    """The colour of each policy (:mod:`spillway.analysis.colours`); names may have gone through :func:`plain`."""
    return {name: colour_of(name.replace(r"\$", "$")) for name in names}


DASHES: tuple[Any, ...] = ("-", (0, (5, 1.2)), (0, (2, 1)), (0, (6, 1, 1.5, 1)))
"""Lines differ in more than their colours."""

_DASHES_OF = {
    "replay": 0,
    "fcfs": 2,
    "filler": 3,
    "easy-no-bb": 1,
    "easy": 0,
    "sjf-easy": 1,
    "conservative": 3,
    "plan": 2,
    "gang": 0,
    "gang-io": 1,
    "gang-io-adaptive": 2,
    "gang-io-migrate": 3,
}


def policy_dashes(name: str) -> Any:
    """The line style of a policy, the same in every picture: it follows from the name alone, as the colour does."""
    known = name.replace(r"\$", "$")
    return DASHES[_DASHES_OF.get(known, zlib.crc32(known.encode()) % len(DASHES))]


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


def legend_below(ax: Axes, columns: int = 4) -> None:
    """Put the legend below the axes, from the left: on a narrow screen it is beside the beginning of the data."""
    ax.legend(
        ncols=columns,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.17),
        borderaxespad=0.3,
        frameon=False,
        fontsize=9.5,
        handlelength=3.0,
        columnspacing=1.2,
    )


def legend_of_jobs(ax: Axes, colours: JobColours) -> None:
    """Say above the axes, at the right, what the colours of the jobs mean."""
    ax.legend(
        [Patch(alpha=0.0), *(Patch(facecolor=colour) for colour, _ in colours.legend)],
        [f"{colours.title}:", *(plain(name) for _, name in colours.legend)],
        ncols=len(colours.legend) + 1,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.3,
        frameon=False,
        fontsize=9,
        handlelength=1.0,
        handleheight=0.9,
        handletextpad=0.4,
        columnspacing=0.9,
    )


def time_unit(span_s: float) -> tuple[float, str]:
    """Return seconds per unit, and the unit's name, that suit an axis of ``span_s`` seconds."""
    return next((seconds, name) for least, seconds, name in _UNITS if span_s >= least)


_BELOW_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_STEPS_S = (
    *_BELOW_S,
    1,
    2,
    5,
    10,
    30,
    60,
    120,
    300,
    600,
    1800,
    3600,
    7200,
    10_800,
    21_600,
    43_200,
    86_400,
    172_800,
    432_000,
)
_NICE_S = (*_STEPS_S, *(86_400 * days for days in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)))


def time_ticks(begin_s: float, end_s: float, *, log: bool, most: int = 7) -> list[float]:
    """Round times on an axis from ``begin_s`` to ``end_s``: seconds, minutes, hours, days; at most ``most``."""
    if log:
        inside = [float(nice) for nice in _NICE_S if begin_s <= nice <= end_s]
        if len(inside) > 2:
            return inside[:: max(1, -(-len(inside) // most))]
    step = next((nice for nice in _NICE_S if (end_s - begin_s) / nice < most), _NICE_S[-1])
    first = math.ceil(begin_s / step)
    return [float(step * place) for place in range(first, math.floor(end_s / step) + 1)]


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
