"""The table of a what-if question as readers see it, on the console and in the report: from ``whatif.csv``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spillway.analysis.answers.ratios import per_cent
from spillway.analysis.document.blocks import Column, Heading, Paragraph, Section, Table, Words
from spillway.analysis.tables.rows import read_rows
from spillway.base.files import read_file, text_of
from spillway.base.units import duration, number, share

CSV, TEXT, LEFT_OUT = "whatif.csv", "whatif.txt", "whatif-left-out.csv"
"""Files of a what-if question in its folder: table, sentences, and the jobs that are not compared."""

NAMES = ("setting", "policy")

Figures = Mapping[str, Any]
"""A row of the file: names as texts, figures as numbers, NaN where empty."""


def wait(seconds: float) -> str:
    """A waiting time; below a hundredth of a second it is the simulator's resolution."""
    return duration(round(seconds, 2) if math.isfinite(seconds) else seconds)


def change(ratio: float) -> str:
    """``-25 %``, ``+0 %`` (:func:`spillway.analysis.answers.ratios.per_cent`)."""
    if not math.isfinite(ratio):
        return ""
    amount = per_cent(ratio)
    return f"{'-' if ratio < 1 and amount != '0 %' else '+'}{amount}"


def answer_of(folder: Path) -> Section | None:
    """Table and sentences of the what-if question of a folder; ``None`` for the folder of a comparison."""
    if not all((folder / name).exists() for name in (CSV, TEXT)):
        return None
    said = text_of(read_file(folder / TEXT)).splitlines()
    table = table_of(read_table(folder / CSV))
    return Section([Heading("What would change"), table, *(Paragraph(Words(line)) for line in said)], "answer")


def table_of(rows: Sequence[Figures]) -> Table:
    """The rows as a table for readers."""
    relations = {
        f"against {words}": name
        for name, words in (("to_site", "the site"), ("to_same", "unchanged"))
        if any(math.isfinite(row[f"{name}_ratio"]) for row in rows)
    }
    lines = [
        [
            *(Words(row[name]) for name in NAMES),
            *(column.cell(row[column.name]) for column in COLUMNS),
            *(_relation(row, name) for name in relations.values()),
        ]
        for row in rows
    ]
    return Table([*NAMES, *COLUMNS, *relations], lines)


def read_table(path: Path) -> list[Figures]:
    """Rows of a ``whatif.csv``; :class:`spillway.analysis.errors.AnalysisError` where it has another form."""
    texts = (*NAMES, "to_site_over", "to_same_over")
    return [
        {name: row[name] if name in texts else row.number(name) for name in row.cells}
        for row in read_rows(path, (*texts, "compared_wait_s"), "expected the table of a what-if question")
    ]


def _relation(row: Figures, name: str) -> Words:
    """``-25 %``, with its band where there is one."""
    ratio, low, high = (row[f"{name}_{end}"] for end in ("ratio", "ratio_low", "ratio_high"))
    text = change(ratio)
    if not math.isfinite(low) or not math.isfinite(high):
        return Words(text, value=ratio)
    band = f"({change(low).removesuffix(' %')} to {change(high).removesuffix(' %')})"
    mark = "better" if high < 1 else "worse" if low > 1 else "open"
    return Words(text, mark, value=ratio, small=band)


COLUMNS = (
    Column(
        "compared_wait_s", "mean wait", wait, "Mean waiting time of the jobs that have the same outcome in all rows."
    ),
    Column("p95_waiting_time_s", "95 % wait below", wait, "95 % of the jobs that ran waited no longer than this."),
    Column("max_waiting_time_s", "longest wait", wait, "The longest waiting time of a job that ran."),
    Column("starved", "starved", number, "Jobs that waited for more than a week."),
    Column("rejected", "rejected", number, "Jobs that can never run on this machine."),
    Column("killed", "killed", number, "Jobs that were stopped at their walltime."),
    Column("mean_bounded_slowdown", "bounded slowdown", number, "Mean bounded slowdown of the jobs that ran."),
    Column("compute_utilisation", "node use", share, "Share of the node-hours until the last end that jobs held."),
)
"""Columns of every what-if question's table beside its names and changes."""
