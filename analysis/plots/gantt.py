"""Nodes, burst buffers and utilisation of one run, below each other on one time axis."""

from __future__ import annotations

from matplotlib.axes import Axes

from spillway.analysis.plots.node_gantt import node_gantt
from spillway.analysis.plots.storage_gantt import storage_gantt
from spillway.analysis.plots.style import new_figure
from spillway.analysis.plots.utilisation_timeline import utilisation_timeline
from spillway.analysis.tables.jobs import JobTable


def gantt(table: JobTable, *, title: str, begin_s: float = 0.0, end_s: float | None = None) -> Axes:
    """Draw one run whole; return the uppermost axes.

    Parameters
    ----------
    table
        A run.
    title
        Title above the charts.
    begin_s, end_s
        Part of the simulated time to show; default: all of it.
    """
    end_s = float(table.ran().finish_s.max(initial=begin_s + 1)) if end_s is None else end_s
    figure = new_figure(12, 9.5)
    axes: list[Axes] = list(figure.subplots(3, 1, height_ratios=[4, 4, 1.7]))
    node_gantt(table, axes[0], begin_s=begin_s, end_s=end_s, title=f"{title}: compute nodes")
    storage_gantt(table, axes[1], begin_s=begin_s, end_s=end_s, title="Burst buffers", legend=False)
    utilisation_timeline(table, axes[2], begin_s=begin_s, end_s=end_s)
    return axes[0]
