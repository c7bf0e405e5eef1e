"""Tables: ours beside the published, what differs, and the ratios of section 5.5."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from experiments.herbein.published import AWARE, IGNORANT, PROVISIONINGS, published
from experiments.herbein.run import Point, averaged

COLUMNS: dict[str, str] = {
    "computing_percent": "allocated node time spent computing (%)",
    "least_job_percent": "least share of a single job (%)",
    "contended_percent": "time with contention (%)",
    "mean_turnaround_s": "mean turnaround (s)",
    "makespan_s": "makespan (s)",
    "busy_percent": "nodes allocated (%)",
    "state_change_s": "time between state changes (s)",
    "decision_p50_s": "decision, median (s)",
    "decision_p75_s": "decision, 75th percentile (s)",
    "decision_p95_s": "decision, 95th percentile (s)",
    "decision_p99_s": "decision, 99th percentile (s)",
    "decision_max_s": "longest decision (s)",
}
"""Printed figures. Time between state changes: makespan over four changes per job, as the paper counts them."""

NOTES = (
    "Published values come of a workload extrapolated from LLNL's Cab and Zin, which is not public; ours is fitted to "
    "LLNL Atlas, with a size factor chosen by us (--size-factor, default 2), so load and backlog differ.",
    "The published least share of 66.7 % is below 49/70. One published version of the authors' emulator counts whole "
    "MB/s, which cuts 12.6 of 18 to 12 (66.7 %); another counts fractions, and which one the paper used is not known. "
    "The contention model 'waterfill-mb' counts whole MB/s, 'waterfill' does not.",
    "In the paper's emulator no job is killed at its time limit; neither here.",
)

Rows = Mapping[Point, Mapping[str, float]]


def group(rows: Rows) -> dict[tuple[str, str, str, str, str], dict[str, float]]:
    """Means over seeds, by (contention, mix, policy, platform, scheduler)."""
    found: dict[tuple[str, str, str, str, str], list[Mapping[str, float]]] = {}
    for point, row in rows.items():
        key = (point.contention, point.mix, point.policy, point.platform, point.scheduler)
        found.setdefault(key, []).append(row)
    return {key: averaged(several) for key, several in found.items()}


def ratios(rows: Rows) -> dict[tuple[str, str, str, str], tuple[float, float]]:
    """Efficiency and turnaround, aware over ignorant (section 5.5), by (contention, mix, policy, platform)."""
    table = group(rows)
    found = {}
    for (contention, mix, policy, platform, scheduler), aware in table.items():
        ignorant = table.get((contention, mix, policy, platform, IGNORANT))
        if scheduler == AWARE and ignorant is not None:
            found[contention, mix, policy, platform] = (
                aware["computing_percent"] / ignorant["computing_percent"],
                aware["mean_turnaround_s"] / ignorant["mean_turnaround_s"],
            )
    return found


def write(rows: Rows, folder: Path) -> Path:
    """Write one line per run, and return the file."""
    path = folder / "runs.csv"
    names = list(next(iter(rows.values())))
    fields = ["platform", "policy", "scheduler", "contention", "mix", "foreign_share", "seed"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields + names)
        for point, row in rows.items():
            writer.writerow([getattr(point, field) for field in fields] + [f"{row[name]:.9g}" for name in names])
    return path


def show(rows: Rows, console: Console) -> None:
    """Print one table per contention model, rate mix and policy, published values in brackets."""
    table = group(rows)
    ratio = ratios(rows)
    for front in dict.fromkeys(key[:3] for key in table):
        contention, mix, policy = front
        literal = policy == "easy" and mix == "constant"
        console.print(_table(f"{policy}, {mix} rates, contention model {contention}", front, table, literal))
        lines = Table("ratio aware / ignorant", *PROVISIONINGS, title_justify="left")
        for index, name in enumerate(("efficiency_ratio", "turnaround_ratio")):
            cells = []
            for platform in PROVISIONINGS:
                pair = ratio.get((*front, platform))
                stated = published(platform, "", name) if literal else ""
                cells.append("" if pair is None else _cell(f"{pair[index]:.3f}", stated))
            lines.add_row(name.replace("_", " "), *cells)
        console.print(lines)
    for note in NOTES:
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)


def _table(
    title: str,
    front: tuple[str, str, str],
    table: Mapping[tuple[str, str, str, str, str], Mapping[str, float]],
    literal: bool,
) -> Table:
    keys = [(platform, scheduler) for scheduler in (IGNORANT, AWARE) for platform in PROVISIONINGS]
    keys = [key for key in keys if (*front, *key) in table]
    heads = [f"{scheduler} {platform}" for platform, scheduler in keys]
    lines = Table("ours (published)", *heads, title=title, title_justify="left")
    for name, words in COLUMNS.items():
        cells = []
        for platform, scheduler in keys:
            value = table[(*front, platform, scheduler)][name]
            text = "unknown" if value < 0 else f"{value:.4g}" if value < 1000 else f"{value:.0f}"
            cells.append(_cell(text, published(platform, scheduler, name) if literal else ""))
        lines.add_row(words, *cells)
    return lines


def _cell(ours: str, stated: str) -> str:
    return f"{ours} ({stated})" if stated else ours
