"""Tables: means over seeds, differences from ``with-nodes`` on the same jobs, and every run."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from analysis.compare import Interval
from experiments.folders import write_text
from experiments.production_buffers.measures import NAMES, Measured, interval
from experiments.production_buffers.points import BASELINE, PLACES, STRIPED, Point

Results = Mapping[Point, Measured]
Group = tuple[str, str, str, float]
"""Place, life, policy, minutes."""

RUNS, DIFFERENCES = "production-buffers.csv", "differences.csv"
HEADS: Mapping[str, str] = {
    "idle_node_h": "idle node-hours held",
    "idle_percent": "% of computing ones",
    "wait_h": "wait (h)",
    "turnaround_h": "turnaround to data out (h)",
    "buffer_tb_h": "buffer TB-hours",
    "hot_spot": "hot spot",
}
NOTES = (
    "idle: nodes held by a job that neither computes nor writes checkpoints; wait: from submission to the first "
    "computation; hot spot: byte-hours over capacity of the rabbit where that is most, over the mean.",
    "In brackets: 95 % intervals over seeds; differences are on the same jobs. None with fewer than five seeds.",
)


def by_group(results: Results, name: str) -> dict[Group, dict[int, float]]:
    """Values of a measure by group and seed."""
    found: dict[Group, dict[int, float]] = {}
    for point, measured in results.items():
        group = (point.place, point.life, point.policy, point.minutes)
        found.setdefault(group, {})[point.seed] = float(getattr(measured, name))
    return found


def means(results: Results, name: str) -> dict[Group, Interval]:
    """Means over seeds."""
    return {group: interval(values) for group, values in by_group(results, name).items()}


def differences(results: Results, name: str) -> dict[Group, Interval]:
    """Means of the differences from what goes with it (:func:`against`), seed by seed."""
    values = by_group(results, name)
    found = {}
    for group, ours in values.items():
        theirs = values.get(against(group), {})
        if against(group) != group and theirs.keys() >= ours.keys():
            found[group] = interval({seed: value - theirs[seed] for seed, value in ours.items()})
    return found


def against(group: Group) -> Group:
    """What a group is held against: striped buffers that are given with the nodes, all else equal."""
    return (STRIPED, BASELINE, *group[2:])


def show(results: Results, console: Console) -> None:
    """Print both tables."""
    _show(results, console, f"Means over seeds, {PLACES[STRIPED].words}", means, lambda group: group[0] == STRIPED)
    _show(results, console, f"Differences from {BASELINE}", differences, lambda group: group[0] == STRIPED)
    _show(results, console, f"Where buffers lie, {BASELINE}", means, lambda group: group[1] == BASELINE, places=True)
    lost = {name: sum(getattr(one, name) for one in results.values()) for name in ("killed", "rejected")}
    console.print(f"{len(results)} runs; {lost['killed']} jobs killed, {lost['rejected']} rejected", highlight=False)
    for note in NOTES:
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)


def _show(
    results: Results,
    console: Console,
    title: str,
    find: Callable[[Results, str], Mapping[Group, Interval]],
    chosen: Callable[[Group], bool],
    *,
    places: bool = False,
) -> None:
    """Print a table of the groups that are chosen; with ``places`` of those whose places were compared."""
    columns = {name: find(results, name) for name in HEADS}
    groups = sorted(filter(chosen, columns["idle_node_h"]), key=lambda group: (group[2], group[3]))
    if places:
        compared = {group[2:] for group in groups if group[0] != STRIPED}
        groups = [group for group in groups if group[2:] in compared]
    table = Table("policy", "staging (min)", "buffers" if places else "life", title=title, title_justify="left")
    for head in HEADS.values():
        table.add_column(head, justify="right")
    for place, life, policy, minutes in groups:
        cells = [_text(columns[name][place, life, policy, minutes]) for name in HEADS]
        table.add_row(policy, f"{minutes:g}", place if places else life, *cells)
    console.print(table)


def write(results: Results, folder: Path) -> list[Path]:
    """Write one line per run, and the differences with their intervals."""
    runs = [
        [point.place, point.life, point.policy, point.minutes, point.seed, *asdict(measured).values()]
        for point, measured in results.items()
    ]
    axes = ("place", "life", "policy", "minutes")
    changed = [
        [*group, name, found.value, found.low, found.high]
        for name in HEADS
        for group, found in differences(results, name).items()
    ]
    return [
        _csv(folder / RUNS, (*axes, "seed", *NAMES), runs),
        _csv(folder / DIFFERENCES, (*axes, "measure", "difference", "low", "high"), changed),
    ]


def _csv(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> Path:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([f"{cell:.9g}" if isinstance(cell, float) else cell for cell in row] for row in rows)
    write_text(path, text.getvalue())
    return path


def _text(found: Interval) -> str:
    value = _number(found.value)
    return f"{value} ({_number(found.low)} to {_number(found.high)})" if found.is_known else value


def _number(value: float) -> str:
    value = 0.0 if abs(value) < 0.005 else value  # no "-0.00"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
