"""Costs of failures and drained parts of storage nodes, from ``outages.csv`` and ``drains.csv`` of a run."""

from __future__ import annotations

import math
from pathlib import Path

from spillway.analysis.tables.rows import run_rows


def lost_node_hours(folder: Path) -> float:
    """Node-hours lost by jobs that failures killed: held, but of no use to a later attempt; 0 without such jobs.

    A job that is not resubmitted, or restarts from its beginning, loses all its node-hours; a job that resumes from a
    checkpoint loses those beyond the computing up to the checkpoint. NaN for the table of an older version.
    """
    rows = run_rows(folder / "outages.csv", ())
    return math.fsum(row.number("lost_node_s") if "lost_node_s" in row.cells else math.nan for row in rows) / 3600.0


def most_drained(folder: Path, start_s: float, end_s: float) -> dict[str, int]:
    """Most bytes that were drained at once between two times, by name of the storage node; only nodes with a drain."""
    most: dict[str, int] = {}
    for row in run_rows(folder / "drains.csv", ("time_s", "storage", "drained_bytes")):
        time_s, storage, size = row.number("time_s"), row["storage"], int(row.number("drained_bytes"))
        if time_s < end_s:  # the last row before the interval counts, too
            most[storage] = size if time_s <= start_s else max(size, most.get(storage, 0))
    return {storage: size for storage, size in most.items() if size}
