"""Number of waiting jobs over time, one line per policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from spillway.analysis.plots.style import legend_below, new_axes, policy_colours, policy_dashes, set_title, time_unit
from spillway.analysis.tables.jobs import Floats, JobTable
from spillway.analysis.tables.timelines import Steps, queue_length

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
    ax
        Axes to draw into; a new figure by default.
    title
        Title above the chart.
    end_s
        End of the time axis; default: the last start of all runs.
    """
    ax = new_axes(ax, 5.4, 3.4)
    functions = {name: queue_length(table) for name, table in tables.items()}
    last_s = max((steps.time_s[-1] for steps in functions.values() if steps.time_s.size), default=1.0)
    end_s = float(last_s) if end_s is None else end_s
    scale, unit = time_unit(end_s)
    palette = policy_colours(tables)
    for name, steps in functions.items():
        times, lengths = _thinned(steps, end_s)
        look: dict[str, Any] = {"color": palette[name], "linewidth": 1.3, "linestyle": policy_dashes(name)}
        ax.plot(times / scale, lengths, drawstyle="steps-post", label=name, **look)
    ax.set_xlim(0, end_s / scale)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.set_xlabel(f"simulated time ({unit})")
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
