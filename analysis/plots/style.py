"""Common parts of all figures: settings, sizes, time axes, legends, saving."""

from __future__ import annotations

import io
import math
import textwrap
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from spillway.analysis.plots.colours import colour_of
from spillway.analysis.plots.job_colours import JobColours
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
    """The colour of each policy (:mod:`spillway.analysis.plots.colours`); names may be those of :func:`plain`."""
    return {name: colour_of(name.replace(r"\$", "$")) for name in names}


_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.2)), (0, (2, 1)), (0, (6, 1, 1.5, 1)))
"""Line styles: lines differ in more than their colours."""

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
    """The line style of a policy, the same in every picture: it follows from the name, as the colour does."""
    known = name.replace(r"\$", "$")
    return _DASHES[_DASHES_OF.get(known, zlib.crc32(known.encode()) % len(_DASHES))]


NARROW = 5.0
"""Figures narrower than this (inches) have smaller letters, and legends in several rows."""

FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 150, "metadata": {"Software": None}},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None, "ModDate": None}},
    "pgf": {},
}
"""Formats of files, with the options that leave out the date."""


_formats: ContextVar[tuple[str, ...]] = ContextVar("formats", default=("png", "svg"))


@contextmanager
def drawing(width_mm: float = 0.0, style: str = "", formats: Sequence[str] = ()) -> Iterator[None]:
    """Draw figures of this width, with a Matplotlib style that overrides our settings, and save them in these formats.

    Parameters
    ----------
    width_mm
        Width of every figure; 0: its own. Heights change by the square root, so that letters fit into their rows.
    style
        A style file of Matplotlib (``.mplstyle``), or "". Its ``figure.figsize`` is the width where ``width_mm`` is 0.
    formats
        Formats that :func:`save` writes (:data:`FORMATS`); default: PNG and SVG.
    """
    given: Any = dict(mpl.rc_params_from_file(style, use_default_template=False)) if style else {}
    if width_mm:
        given["figure.figsize"] = (width_mm / 25.4, mpl.rcParams["figure.figsize"][1])
    narrow = "figure.figsize" in given and given["figure.figsize"][0] < NARROW
    token = _formats.set(tuple(formats) or _formats.get())
    try:
        with mpl.rc_context(SETTINGS | ({"font.size": 7.0, "axes.linewidth": 0.6} if narrow else {}) | given):
            yield
    finally:
        _formats.reset(token)


def new_figure(width: float, height: float) -> Figure:
    """A figure without a window, of this size (inches) or of the width that :func:`drawing` sets."""
    settings: Any = {}
    if mpl.rcParams["svg.hashsalt"] != SETTINGS["svg.hashsalt"]:
        settings = SETTINGS
    elif mpl.rcParams["figure.figsize"] != mpl.rcParamsDefault["figure.figsize"]:
        wanted = mpl.rcParams["figure.figsize"][0]
        width, height = wanted, height * min(1.0, math.sqrt(wanted / width))
    with mpl.rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure


def new_axes(ax: Axes | None, width: float = 8.0, height: float = 4.0) -> Axes:
    """Return ``ax``, or the axes of a fresh figure (inches) without a window."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def width_of(ax: Axes) -> float:
    """Width of the figure in inches."""
    figure = ax.get_figure(root=True)
    return float(figure.get_figwidth()) if figure is not None else 8.0


def set_title(ax: Axes, title: str) -> None:
    """Write the title above the axes, at the left, and above a legend that begins there, too."""
    legend = ax.get_legend()
    rows = 0 if legend is None or width_of(ax) >= NARROW else -(-len(legend.get_texts()) // _NARROW_COLUMNS)
    ax.set_title(title, loc="left", fontsize="large", fontweight="bold", color=INK, pad=6.0 + 1.5 * rows * font_size())


def legend_above(ax: Axes, columns: int = 5) -> None:
    """Put the legend above the axes, at the right: it never hides data."""
    _beside_the_title(ax, *ax.get_legend_handles_labels(), columns)


def legend_below(ax: Axes, columns: int = 4) -> None:
    """Put the legend below the axes, from the left: on a narrow screen it is beside the beginning of the data."""
    ax.legend(
        ncols=columns,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.17),
        borderaxespad=0.3,
        frameon=False,
        fontsize="medium",
        handlelength=3.0,
        columnspacing=1.2,
    )


_NARROW_COLUMNS = 4


def font_size() -> float:
    """Current size of the letters (points)."""
    return float(mpl.rcParams["font.size"])


def legend_of_jobs(ax: Axes, colours: JobColours) -> None:
    """Put the legend of the jobs' colours above the axes: at the right, on narrow figures from the left."""
    handles = [Patch(alpha=0.0), *(Patch(facecolor=colour) for colour, _ in colours.legend)]
    names = [f"{colours.title}:", *(plain(name) for _, name in colours.legend)]
    _beside_the_title(ax, handles, names, len(names), handlelength=1.0, handleheight=0.9, handletextpad=0.4)


def _beside_the_title(ax: Axes, handles: Any, names: list[str], columns: int, **more: Any) -> None:
    """Put a legend above the axes, at the right, on narrow figures in rows from the left; the title is above these."""
    narrow = width_of(ax) < NARROW
    legend = ax.legend(
        handles, names, ncols=_NARROW_COLUMNS if narrow else columns, loc="lower left" if narrow else "lower right",
        bbox_to_anchor=(0.0 if narrow else 1.0, 1.0), borderaxespad=0.3, frameon=False, fontsize="medium",
        columnspacing=1.0, **({"handlelength": 1.4} | more),
    )  # fmt: skip
    legend.set_in_layout(False)  # else a legend wider than the axes would make them narrow


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


def save(ax: Axes, stem: Path, formats: Sequence[str] = ()) -> list[Path]:
    """Write the figure once for each format, as ``stem.png`` and so on; return the paths.

    The default formats are those of :func:`drawing`. The same data give the same bytes. Labels that are longer than
    their axes are wrapped.
    """
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    stem.parent.mkdir(parents=True, exist_ok=True)
    width, height = figure.get_size_inches()
    for axis in figure.axes:
        for label, inches in ((axis.xaxis.label, 0.85 * width), (axis.yaxis.label, height)):
            letters = max(12, int(72 * inches / (0.56 * float(label.get_fontsize()))))
            label.set_text("\n".join(textwrap.fill(line, letters) for line in label.get_text().split("\n")))
    paths = []
    for name in formats or _formats.get():
        drawn = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": SETTINGS["svg.hashsalt"], "svg.fonttype": "none", "pgf.rcfonts": False}):
            figure.savefig(drawn, format=name, **FORMATS[name])
        paths.append(stem.with_name(f"{stem.name}.{name}"))
        durable.write_bytes(paths[-1], drawn.getvalue())
    return paths
