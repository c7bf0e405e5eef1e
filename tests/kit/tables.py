"""Tables that a run has written."""

import csv
from pathlib import Path


def csv_rows(path: Path | str) -> list[dict[str, str]]:
    """Rows of a CSV file, by the names of its columns."""
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def csv_by(path: Path | str, column: str = "job_id") -> dict[str, dict[str, str]]:
    """Rows of a CSV file by their value in a column."""
    return {row[column]: row for row in csv_rows(path)}


def starts(run: Path) -> dict[int, int]:
    """Starts of a run's jobs, in whole seconds, by the numbers that are their names."""
    rows = csv_rows(run / "jobs.csv")
    return {int(row["job_id"]): round(float(row["starting_time"])) for row in rows if row["starting_time"]}
