"""Drained parts of storage nodes, from ``drains.csv`` of a run."""

from __future__ import annotations

from pathlib import Path

from spillway.analysis.tables.rows import read_rows

TABLE = "drains.csv"
COLUMNS = ("time_s", "storage", "drained_bytes")


def most_drained(folder: Path, start_s: float, end_s: float) -> dict[str, int]:
    """Most bytes that were drained at once between two times, by name of the storage node; only nodes with a drain."""
    path = folder / TABLE
    if not path.is_file():
        return {}
    most: dict[str, int] = {}
    for row in read_rows(path, COLUMNS, "expected the results of a run"):
        time_s, storage, size = row.number("time_s"), row["storage"], int(row.number("drained_bytes"))
        if time_s < end_s:  # the last row before the interval counts, too
            most[storage] = size if time_s <= start_s else max(size, most.get(storage, 0))
    return {storage: size for storage, size in most.items() if size}
