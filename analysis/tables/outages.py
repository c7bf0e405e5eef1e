"""Cost of failures, from ``outages.csv`` of a run."""

from __future__ import annotations

import csv
import math
from pathlib import Path

TABLE = "outages.csv"


def lost_node_hours(folder: Path) -> float:
    """Node-hours lost by jobs that failures killed: held, but of no use to a later attempt; 0 without such jobs.

    A job that is not resubmitted, or restarts from its beginning, loses all its node-hours; a job that resumes from a
    checkpoint loses those beyond the computing up to the checkpoint. NaN for the table of an older version.
    """
    path = folder / TABLE
    if not path.is_file():
        return 0.0
    with path.open(encoding="utf-8", newline="") as stream:
        return math.fsum(float(row.get("lost_node_s") or "nan") for row in csv.DictReader(stream)) / 3600.0
