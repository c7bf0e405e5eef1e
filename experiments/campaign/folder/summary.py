"""A campaign's tables: ``summary.csv`` (all columns), ``results.csv`` (without measurements), printed ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.console import Console

from spillway.analysis.document.blocks import Table
from spillway.analysis.document.terminal import show
from spillway.analysis.document.text import to_csv, to_latex
from spillway.analysis.measures.metrics import Summary, mean, summarise
from spillway.analysis.report.columns import FURTHER, LOST, SERVICE
from spillway.analysis.tables.campaign import NAMES
from spillway.analysis.tables.jobs import read_run
from spillway.analysis.tables.outages import lost_node_hours
from spillway.base.units import number
from spillway.experiments.campaign.folder import reuse
from spillway.experiments.campaign.folder.reuse import Validity
from spillway.experiments.run import folders, provenance
from spillway.experiments.run.spec import Playing, RunSpec

METRICS = tuple(field.name for field in fields(Summary))
TIMINGS = ("scheduler_cpu_s", "simulator_cpu_s", "decision_p50_s", "decision_p99_s", "wall_s", "peak_rss_bytes")
OTHER_CODE = "other_code"
"""Column: 1 where the run was made by other code than the present, else 0."""

COLUMNS = (*NAMES, *METRICS, *TIMINGS, OTHER_CODE, "run")
_MARK = " *"
_CANCELLED = "cancelled"
SUMMARY, RESULTS = "summary.csv", "results.csv"
_COLUMN_OF = {column.name: column for column in (*SERVICE, *FURTHER, LOST)}

Row = dict[str, Any]


def collect(runs: Iterable[RunSpec], root: Path, playing: Playing) -> list[Row]:
    """Rows of all kept runs, in the order of the grid; those of other code are marked."""
    rows: list[Row] = []
    runs = list(runs)
    failing = any(run.events is not None for run in runs)
    for run in runs:
        folder = root / run.id
        standing = reuse.look_at_run(folder, run).standing
        if standing in (Validity.CURRENT, Validity.OTHER_CODE):
            names = (
                run.workload.name,
                run.platform.name,
                run.policy.label,
                run.engine.value,
                run.model.label,
                run.seed,
            )
            timings = folders.read_json(folder / "timings.json")
            row: Row = dict(zip(NAMES, names, strict=True)) | metrics_of(folder, playing)
            if failing:
                row[LOST.name] = lost_node_hours(folder) if run.events is not None else math.nan
            rows.append(row | {name: timings.get(name, math.nan) for name in TIMINGS})
            rows[-1] |= {OTHER_CODE: int(standing is Validity.OTHER_CODE), "run": run.id}
    return rows


def metrics_of(folder: Path, playing: Playing) -> dict[str, float]:
    """Summary of a finished run: the kept one where it was made by this code with this bound, else a new one."""
    found = folders.read_json(folder / "metrics.json")
    if (found.get("tau_s"), found.get("code")) == (playing.tau_s, provenance.metrics_code()):
        return {name: math.nan if found[name] is None else found[name] for name in METRICS}
    return summarise(read_run(folder), playing.tau_s).as_dict()


def write_tables(rows: Sequence[Row], root: Path) -> Path:
    """Write ``summary.csv`` and ``results.csv``; return the path of the first."""
    names = (*NAMES, *_metrics_of(rows))
    for file, columns in (RESULTS, (*names, OTHER_CODE, "run")), (SUMMARY, (*names, *TIMINGS, OTHER_CODE, "run")):
        folders.write_text(root / file, to_csv(columns, [[_cell(row[name]) for name in columns] for row in rows]))
    return root / SUMMARY


def write_further(rows: Sequence[Row], root: Path, formats: Sequence[str]) -> list[Path]:
    """Write ``summary.tex`` (means by policy, for a paper) and ``summary.parquet`` (all runs), each if requested."""
    written = []
    if "tex" in formats and rows:
        written.append(root / "summary.tex")
        labels = list(dict.fromkeys(row["policy"] for row in rows))
        folders.write_text(written[-1], to_latex(_figures(rows, labels, _metrics_of(rows))))
    if "parquet" in formats and rows:
        from spillway.analysis.interchange import write_parquet

        written.append(root / "summary.parquet")
        write_parquet(written[-1], {name: [row[name] for row in rows] for name in rows[0]})
    return written


def print_tables(rows: Sequence[Row], console: Console) -> None:
    """Print one table with a column per policy: each figure of a run, means over workloads and seeds.

    Where there are several workloads, a second table has the mean waiting time of each. A policy's name is marked where
    some of its runs were made by other code.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["platform"], row["engine"], row["model"]), []).append(row)
    for (platform, engine, model), group in groups.items():
        labels = list(dict.fromkeys(row["policy"] for row in group))
        workloads = list(dict.fromkeys(row["workload"] for row in group))
        where = f"platform {platform}, engine {engine}, model {model}"
        _print_figures(console, group, labels, f"{_subject(group, workloads)}, {where}")
        if len(workloads) > 1:
            _print_by_workload(console, group, labels, workloads)


