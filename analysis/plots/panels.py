"""Several charts in one figure."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from spillway.analysis.plots.style import SETTINGS


def panels(rows: int, columns: int, *, width: float, height: float) -> list[Axes]:
    """Make a figure (inches) with a grid of axes; return them row by row.

    Parameters
    ----------
    rows, columns
        Size of the grid.
    width, height
        Size of the whole figure.
    """
    with rc_context(SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(rows, columns, squeeze=False)
    return [ax for row in grid for ax in row]
