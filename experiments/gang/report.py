"""Tables: the runs, their means, and the paper's statements beside ours."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table as Lines

from experiments.folders import write_json, write_text
from experiments.gang.grid import CLASSES
from experiments.gang.measure import Results, Table, arithmetic, geometric
from experiments.gang.run import LABELS, MIXED_NAME, POLICY_NAMES, Point, Summary
from experiments.gang.statements import verdicts

LITERAL = "slowdown_from_start"
NOTES = (
    "The paper prints the response time as the time from start to end (section 2.3), which leaves the wait out; its "
    "group's other papers count from submission, and so do we. The last column judges by the printed formula.",
    "ASCI Blue-Pacific's workload is not public: arrivals, sizes and times are a hyper-Erlang fit to LLNL Atlas; the "
    "load at a mean execution time may differ from the paper's.",
)


def write_runs(results: Results, path: Path) -> Path:
    """Write one line per run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = (*Point.__struct_fields__, *Summary.__struct_fields__)
    writer.writerow(names)
    for point, summary in results.items():
        row = msgspec.structs.asdict(point) | msgspec.structs.asdict(summary)
        writer.writerow([f"{row[name]:.9g}" if isinstance(row[name], float) else row[name] for name in names])
    write_text(path, text.getvalue())
    return path


def show_means(table: Table, console: Console) -> None:
    """Print slowdown, wait and local jobs at every load."""
    for mix in (*CLASSES, MIXED_NAME):
        times = [t for t in table.grid.times_s if all(table.has(policy, t, mix) for policy in POLICY_NAMES)]
        if not times:
            continue
        title = "mixed intensities" if mix == MIXED_NAME else f"I/O intensity {mix}"
        lines = Lines(title=title, title_justify="left")
        measures = ("slowdown", "wait (s)", "local")
        policies = [f"{LABELS[name]}\n{measure}" for measure in measures for name in POLICY_NAMES]
        for heading in ("mean\ntime (s)", "load", *policies):
            lines.add_column(heading, justify="right")
        for time in times:
            load = arithmetic(table.values("load", POLICY_NAMES[0], time, mix)).value
            cells = [f"{geometric(table.values('slowdown', name, time, mix)).value:.4g}" for name in POLICY_NAMES]
            cells += [f"{arithmetic(table.values('wait_s', name, time, mix)).value:,.0f}" for name in POLICY_NAMES]
            cells += [f"{arithmetic(table.values('local', name, time, mix)).value:,.0f}" for name in POLICY_NAMES]
            lines.add_row(f"{time:,}", f"{load:.2f}", *cells)
        console.print(lines)


def show_statements(table: Table, console: Console, path: Path) -> Path:
    """Print the verdicts, and write them."""
    lines = Lines(
        "section", "published", "ours (95 % interval over workloads; range of fewer than four)", "verdict",
        "by the printed formula", title="The paper's statements", title_justify="left",
    )  # fmt: skip
    rows = []
    for usual, literal in zip(verdicts(table), verdicts(table, LITERAL), strict=True):
        lines.add_row(usual.section, usual.published, usual.ours, usual.verdict, literal.verdict)
        rows.append(
            {
                "section": usual.section,
                "published": usual.published,
                "ours": usual.ours,
                "verdict": usual.verdict,
                "ours_from_start": literal.ours,
                "verdict_from_start": literal.verdict,
            }
        )
    console.print(lines)
    for note in NOTES:
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    write_json(path, rows)
    return path
