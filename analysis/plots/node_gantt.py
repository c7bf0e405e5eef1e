"""Gantt chart of the jobs on compute nodes."""

from __future__ import annotations

from matplotlib.axes import Axes

from spillway.analysis.plots.job_colours import Colouring, by_wait
from spillway.analysis.plots.rectangles import Rectangle, draw_rectangles
from spillway.analysis.plots.style import legend_of_jobs, new_axes, set_title, time_unit
from spillway.analysis.tables.holdings import node_spans
from spillway.analysis.tables.jobs import JobTable


def node_gantt(
    table: JobTable,
    ax: Axes | None = None,
    *,
    begin_s: float = 0.0,
    end_s: float | None = None,
    title: str = "Compute nodes",
    colouring: Colouring = by_wait,
) -> Axes:
    """Draw jobs as rectangles over time and compute nodes, coloured by waiting time or another ``colouring``.

    A job that was pre-empted has a rectangle per time slice. Rows are compute nodes in the order of their places
    (``machine.json``), by resource id where places are unknown. Jobs that were killed are hatched.

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
    """
    ax = new_axes(ax, 11.0, 4.6)
    ran = table.ran()
    end_s = float(ran.finish_s.max(initial=begin_s + 1)) if end_s is None else end_s
    ran = ran.only((ran.finish_s > begin_s) & (ran.start_s < end_s))
    scale, unit = time_unit(end_s - begin_s)
    spans = node_spans(ran)
    ids = [node.id for node in table.machine.nodes] or sorted({node for span in spans for node in span.nodes})
    row_of = {node: row for row, node in enumerate(ids)}
    plain: tuple[list[Rectangle], list[str]] = ([], [])
    killed: tuple[list[Rectangle], list[str]] = ([], [])
    stopped, colours = ran.killed, colouring(ran)
    for span in spans:
        left, right = max(span.start_s, begin_s) / scale, min(span.end_s, end_s) / scale
        rectangles, faces = killed if stopped[span.job] else plain
        for first, last in _runs(sorted(row_of[node] for node in span.nodes if node in row_of)):
            if left < right:
                rectangles.append((left, right, first, last + 1))
                faces.append(colours.of_jobs[span.job])
    draw_rectangles(ax, *plain)
    draw_rectangles(ax, *killed, hatch="////")
    ax.set_xlim(begin_s / scale, end_s / scale)
    ax.set_ylim(len(ids), 0)
    ax.set_xlabel(f"simulated time ({unit}); hatched: killed")
    ax.set_ylabel("compute node")
    legend_of_jobs(ax, colours)
    set_title(ax, title)
    return ax


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    """Group ascending row numbers into unbroken runs."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs
