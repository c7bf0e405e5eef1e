"""Every figure: it draws the given numbers, into given axes or its own, and saves the same bytes twice."""

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from spillway.analysis.plots import axes, style
from spillway.analysis.plots.colours import RAMP, WAIT, by_wait
from spillway.analysis.plots.distributions import bars, boxen, normalised_boxes, part_bars, tail_strip
from spillway.analysis.plots.gantt import gantt, node_gantt, storage_gantt
from spillway.analysis.plots.intervals import interval_lines
from spillway.analysis.plots.points import label_points, pareto, promises
from spillway.analysis.plots.timelines import file_system_timeline, queue_timeline, utilisation_timeline
from spillway.analysis.tables.jobs import JobTable
from spillway.analysis.tables.timelines import busy_nodes, queue_length
from tests.analysis.samples import make_table

FIGURES: dict[str, Callable[[JobTable, Axes | None], Axes]] = {
    "bars": lambda table, ax: bars({"fcfs": [table.ran().wait_s], "easy": [table.ran().turnaround_s]}, ax),
    "boxen": lambda table, ax: boxen({"fcfs": table.ran().wait_s}, ax),
    "node_gantt": lambda table, ax: node_gantt(table, ax),
    "storage_gantt": lambda table, ax: storage_gantt(table, ax),
    "queue_timeline": lambda table, ax: queue_timeline({"fcfs": table}, ax),
    "utilisation_timeline": lambda table, ax: utilisation_timeline(table, ax),
    "file_system_timeline": lambda table, ax: file_system_timeline(busy_nodes(table), ax),
    "pareto": lambda table, ax: pareto({"fcfs": (10.0, 30.0), "easy": (20.0, 20.0), "bad": (30.0, 30.0)}, ax),
    "promises": lambda table, ax: promises(table.ran().wait_s, table.ran().turnaround_s, ax),
    "tail_strip": lambda table, ax: tail_strip({"fcfs": table.ran().wait_s}, ax),
    "part_bars": lambda table, ax: part_bars({"fcfs": {"p": table.ran().wait_s}} if table.executed.any() else {}, ax),
    "normalised_boxes": lambda table, ax: normalised_boxes({"fcfs": table.ran().wait_s}, ax),
}


@pytest.mark.parametrize("name", FIGURES)
def test_draws_into_the_given_axes(name: str, table: JobTable) -> None:
    """A caller's axes are used and returned, so that figures can be combined."""
    ax = Figure().add_subplot()
    assert FIGURES[name](table, ax) is ax
    assert ax.get_title(loc="left")


@pytest.mark.parametrize("name", FIGURES)
def test_draws_a_run_in_which_nothing_ran(name: str, table: JobTable) -> None:
    """Results without a single executed job give an empty chart, not a traceback."""
    empty = table.only(~table.executed)
    ax = FIGURES[name](empty, None)
    assert isinstance(ax.get_figure(), Figure)


