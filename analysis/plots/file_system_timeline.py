"""Traffic on the parallel file system's link over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.plots.colours import PALETTE
from spillway.analysis.plots.style import new_axes, set_title, time_unit
from spillway.analysis.tables.timelines import Steps

BINS = 400


def file_system_timeline(
    rate: Steps, ax: Axes | None = None, *, title: str = "Traffic of the file system", end_s: float | None = None
) -> Axes:
    """Draw bytes per second, averaged over 400 equal spans of time.

    Parameters
    ----------
    rate
        From :func:`spillway.analysis.tables.traffic.file_system_rate`.
    ax
        Axes to draw into; a new figure by default.
    title
        Title above the chart.
    end_s
        End of the time axis; default: the last transfer's.
    """
    ax = new_axes(ax, 11.0, 3.0)
    last_s = float(rate.time_s[-1]) if rate.time_s.size else 1.0
    end_s = last_s if end_s is None else end_s
    scale, unit = time_unit(end_s)
    edges = np.linspace(0, end_s, BINS + 1)
    averages = rate.averages(edges) / 1e9
    times = np.repeat(edges, 2)[1:-1] / scale
    ax.fill_between(times, np.repeat(averages, 2), color=PALETTE[0], alpha=0.25, linewidth=0)
    ax.plot(times, np.repeat(averages, 2), color=PALETTE[0], linewidth=1.1)
    ax.set_xlim(0, end_s / scale)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.set_xlabel(f"simulated time ({unit}); averages over {(end_s / BINS) / 60:.3g} min")
    ax.set_ylabel("GB/s")
    set_title(ax, title)
    return ax
