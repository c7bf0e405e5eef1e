"""Several charts in one figure."""

from __future__ import annotations

from matplotlib.axes import Axes

from spillway.analysis.plots.style import new_figure


def panels(rows: int, columns: int, *, width: float, height: float) -> list[Axes]:
    """Make a figure (inches) with a grid of axes; return them row by row.

    Parameters
    ----------
    rows, columns
        Size of the grid.
    width, height
        Size of the whole figure.
    """
    grid = new_figure(width, height).subplots(rows, columns, squeeze=False)
    return [ax for row in grid for ax in row]
