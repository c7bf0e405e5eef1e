"""What failures cost: read from ``outages.csv`` of a run."""

from __future__ import annotations

import csv
import math
from pathlib import Path

TABLE = "outages.csv"


def lost_node_hours(folder: Path) -> float:
    """Node-hours that jobs held and no later attempt could use, for they were killed by failures; 0 where none was.

    A job that is not submitted anew, or begins at its beginning, loses all that it held; one that goes on from a
    checkpoint loses what it held besides the computing up to there. NaN where the table is of an older version.
    """
    path = folder / TABLE
    if not path.is_file():
        return 0.0
    with path.open(encoding="utf-8", newline="") as stream:
        return math.fsum(float(row.get("lost_node_s") or "nan") for row in csv.DictReader(stream)) / 3600.0
