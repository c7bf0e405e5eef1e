"""Tables: ours beside the published with verdicts, the four applications, the whole machine; printed and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments import folders
from experiments.malleable.cells import NONE
from experiments.malleable.changes import MEASURES, changes
from experiments.malleable.four import TABLE_2
from experiments.malleable.measures import Results, four_table, measures
from experiments.malleable.published import Published, Verdict, read_published

NOTES = (
    "All of this is simulated: the paper gives neither performance curves nor periods, so those were fitted to the "
    "numbers in its text (experiments/malleable/jacobi.py and four.py name them).",
    "C: two applications that stay in step (as by the paper's I/O times without control) wait for each other once, "
    "not at every phase. Delays of 64.7 s in all need a second application that is 1.3 s faster per period: case "
    "'C drifting'. One pair of periods does not give both.",
    "D: every predicted collision is avoided, so that shifting leaves no delay; the paper's 11 s are "
    "what two collisions that are not avoided would cost.",
    "four: beyond 82 processes the applications need about as much I/O as one at a time can be served (their I/O "
    "ratios add up to 1) and fall into step. Which one writes next then matters as much as their numbers of processes: "
    "the published order and gains come out when the smallest write goes first, not with first come, first served.",
)

MACHINE_COLUMNS: Mapping[str, str] = {
    "mean_wait_s": "wait (s)",
    "mean_turnaround_s": "turnaround (s)",
    "utilisation_percent": "nodes held (%)",
    "lent_percent": "of them lent (%)",
    "mean_delay_s": "I/O delay per phase (s)",
    "delayed_percent": "phases delayed (%)",
    "shifts": "shifts",
    "resizes": "resizes",
    "median_error_s": "prediction error, median (s)",
    "stopped": "jobs stopped",
}

Judged = list[tuple[Published, float | None, Verdict]]


def judge(results: Results) -> Judged:
    """Every statement with our value and the verdict."""
    ours = measures(results)
    return [(one, ours.get(one.name), one.judge(ours.get(one.name))) for one in read_published()]


def machine_table(results: Results) -> dict[tuple[str, str, float], dict[str, float]]:
    """Means over the seeds by (policy, control, share)."""
    grouped: dict[tuple[str, str, float], list[Mapping[str, float]]] = {}
    for cell, result in results.items():
        if cell.kind == "machine":
            key = (str(cell.get("policy")), str(cell.get("control")), float(cell.get("share")))
            grouped.setdefault(key, []).append(result)
    return {key: {name: fmean(run[name] for run in runs) for name in runs[0]} for key, runs in grouped.items()}


def show(results: Results, console: Console) -> Judged:
    """Print everything."""
    judged = judge(results)
    table = Table("measure", "what", "section", "published", "ours", "verdict", title_justify="left")
    table.title = "Singh & Carretero 2019, published beside ours"
    for one, ours, verdict in judged:
        bound = {"within": f"± {one.tolerance:g} " if one.tolerance else ""}.get(one.rule, f"({one.rule}) ")
        table.add_row(
            one.name,
            one.statement,
            one.section,
            f"{one.value:g} {bound}{one.unit}",
            "" if ours is None else f"{ours:.4g}",
            f"{verdict.value} (fitted)" if one.fitted else verdict.value,
        )
    console.print(table)
    for fitted, words in ((False, "statements"), (True, "statements that parameters were fitted to")):
        chosen = [verdict for one, _, verdict in judged if one.fitted is fitted]
        console.print(f"{chosen.count(Verdict.KEPT)} of {len(chosen)} {words} kept", highlight=False)
    _show_four(results, console)
    _show_machine(results, console)
    for note in NOTES:
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    return judged


def _show_four(results: Results, console: Console) -> None:
    found = four_table(results)
    if not found:
        return
    names = [row.name for row in TABLE_2]
    columns = ("processes", "rule", "next writer", *names, "GFLOPS", "against fair (%)", "delay (s)")
    table = Table(*columns, title="Four applications (Table 2)", title_justify="left")
    for (total, rule, order), row in sorted(found.items(), key=lambda item: (item[0][0], item[0][2])):
        fair = found[total, "fair", order]["flops"]
        table.add_row(
            str(total),
            rule,
            order,
            *map(str, row["processes"]),
            f"{row['flops'] / 1e9:.2f}",
            f"{100 * (row['flops'] / fair - 1):+.1f}",
            f"{row['delay_s']:.1f}",
        )
    console.print(table)


def _show_machine(results: Results, console: Console) -> None:
    found = machine_table(results)
    if not found:
        return
    table = Table("policy", "control", "malleable (%)", *MACHINE_COLUMNS.values(), title_justify="left")
    table.title = "A whole machine, means over the seeds"
    for (policy, control, share), row in sorted(found.items()):
        cells = [f"{row[name]:.4g}" if row[name] < 1000 else f"{row[name]:.0f}" for name in MACHINE_COLUMNS]
        table.add_row(policy, control, f"{100 * share:.0f}", *cells)
    console.print(table)
    heads = [measure.words for measure in MEASURES.values()]
    table = Table("policy", "control", "malleable (%)", *heads, title_justify="left")
    table.title = "Changes against no malleable jobs, seed by seed: mean (least to most)"
    for (policy, control, share), changed in sorted(changes(results).items()):
        if control != NONE:
            table.add_row(policy, control, f"{100 * share:.0f}", *map(str, changed.values()))
    if table.row_count:
        console.print(table)


_STATEMENT = ("name", "section", "statement", "value", "rule", "tolerance", "unit")
"""Columns of ``verdicts.csv`` that come from the paper; ``value`` is the published one."""


def write(results: Results, judged: Judged, folder: Path) -> list[Path]:
    """Write ``verdicts.csv``, ``four.csv`` and ``machine.csv``; return the paths."""
    verdicts = [
        (*(getattr(one, name) for name in _STATEMENT), ours, verdict.value, "yes" if one.fitted else "no")
        for one, ours, verdict in judged
    ]
    heads: tuple[str, ...] = (*_STATEMENT, "ours", "verdict", "fitted")
    paths = [_csv(folder / "verdicts.csv", heads, verdicts)]
    four = [
        (total, rule, order, *row["processes"], row["flops"], *row["delays_s"])
        for (total, rule, order), row in sorted(four_table(results).items())
    ]
    names = [row.name for row in TABLE_2]
    heads = ("processes", "rule", "order", *names, "flops", *(f"{name}_delay_s" for name in names))
    paths.append(_csv(folder / "four.csv", heads, four))
    cells = [(cell, result) for cell, result in results.items() if cell.kind == "machine"]
    if cells:
        columns = list(cells[0][1])
        heads = ("policy", "control", "share", "seed", *columns)
        rows = [
            (*(cell.get(name) for name in ("policy", "control", "share", "seed")), *(run[name] for name in columns))
            for cell, run in cells
        ]
        paths.append(_csv(folder / "machine.csv", heads, rows))
    return paths


def _csv(path: Path, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    folders.write_text(path, text.getvalue())
    return path
