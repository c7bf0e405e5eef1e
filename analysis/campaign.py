"""Reading a whole campaign's folder: its table, and the folders of its runs."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError

NAMES = ("workload", "platform", "policy", "engine", "model", "seed")
"""Columns that identify the run of a row."""


@dataclass(frozen=True)
class RunRow:
    """One row of ``summary.csv``.

    Attributes
    ----------
    workload, platform, policy, engine, model, seed
        Which run it is.
    figures
        All other columns by name; NaN where empty.
    run
        Name of the run's folder.
    """

    workload: str
    platform: str
    policy: str
    engine: str
    model: str
    seed: str
    figures: dict[str, float]
    run: str

    @property
    def of_other_code(self) -> bool:
        """Whether other code made the run than was there when the table was written."""
        return self.figures.get("other_code") == 1


@dataclass(frozen=True)
class CampaignResults:
    """A campaign that has run.

    Attributes
    ----------
    folder
        Where it is.
    rows
        Its runs in the order of the grid.
    """

    folder: Path
    rows: tuple[RunRow, ...]

    @property
    def policies(self) -> list[str]:
        """Policies in order of first occurrence."""
        return list(dict.fromkeys(row.policy for row in self.rows))

    @property
    def groups(self) -> dict[tuple[str, str, str], list[RunRow]]:
        """Runs that can be compared: same platform, engine and model."""
        found: dict[tuple[str, str, str], list[RunRow]] = {}
        for row in self.rows:
            found.setdefault((row.platform, row.engine, row.model), []).append(row)
        return found

    def path(self, row: RunRow) -> Path:
        """Folder of a run."""
        return self.folder / row.run

    def record(self, row: RunRow) -> dict[str, Any]:
        """Contents of a run's ``run.json``; ``{}`` where it has none."""
        try:
            data = json.loads((self.path(row) / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}


def read_campaign(folder: Path) -> CampaignResults:
    """Read a campaign's folder.

    Raises
    ------
    AnalysisError
        It has no ``summary.csv``, or one without runs or of another form.
    """
    path = folder / "summary.csv"
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except OSError as error:
        raise AnalysisError(f"{path}: cannot be read ({error.strerror}); expected a campaign's folder") from None
    if not rows:
        raise AnalysisError(f"{path}: the campaign has no finished run")
    missing = [name for name in (*NAMES, "run") if name not in rows[0]]
    if missing:
        raise AnalysisError(f"{path}, line 1: no column {missing[0]!r}")
    return CampaignResults(folder, tuple(_row(path, number, row) for number, row in enumerate(rows, start=2)))


def baseline_of(policies: Sequence[str]) -> str:
    """Policy that the others are compared with: ``sjf-easy``, else ``easy``, else the first."""
    return next((name for name in ("sjf-easy", "easy") if name in policies), policies[0])


def _row(path: Path, line: int, row: dict[str, str]) -> RunRow:
    try:
        figures = {
            name: float(text) if text else math.nan for name, text in row.items() if name not in NAMES and name != "run"
        }
    except (ValueError, TypeError):
        raise AnalysisError(f"{path}, line {line}: expected numbers in the columns after {NAMES[-1]!r}") from None
    return RunRow(**{name: row[name] for name in NAMES}, figures=figures, run=row["run"])
