"""The table of frozen runs: one row a run, its recipe and two digests."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from tools.frozen.play import Digests

TABLE = Path(__file__).with_name("table.csv")


def read(path: Path = TABLE) -> dict[str, Digests]:
    """Digests by recipe, in the table's order; a recipe without digests has empty ones."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["run"]: Digests(row["jobs"] or "", row["messages"] or "") for row in csv.DictReader(file)}


def write(digests: Mapping[str, Digests], path: Path = TABLE) -> None:
    """Write the table."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("run", *Digests._fields))
    rows.writerows((name, *found) for name, found in digests.items())
    path.write_text(text.getvalue(), encoding="utf-8")
