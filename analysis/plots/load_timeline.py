"""Demand of the waiting jobs over time, against the capacity of the machine."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.colours import NODES, PALETTE, STORAGE
from spillway.analysis.plots.style import legend_above, new_axes, set_title, time_unit
from spillway.analysis.tables import JobTable
from spillway.analysis.timelines import queue_length, queued_bytes, queued_nodes

_GIGABYTE = 1e9


def load_timeline(table: JobTable, ax: Axes | None = None, *, storage: bool = False, title: str = "Queue load") -> Axes:
    """Draw the compute nodes (or the burst-buffer bytes) that all waiting jobs together request.

    Dashed: the capacity of the machine, where known. Dotted: the mean over time. Marks at the bottom: moments at which
    the queue became empty.

    Parameters
    ----------
    table
        A run.
    ax
        Axes to draw into; a new figure by default.
    storage
        Whether to draw burst buffers (in GB) instead of compute nodes.
    title
        Title above the chart.
    """
    ax = new_axes(ax, 11.0, 3.0)
    load = queued_bytes(table) if storage else queued_nodes(table)
    size = _GIGABYTE if storage else 1.0
    capacity = table.machine.total_storage_bytes / size if storage else float(len(table.machine.nodes))
    end_s = float(table.ran().finish_s.max(initial=1.0))
    scale, unit = time_unit(end_s)
    mean = load.integral(0.0, end_s) / end_s / size
    times = np.concatenate(([0.0], load.time_s, [end_s])) / scale
    values = np.concatenate(([0.0], load.value, [0.0])) / size
    ax.plot(
        times, values, drawstyle="steps-post", color=STORAGE if storage else NODES, linewidth=0.7,
        rasterized=times.size > 20_000, label="requested by waiting jobs",
    )  # fmt: skip
    if capacity:
        ax.axhline(capacity, color=PALETTE[5], linewidth=1.2, linestyle="--", label=f"the machine has {capacity:,.0f}")
    ax.axhline(mean, color=PALETTE[2], linewidth=1.2, linestyle=":", label=f"mean {mean:,.0f}")
    waiting = queue_length(table)
    emptied = (waiting.value == 0) & (np.concatenate(([0.0], waiting.value[:-1])) > 0)
    resets = waiting.time_s[emptied] / scale
    ax.plot(resets, np.zeros(resets.size), linestyle="none", marker="|", markersize=7, color=PALETTE[5], clip_on=False)
    ax.set_xlim(0, end_s / scale)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.set_xlabel(f"simulated time ({unit})")
    ax.set_ylabel("GB" if storage else "nodes")
    legend_above(ax, columns=3)
    set_title(ax, title)
    return ax
