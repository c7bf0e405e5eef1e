"""Gantt chart of the bytes that jobs held on storage nodes."""

from __future__ import annotations

import math

from matplotlib.axes import Axes

from spillway.analysis.plots.colours import STORAGE
from spillway.analysis.plots.job_colours import Colouring, by_wait
from spillway.analysis.plots.lanes import lane_names, pieces
from spillway.analysis.plots.rectangles import Rectangle, draw_rectangles
from spillway.analysis.plots.style import (
    FAINT,
    NARROW,
    font_size,
    legend_of_jobs,
    new_axes,
    set_title,
    time_unit,
    width_of,
)
from spillway.analysis.tables.holdings import storage_spans
from spillway.analysis.tables.jobs import JobTable


def storage_gantt(
    table: JobTable,
    ax: Axes | None = None,
    *,
    begin_s: float = 0.0,
    end_s: float | None = None,
    title: str = "Burst buffers",
    colouring: Colouring = by_wait,
    legend: bool = True,
) -> Axes:
    """Draw one lane per storage node, as high as its capacity, and in it the bytes that each job held over time.

    The place of a request within its lane has no meaning (capacity has no addresses); a request is split over gaps in
    the lane. Lanes are numbered in the order of the machine's places, and need ``machine.json`` and ``allocations.csv``
    beside ``jobs.csv``.

    Parameters
    ----------
    table
        A run.
    ax
        Axes to draw into; a new figure by default.
    begin_s, end_s
        Part of the simulated time to show; default: all of it.
    title
        Title above the chart.
    colouring
        Meaning of the colours (:mod:`spillway.analysis.plots.job_colours`).
    legend
        Whether the legend of the colours is drawn above the chart.
    """
    ax = new_axes(ax, 11.0, 4.6)
    ran = table.ran()
    end_s = float(ran.finish_s.max(initial=begin_s + 1)) if end_s is None else end_s
    ran = _met(ran, begin_s, end_s)
    scale, unit = time_unit(end_s - begin_s)
    storages = table.machine.storages
    colours = colouring(ran)
    rectangles: list[Rectangle] = []
    faces: list[str] = []
    for piece in pieces(ran):
        left, right = max(piece.start_s, begin_s) / scale, min(piece.end_s, end_s) / scale
        if left >= right:
            continue
        bottom = piece.storage + 0.94
        height = 0.88 / storages[piece.storage].capacity_bytes
        rectangles.append((left, right, bottom - piece.high * height, bottom - piece.low * height))
        faces.append(colours.of_jobs[piece.job])
    for row in range(len(storages)):
        ax.axhspan(row + 0.06, row + 0.94, color="#F4F4F4", zorder=0, linewidth=0)
        ax.axhline(row + 0.94, color=FAINT, linewidth=0.6, zorder=0)
    draw_rectangles(ax, rectangles, faces)
    ax.set_xlim(begin_s / scale, end_s / scale)
    ax.set_ylim(max(1, len(storages)), 0)  # a machine without burst buffers has no lane
    names = lane_names(table.machine)
    if width_of(ax) < NARROW:
        names = [name.partition(" (")[0] for name in names]
    every = _every(ax, len(storages))
    ax.set_yticks([row + 0.5 for row in range(0, len(storages), every)], names[::every])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set(color=STORAGE, linewidth=2.5)
    if legend:
        legend_of_jobs(ax, colours)
    ax.set_xlabel(f"simulated time ({unit}); full height of a lane: the storage node's capacity")
    set_title(ax, title)
    return ax


def _every(ax: Axes, lanes: int) -> int:
    """Step between lanes with a name, so that names do not overlap."""
    figure = ax.get_figure(root=True)
    points = 72 * ax.get_position().height * (float(figure.get_figheight()) if figure is not None else 4.0)
    return max(1, math.ceil(lanes * 1.4 * font_size() / points))


def _met(ran: JobTable, begin_s: float, end_s: float) -> JobTable:
    """Jobs that ran or held burst buffers within an interval."""
    met = (ran.finish_s > begin_s) & (ran.start_s < end_s)
    for span in storage_spans(ran) if any(ran.storage_lives) else ():
        met[span.job] |= span.end_s > begin_s and span.start_s < end_s
    return ran.only(met)