@pytest.mark.parametrize("name", FIGURES)
def test_saves_the_same_bytes_twice(name: str, table: JobTable, tmp_path: Path) -> None:
    """Both formats are written and depend on the data only."""
    first = style.save(FIGURES[name](table, None), tmp_path / "a" / name)
    second = style.save(FIGURES[name](table, None), tmp_path / "b" / name)
    assert [path.suffix for path in first] == [".png", ".svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def _rectangles(ax: Axes) -> list[tuple[float, float, float, float]]:
    found = []
    for collection in ax.collections:
        if isinstance(collection, PolyCollection):
            for path in collection.get_paths():
                low, high = path.vertices.min(axis=0), path.vertices.max(axis=0)  # type: ignore[union-attr]
                found.append((low[0], high[0], low[1], high[1]))
    return found


def test_node_gantt_draws_each_job_on_its_nodes(table: JobTable) -> None:
    """Job a holds nodes 0-1 from 0 to 100 s, b all four from 100 to 110, c node 3 from 50 to 100."""
    assert sorted(_rectangles(node_gantt(table))) == [(0, 100, 0, 2), (50, 100, 3, 4), (100, 110, 0, 4)]


def test_storage_gantt_heights_are_bytes(table: JobTable) -> None:
    """Job a holds 2 x 10 of 100 bytes on s0, c holds 40 of 100 on s1: heights in lanes of 0.88."""
    first, second = sorted(_rectangles(storage_gantt(table)))
    assert first[:2] == (0, 100)
    assert first[3] - first[2] == pytest.approx(0.2 * 0.88)
    assert second[:2] == (50, 100)
    assert second[3] - second[2] == pytest.approx(0.4 * 0.88)


def test_storage_gantt_never_leaves_its_lane_when_room_is_split(table: JobTable) -> None:
    """The two separate pieces that ended jobs free are given to one job."""
    import dataclasses

    columns = table.take(np.array([0, 0, 0, 0]))
    busy = dataclasses.replace(
        columns,
        start_s=np.array([0.0, 0, 0, 50]),
        finish_s=np.array([50.0, 100, 50, 100]),
        bb_bytes=np.array([30.0, 40, 30, 60]),
        storages=["4:1"] * 4,
    )
    pieces = _rectangles(storage_gantt(busy))
    assert len(pieces) == 5
    assert all(0.06 - 1e-9 <= low <= high <= 0.94 + 1e-9 for _, _, low, high in pieces)
    late = [(low, high) for left, _, low, high in pieces if left == 50]
    assert sum(high - low for low, high in late) == pytest.approx(0.6 * 0.88)


@pytest.mark.parametrize(
    ("begin_s", "end_s", "log", "ticks"),
    [
        (700, 4200, True, [1200, 1800, 2400, 3000, 3600, 4200]),
        (7000, 200_000, True, [7200, 10_800, 21_600, 43_200, 86_400, 172_800]),
        (0, 4200, False, [0, 1800, 3600]),
    ],
)
def test_ticks_of_times(begin_s: float, end_s: float, log: bool, ticks: list[float]) -> None:
    """Round times; also on a narrow logarithmic axis there are several."""
    assert axes.time_ticks(begin_s, end_s, log=log) == ticks


def test_the_colours_of_jobs_mean_something(table: JobTable) -> None:
    """Waits of 0, 90 and 30 s are two steps; the legend names all of them."""
    legend = node_gantt(table).get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["waited:", *WAIT.names]
    assert by_wait(table.ran()) == [RAMP[0], RAMP[1], RAMP[0]]


def test_names_in_the_trade_off_never_lie_upon_each_other() -> None:
    """Not even if a dozen policies are nearly alike, nor upon points or over the frame."""
    draw = np.random.default_rng(5)
    points = {f"policy-number-{i}": tuple(10_000 * draw.uniform(1.0, 1.4, 2)) for i in range(12)}
    points["far"] = (90_000.0, 500_000.0)
    ax = Figure(figsize=(7.0, 4.6)).add_subplot()
    pareto(points, ax)
    boxes = label_points(ax, points)
    assert [(a, b) for a, b in itertools.combinations(boxes, 2) if a.shared(b)] == []


@pytest.mark.parametrize("point", [(0.2, 3.0), (7.0, 1000.0), (4000.0, 187_000.0), (430_000.0, 5e6)])
@pytest.mark.parametrize("ratio", [1.0, 1.02, 1.4, 30.0])
def test_both_axes_of_the_trade_off_have_several_ticks(point: tuple[float, float], ratio: float) -> None:
    """For any times, however alike; no two ticks have the same words."""
    ax = Figure(figsize=(7.0, 4.6)).add_subplot()
    pareto({"a": point, "b": (point[0] * ratio, point[1]), "c": (point[0], point[1] * ratio)}, ax)
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        inside = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
        words = [axis.get_major_formatter()(tick) for tick in inside]
        assert len(words) >= 2
        assert len(set(words)) == len(words)


@pytest.mark.parametrize("log", [True, False])
def test_times_below_the_trade_off_do_not_overlap(log: bool) -> None:
    """Failed before: ``2 h 30 min`` ran into ``2 h 40 min`` where waits were alike."""
    ax = pareto({"fcfs": (8900.0, 76_000.0), "easy": (8550.0, 55_000.0), "plan": (9500.0, 56_000.0)}, log=log)
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    low, high = ax.get_xlim()
    inside = [label for label in ax.get_xticklabels() if low <= label.get_position()[0] <= high]
    boxes = sorted((label.get_window_extent() for label in inside), key=lambda box: box.x0)
    assert len(boxes) > 1
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_line_of_a_policy_follows_from_its_name(table: JobTable) -> None:
    """Also beside other policies; easy and sjf-easy differ."""
    both = {
        line.get_label(): line.get_linestyle()
        for line in queue_timeline(dict.fromkeys(("easy", "sjf-easy"), table)).get_lines()
    }
    assert both["easy"] != both["sjf-easy"]
    (alone,) = queue_timeline({"sjf-easy": table}).get_lines()
    assert alone.get_linestyle() == both["sjf-easy"]


def test_a_long_queue_is_drawn_with_as_many_points_as_a_picture_shows() -> None:
    """Of 30,000 jobs the picture has 1,200 spans, each as high as the longest queue in it."""
    draw = np.random.default_rng(1)
    submit = np.cumsum(draw.exponential(60, 30_000))
    waits = draw.exponential(3000, 30_000)
    table = make_table([(at, at + wait, 1, 10.0) for at, wait in zip(submit, waits, strict=True)])
    (line,) = queue_timeline({"easy": table}).get_lines()
    drawn, steps = np.asarray(line.get_ydata()), queue_length(table)
    assert len(drawn) == 1200
    assert drawn.max() == steps.value.max()
    edges = np.linspace(0, steps.time_s[-1], 1201)
    third = (steps.time_s >= edges[300]) & (steps.time_s < edges[301])
    assert drawn[300] == max(steps.value[third].max(), steps.at(edges[300:301])[0])


@pytest.mark.parametrize("width_mm", [84.0, 0.0])
def test_names_of_lanes_do_not_overlap(width_mm: float, table: JobTable) -> None:
    """Twelve storage nodes in a paper's column, sixty in a figure of its own width: every n-th lane has a name."""
    known = table.machine.storages
    more = [dataclasses.replace(known[0], id=n, name=f"storage {n}") for n in range(10, 20 if width_mm else 70)]
    machine = dataclasses.replace(table.machine, storages=(*known, *more))
    with style.drawing(width_mm):
        ax = gantt(dataclasses.replace(table, machine=machine), title="").figure.axes[1]
        ax.figure.draw_without_rendering()
        boxes = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
    assert len(boxes) > 2
    assert all(below.y1 < above.y0 for below, above in itertools.pairwise(boxes))


def test_a_logarithmic_axis_shows_a_mean_of_0() -> None:
    """Failed before: the line fell out of the picture at its neighbour; all 0 was a warning of Matplotlib's."""
    lines = {"a": [(1.0, 0.0, 0.0, 0.0), (2.0, 100.0, 90.0, 110.0)], "b": [(1.0, 10.0, 9.0, 11.0)]}
    ax = interval_lines(lines, log=True)
    assert ax.get_yscale() == "symlog"
    assert ax.get_ylim()[0] <= 0
    assert interval_lines({"b": lines["b"]}, log=True).get_yscale() == "log"
    assert interval_lines({"a": lines["a"][:1]}, log=True).get_yscale() == "linear"
