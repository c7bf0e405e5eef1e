"""The table of a what-if question as readers see it, on the console and in the report: from ``whatif.csv``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.analysis.rows import read_rows
from spillway.base.units import duration, number, share

CSV, TEXT, LEFT_OUT = "whatif.csv", "whatif.txt", "whatif-left-out.csv"
"""Files of a what-if question in its folder: table, sentences, and the jobs that are not compared."""

NAMES = ("setting", "policy")

Figures = Mapping[str, Any]
"""A row of the file: names as texts, figures as numbers, NaN where there is none."""


@dataclass(frozen=True)
class Column:
    """A column of the table.

    Attributes
    ----------
    title
        Its heading.
    name
        Column of the file.
    shown
        The text of a row's cell.
    """

    title: str
    name: str
    shown: Callable[[Figures], str]

    @property
    def is_name(self) -> bool:
        """Whether it holds names, not figures."""
        return self.name in NAMES


def wait(seconds: float) -> str:
    """A waiting time; below a hundredth of a second it is the simulator's resolution."""
    return duration(round(seconds, 2) if math.isfinite(seconds) else seconds)


def change(ratio: float) -> str:
    """``-25 %``; with a digit more below one per cent."""
    if not math.isfinite(ratio):
        return ""
    per_cent = 100 * (ratio - 1)
    return f"{per_cent:+.0f} %" if abs(per_cent) >= 1 or per_cent == 0 else f"{per_cent:+.1f} %"


def columns_of(rows: Sequence[Figures]) -> list[Column]:
    """The columns that these rows fill."""
    relations = [
        Column(f"against {words}", f"{name}_ratio", _relation(name))
        for name, words in (("to_site", "the site"), ("to_same", "unchanged"))
        if any(math.isfinite(row[f"{name}_ratio"]) for row in rows)
    ]
    return [*COLUMNS, *relations]


def read_table(path: Path) -> list[Figures]:
    """Rows of a ``whatif.csv``; :class:`spillway.analysis.errors.AnalysisError` where it is none."""
    texts = (*NAMES, "to_site_over", "to_same_over")
    return [
        {name: row[name] if name in texts else row.number(name) for name in row.cells}
        for row in read_rows(path, (*texts, "compared_wait_s"), "expected the table of a what-if question")
    ]


def _figure(title: str, name: str, shown: Callable[[float], str]) -> Column:
    return Column(title, name, lambda row: shown(row[name]))


def _relation(name: str) -> Callable[[Figures], str]:
    def cell(row: Figures) -> str:
        low, high = row[f"{name}_ratio_low"], row[f"{name}_ratio_high"]
        text = change(row[f"{name}_ratio"])
        if not text or not (math.isfinite(low) and math.isfinite(high)):
            return text
        return f"{text} ({change(low).removesuffix(' %')} to {change(high).removesuffix(' %')})"

    return cell


COLUMNS = (
    Column("setting", "setting", lambda row: str(row["setting"])),
    Column("policy", "policy", lambda row: str(row["policy"])),
    _figure("mean wait", "compared_wait_s", wait),
    _figure("95 % wait below", "p95_waiting_time_s", wait),
    _figure("longest wait", "max_waiting_time_s", wait),
    _figure("starved", "starved", number),
    _figure("rejected", "rejected", number),
    _figure("killed", "killed", number),
    _figure("bounded slowdown", "mean_bounded_slowdown", number),
    _figure("utilisation", "compute_utilisation", share),
)
"""What every what-if question's table has."""