def _metrics_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """The metrics, without cancelled jobs where there are none, and the loss to failures if those were played."""
    metrics = METRICS if any(row[_CANCELLED] for row in rows) else [name for name in METRICS if name != _CANCELLED]
    return (*metrics, *((LOST.name,) if rows and LOST.name in rows[0] else ()))


def _marked(label: str, rows: Sequence[Row]) -> str:
    return label + _MARK * any(row[OTHER_CODE] for row in rows if row["policy"] == label)


def _subject(rows: Sequence[Row], workloads: Sequence[str]) -> str:
    """Words for the played jobs: each is counted once, not once for each policy and seed."""
    jobs = sorted({row["jobs"] + row["rejected"] + row[_CANCELLED] for row in rows})
    seeds = len({row["seed"] for row in rows})
    counts = " to ".join(number(count) for count in dict.fromkeys((jobs[0], jobs[-1])))
    over = [f"{len(workloads)} workloads"] if len(workloads) > 1 else []
    over += [f"{seeds} seeds"] if seeds > 1 else []
    means = f"means over {' and '.join(over)}, {counts} jobs in each run" if over else f"{counts} jobs"
    return f"{workloads[0]}: {means}" if len(workloads) == 1 else means


def _figures(rows: Sequence[Row], labels: Sequence[str], names: Sequence[str]) -> Table:
    """A row for each figure, a column for each policy: means over workloads and seeds."""
    of = [[row for row in rows if row["policy"] == label] for label in labels]
    lines = [
        [_COLUMN_OF[name].title, *(_COLUMN_OF[name].shown(_mean([row[name] for row in own])) for own in of)]
        for name in names
    ]
    return Table(["", *(_marked(label, rows) for label in labels)], lines)


def _print_figures(console: Console, rows: Sequence[Row], labels: Sequence[str], title: str) -> None:
    metrics = _metrics_of(rows)
    names = (*metrics, *TIMINGS)
    show(console, _figures(rows, labels, names), title, ends=[names.index(name) for name in ("killed", metrics[-1])])


def _print_by_workload(console: Console, rows: Sequence[Row], labels: Sequence[str], workloads: Sequence[str]) -> None:
    column = _COLUMN_OF["mean_waiting_time_s"]

    def means(among: Sequence[str]) -> list[str]:
        waits = (
            [row[column.name] for row in rows if (row["policy"], row["workload"] in among) == (p, True)] for p in labels
        )
        return [column.shown(_mean(found)) for found in waits]

    lines = [*([name, *means((name,))] for name in workloads), ["mean", *means(workloads)]]
    table = Table(["workload", *(_marked(label, rows) for label in labels)], lines)
    show(console, table, f"{column.title} by workload", ends=(len(workloads) - 1,))


def _mean(values: Sequence[float]) -> float:
    import numpy as np

    return mean(np.array(values, dtype=np.float64))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return str(value)
