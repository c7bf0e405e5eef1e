"""Gantt charts of a run: its jobs on compute nodes, and the bytes that they held on storage nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from spillway.analysis.plots.axes import end_of, legend_of_waits, set_title, time_axis
from spillway.analysis.plots.colours import STORAGE, by_wait
from spillway.analysis.plots.lanes import lane_names, pieces, unbroken
from spillway.analysis.plots.style import FAINT, NARROW, font_size, new_axes, new_figure, width_of
from spillway.analysis.plots.timelines import utilisation_timeline
from spillway.analysis.tables.holdings import node_spans, storage_spans
from spillway.analysis.tables.jobs import JobTable

Rectangle = tuple[float, float, float, float]
"""Left, right, bottom, top."""


def draw_rectangles(ax: Axes, rectangles: Sequence[Rectangle], face: Sequence[str], hatch: str = "") -> None:
    """Draw rectangles with thin white borders; ``face`` has one colour each."""
    if not rectangles:
        return
    sides = np.array(rectangles)
    left, right, bottom, top = sides.T
    corners = np.stack(
        [np.stack([x, y], axis=-1) for x, y in ((left, bottom), (right, bottom), (right, top), (left, top))], axis=1
    )
    many = len(rectangles) > 4000
    ax.add_collection(
        PolyCollection(
            list(corners),
            facecolors=list(face),
            edgecolors="white",
            linewidths=0.0 if many else 0.35,
            hatch=hatch or None,
            rasterized=many,
        ),
        autolim=False,
    )


def gantt(table: JobTable, *, title: str, begin_s: float = 0.0, end_s: float | None = None) -> Axes:
    """Draw one run whole; return the uppermost axes."""
    end_s = end_of(table, begin_s, end_s)
    figure = new_figure(12, 9.5)
    axes: list[Axes] = list(figure.subplots(3, 1, height_ratios=[4, 4, 1.7]))
    node_gantt(table, axes[0], begin_s=begin_s, end_s=end_s, title=f"{title}: compute nodes")
    storage_gantt(table, axes[1], begin_s=begin_s, end_s=end_s, title="Burst buffers", legend=False)
    utilisation_timeline(table, axes[2], begin_s=begin_s, end_s=end_s)
    return axes[0]


def node_gantt(
    table: JobTable,
    ax: Axes | None = None,
    *,
    begin_s: float = 0.0,
    end_s: float | None = None,
    title: str = "Compute nodes",
) -> Axes:
    """Draw jobs as rectangles over time and compute nodes, coloured by waiting time.

    A job that was pre-empted has a rectangle per time slice. Rows are compute nodes in the order of their places
    (``machine.json``), by resource id where places are unknown. Jobs that were killed are hatched.
    """
    ax = new_axes(ax, 11.0, 4.6)
    ran = table.ran()
    end_s = end_of(table, begin_s, end_s)
    ran = ran.only((ran.finish_s > begin_s) & (ran.start_s < end_s))
    scale = time_axis(ax, begin_s, end_s, "; hatched: killed")
    spans = node_spans(ran)
    ids = [node.id for node in table.machine.nodes] or sorted({node for span in spans for node in span.nodes})
    row_of = {node: row for row, node in enumerate(ids)}
    plain: tuple[list[Rectangle], list[str]] = ([], [])
    killed: tuple[list[Rectangle], list[str]] = ([], [])
    stopped, colours = ran.killed, by_wait(ran)
    for span in spans:
        left, right = max(span.start_s, begin_s) / scale, min(span.end_s, end_s) / scale
        rectangles, faces = killed if stopped[span.job] else plain
        for first, last in unbroken(sorted(row_of[node] for node in span.nodes if node in row_of)):
            if left < right:
                rectangles.append((left, right, first, last + 1))
                faces.append(colours[span.job])
    draw_rectangles(ax, *plain)
    draw_rectangles(ax, *killed, hatch="////")
    ax.set_ylim(len(ids), 0)
    ax.set_ylabel("compute node")
    legend_of_waits(ax)
    set_title(ax, title)
    return ax


def storage_gantt(
    table: JobTable,
    ax: Axes | None = None,
    *,
    begin_s: float = 0.0,
    end_s: float | None = None,
    title: str = "Burst buffers",
    legend: bool = True,
) -> Axes:
    """Draw one lane per storage node, as high as its capacity, and in it the bytes that each job held over time.

    The place of a request within its lane has no meaning (capacity has no addresses); a request is split over gaps in
    the lane. Lanes are numbered in the order of the machine's places, and need ``machine.json`` and ``allocations.csv``
    beside ``jobs.csv``.

    Parameters
    ----------
    legend
        Whether the legend of the colours is drawn above the chart.
    """
    ax = new_axes(ax, 11.0, 4.6)
    ran = table.ran()
    end_s = end_of(table, begin_s, end_s)
    ran = _met(ran, begin_s, end_s)
    scale = time_axis(ax, begin_s, end_s, "; full height of a lane: the storage node's capacity")
    storages = table.machine.storages
    colours = by_wait(ran)
    rectangles: list[Rectangle] = []
    faces: list[str] = []
    for piece in pieces(ran):
        left, right = max(piece.start_s, begin_s) / scale, min(piece.end_s, end_s) / scale
        if left >= right:
            continue
        bottom = piece.storage + 0.94
        height = 0.88 / storages[piece.storage].capacity_bytes
        rectangles.append((left, right, bottom - piece.high * height, bottom - piece.low * height))
        faces.append(colours[piece.job])
    for row in range(len(storages)):
        ax.axhspan(row + 0.06, row + 0.94, color="#F4F4F4", zorder=0, linewidth=0)
        ax.axhline(row + 0.94, color=FAINT, linewidth=0.6, zorder=0)
    draw_rectangles(ax, rectangles, faces)
    ax.set_ylim(max(1, len(storages)), 0)  # a machine without burst buffers has no lane
    names = lane_names(table.machine)
    if width_of(ax) < NARROW:
        names = [name.partition(" (")[0] for name in names]
    every = _every(ax, len(storages))
    ax.set_yticks([row + 0.5 for row in range(0, len(storages), every)], names[::every])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set(color=STORAGE, linewidth=2.5)
    if legend:
        legend_of_waits(ax)
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
