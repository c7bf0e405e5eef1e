"""How many jobs wait, over time, one line per policy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from analysis.plots.style import colours, legend_above, new_axes, set_title, time_unit
from analysis.tables import JobTable
from analysis.timelines import queue_length


def queue_timeline(
    tables: Mapping[str, JobTable], ax: Axes | None = None, *, title: str = "Jobs waiting", end_s: float | None = None
) -> Axes:
    """Draw the length of the queue over simulated time.

    Parameters
    ----------
    tables
        Policy name to its run.
    ax
        Where to draw; a new figure by default.
    title
        Above the chart.
    end_s
        End of the time axis; default: the last start of all runs.
    """
    ax = new_axes(ax, 11.0, 3.6)
    functions = {name: queue_length(table) for name, table in tables.items()}
    last_s = max((steps.time_s[-1] for steps in functions.values() if steps.time_s.size), default=1.0)
    end_s = float(last_s) if end_s is None else end_s
    scale, unit = time_unit(end_s)
    palette = colours(list(tables))
    for name, steps in functions.items():
        shown = steps.time_s <= end_s
        times = np.concatenate(([0.0], steps.time_s[shown])) / scale
        lengths = np.concatenate(([0.0], steps.value[shown]))
        ax.plot(times, lengths, drawstyle="steps-post", color=palette[name], linewidth=1.2, label=name)
    ax.set_xlim(0, end_s / scale)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.set_xlabel(f"simulated time ({unit})")
    ax.set_ylabel("jobs")
    legend_above(ax)
    set_title(ax, title)
    return ax
