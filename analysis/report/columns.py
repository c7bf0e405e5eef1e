"""Columns of the report's tables: their headings, the formats of their figures, and their meanings."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import resources

from spillway.analysis.document.blocks import Column
from spillway.base.units import duration, number, share, size


def explained(columns: Sequence[Column], tau_s: float) -> list[Column]:
    """Columns with the bound of the bounded slowdown (s) in their words."""
    return [replace(column, words=column.words.replace("{tau}", duration(tau_s))) for column in columns]


_SHOWN: Mapping[str, Callable[[float], str]] = {"number": number, "duration": duration, "share": share, "size": size}


def _group(name: str) -> tuple[Column, ...]:
    text = resources.files("spillway.analysis.report").joinpath("columns.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(
        Column(row["name"], row["title"], _SHOWN[row["shown"]], row["words"]) for row in rows if row["group"] == name
    )


SERVICE = _group("service")
"""Figures of service, for users and operators."""

LOST = Column(
    "lost_node_h",
    "lost to failures",
    lambda hours: f"{number(hours)} node-h",
    "Node-hours lost by jobs that failures killed: held, but of no use to a later attempt.",
)
"""Only where external events were played."""

FURTHER = _group("further")
"""Figures of rare interest, and the cost of computing them; in the table of all runs."""

LOSSES = _group("losses")
"""Lost capacity, fairness, and contention."""
