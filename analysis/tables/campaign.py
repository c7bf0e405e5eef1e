"""Results of a campaign: the table in its folder, and the folders of its runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.analysis.errors import AnalysisError
from spillway.analysis.tables.rows import Row, read_rows
from spillway.base.files import parse_json, read_file
from spillway.base.limits import InputError, shown

NAMES = ("workload", "platform", "policy", "engine", "model", "seed")
"""Columns that identify the run of a row."""

ASSUMPTIONS = "assumptions.txt"
"""File of a campaign with the assumptions on its inputs: machine, dropped jobs, walltimes, offered loads."""


@dataclass(frozen=True)
class RunRow:
    """One row of ``summary.csv``.

    Attributes
    ----------
    workload, platform, policy, engine, model, seed
        Identification of the run.
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
        """Whether the run was made by other code than the code that wrote the table."""
        return self.figures.get("other_code") == 1


@dataclass(frozen=True)
class CampaignResults:
    """Results of a finished campaign.

    Attributes
    ----------
    folder
        Its folder.
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

    @property
    def assumptions(self) -> list[str]:
        """Sentences on dropped and assumed inputs; empty where they are not on record."""
        try:
            return (self.folder / ASSUMPTIONS).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            return []

    def record(self, row: RunRow) -> dict[str, Any]:
        """Contents of a run's ``run.json``; ``{}`` where it has none."""
        try:
            data = parse_json(read_file(self.path(row) / "run.json"))
        except InputError:
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
    rows = list(read_rows(path, (*NAMES, "run", "jobs"), "expected a campaign's folder"))
    if not rows:
        raise AnalysisError(f"{path}: the campaign has no finished run")
    return CampaignResults(folder, tuple(map(_row, rows)))


SITE_POLICY = "replay"
"""The policy that repeats the site's own schedule."""


def baseline_of(policies: Sequence[str]) -> str:
    """Policy that the others are compared with: ``replay``, else ``sjf-easy``, ``easy``, or the first."""
    return next((name for name in (SITE_POLICY, "sjf-easy", "easy") if name in policies), policies[0])


def _row(row: Row) -> RunRow:
    if Path(row["run"]).name != row["run"] or row["run"] == "..":
        raise AnalysisError(f"{row.path}, line {row.line}: 'run' must name a folder here, got {shown(row['run'])}")
    figures = {name: row.number(name) for name in row.cells if name not in NAMES and name != "run"}
    if not math.isfinite(figures["jobs"]):
        raise AnalysisError(f"{row.path}, line {row.line}: column 'jobs' must hold a count")
    return RunRow(**{name: row[name] for name in NAMES}, figures=figures, run=row["run"])
