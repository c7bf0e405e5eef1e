"""Figures: settings, sizes, colours and lines of policies, saving; the parts of charts are in :mod:`.axes`."""

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

from spillway.analysis.plots.colours import colour_of
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


def panels(rows: int, columns: int, *, width: float, height: float) -> list[Axes]:
    """Make a figure of this size (inches) with a grid of axes; return them row by row."""
    grid = new_figure(width, height).subplots(rows, columns, squeeze=False)
    return [ax for row in grid for ax in row]


def width_of(ax: Axes) -> float:
    """Width of the figure in inches."""
    figure = ax.get_figure(root=True)
    return float(figure.get_figwidth()) if figure is not None else 8.0


def font_size() -> float:
    """Current size of the letters (points)."""
    return float(mpl.rcParams["font.size"])


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
