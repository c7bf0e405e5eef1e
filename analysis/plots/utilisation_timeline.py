"""Shares of the nodes and of the burst buffers that are held, over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.plots.colours import NODES, STORAGE
from spillway.analysis.plots.style import legend_above, new_axes, set_title, time_unit
from spillway.analysis.tables.jobs import JobTable
from spillway.analysis.tables.timelines import busy_nodes, held_bytes

BINS = 400


def utilisation_timeline(
    table: JobTable,
    ax: Axes | None = None,
    *,
    begin_s: float = 0.0,
    end_s: float | None = None,
    title: str = "Utilisation",
) -> Axes:
    """Draw the shares of compute nodes and burst-buffer bytes held, averaged over 400 equal spans of time.

    Parameters
    ----------
    table
        A run; without ``machine.json`` nothing can be drawn and the chart states that.
    ax
        Axes to draw into; a new figure by default.
    begin_s, end_s
        Part of the simulated time to show; default: all of it.
    title
        Title above the chart.
    """
    ax = new_axes(ax, 11.0, 3.0)
    ran = table.ran()
    end_s = float(ran.finish_s.max(initial=begin_s + 1)) if end_s is None else end_s
    scale, unit = time_unit(end_s - begin_s)
    edges = np.linspace(begin_s, end_s, BINS + 1)
    shares = (
        ("compute nodes", busy_nodes(table), len(table.machine.nodes), NODES),
        ("burst buffers", held_bytes(table), table.machine.total_storage_bytes, STORAGE),
    )
    for name, steps, capacity, colour in shares:
        if capacity and len(ran):
            averages = steps.averages(edges) / capacity * 100
            times = np.repeat(edges, 2)[1:-1] / scale
            ax.plot(times, np.repeat(averages, 2), color=colour, linewidth=1.1, label=name)
            ax.fill_between(times, np.repeat(averages, 2), color=colour, alpha=0.18, linewidth=0)
    if not ax.lines:
        ax.text(0.5, 0.5, "no jobs, or size of the machine unknown", transform=ax.transAxes, ha="center")
    else:
        legend_above(ax)
    ax.set_xlim(begin_s / scale, end_s / scale)
    ax.set_ylim(0, 102)
    ax.grid(axis="y")
    ax.set_xlabel(f"simulated time ({unit})")
    ax.set_ylabel("held (%)")
    set_title(ax, title)
    return ax
