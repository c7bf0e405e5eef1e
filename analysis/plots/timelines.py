"""Charts over simulated time: waiting jobs, shares of the machine, traffic of the file system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from spillway.analysis.plots.axes import BINS, averages, end_of, legend_above, legend_below, set_title, time_axis
from spillway.analysis.plots.colours import NODES, PALETTE, STORAGE
from spillway.analysis.plots.style import new_axes, policy_colours, policy_dashes
from spillway.analysis.tables.jobs import Floats, JobTable
from spillway.analysis.tables.timelines import Steps, busy_nodes, held_bytes, queue_length

_SPANS = 1200
"""Most steps that are drawn; more of them become the longest queue in each of as many equal spans of time."""


def queue_timeline(
    tables: Mapping[str, JobTable], ax: Axes | None = None, *, title: str = "Jobs waiting", end_s: float | None = None
) -> Axes:
    """Draw the length of the queue over simulated time.

    Parameters
    ----------
    tables
        Policy name to its run.
    end_s
        End of the time axis; default: the last start of all runs.
    """
    ax = new_axes(ax, 5.4, 3.4)
    functions = {name: queue_length(table) for name, table in tables.items()}
    last_s = max((steps.time_s[-1] for steps in functions.values() if steps.time_s.size), default=1.0)
    end_s = float(last_s) if end_s is None else end_s
    scale = time_axis(ax, 0.0, end_s)
    palette = policy_colours(tables)
    for name, steps in functions.items():
        times, lengths = _thinned(steps, end_s)
        look: dict[str, Any] = {"color": palette[name], "linewidth": 1.3, "linestyle": policy_dashes(name)}
        ax.plot(times / scale, lengths, drawstyle="steps-post", label=name, **look)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.set_ylabel("jobs")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(ax)
    set_title(ax, title)
    return ax


def _thinned(steps: Steps, end_s: float) -> tuple[Floats, Floats]:
    """Times and values to draw, not more than a picture can show."""
    shown = steps.time_s <= end_s
    times = np.concatenate(([0.0], steps.time_s[shown]))
    lengths = np.concatenate(([0.0], steps.value[shown]))
    if len(times) <= _SPANS or end_s <= 0:
        return times, lengths
    edges = np.linspace(0.0, end_s, _SPANS + 1)
    begins = np.searchsorted(times, edges[:-1], side="right") - 1  # the step that holds where a span begins
    ends = np.searchsorted(times, edges[1:], side="left")
    borders = np.column_stack((begins, ends)).ravel()
    return edges[:-1], np.maximum.reduceat(np.append(lengths, 0.0), borders)[::2]


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
    """
    ax = new_axes(ax, 11.0, 3.0)
    end_s = end_of(table, begin_s, end_s)
    scale = time_axis(ax, begin_s, end_s)
    edges = np.linspace(begin_s, end_s, BINS + 1)
    shares = (
        ("compute nodes", busy_nodes(table), len(table.machine.nodes), NODES),
        ("burst buffers", held_bytes(table), table.machine.total_storage_bytes, STORAGE),
    )
    for name, steps, capacity, colour in shares:
        if capacity and table.executed.any():
            averages(ax, steps, edges, scale=scale, colour=colour, per=capacity / 100, shade=0.18, label=name)
    if not ax.lines:
        ax.text(0.5, 0.5, "no jobs, or size of the machine unknown", transform=ax.transAxes, ha="center")
    else:
        legend_above(ax)
    ax.set_ylim(0, 102)
    ax.grid(axis="y")
    ax.set_ylabel("held (%)")
    set_title(ax, title)
    return ax


def file_system_timeline(
    rate: Steps, ax: Axes | None = None, *, title: str = "Traffic of the file system", end_s: float | None = None
) -> Axes:
    """Draw bytes per second, averaged over 400 equal spans of time.

    Parameters
    ----------
    rate
        From :func:`spillway.analysis.tables.traffic.file_system_rate`.
    end_s
        End of the time axis; default: the last transfer's.
    """
    ax = new_axes(ax, 11.0, 3.0)
    last_s = float(rate.time_s[-1]) if rate.time_s.size else 1.0
    end_s = last_s if end_s is None else end_s
    scale = time_axis(ax, 0.0, end_s, f"; averages over {(end_s / BINS) / 60:.3g} min")
    averages(ax, rate, np.linspace(0, end_s, BINS + 1), scale=scale, colour=PALETTE[0], per=1e9, shade=0.25)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.set_ylabel("GB/s")
    set_title(ax, title)
    return ax
