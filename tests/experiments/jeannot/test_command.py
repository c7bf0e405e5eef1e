"""``run_experiments.py jeannot`` end to end, small; wrong input."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from experiments.cli import main
from workloads.batsim_json import write_batsim
from workloads.jeannot import JeannotOptions, draw_jeannot

SMALL = ["jeannot", "--family", "M-No", "--load", "0.3", "--load", "0.8", "--jobs", "15"]


def test_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables, figures, a selector; a second run takes the finished points; sharing has its own folder."""
    arguments = [*SMALL, "--literal", "--draws", "2", "--no-variants", "--check", "1", "--workers", "1"]
    arguments += ["--out", str(tmp_path)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "Lesson 4" in printed
    assert "differ by at most" in printed
    folder = tmp_path / "exclusive-fifo-literal-15-jobs"
    with (folder / "runs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 4
    assert all(float(row["mean_stretch"]) >= 1 for row in rows)
    names = {path.name for path in (folder / "figures").iterdir()}
    assert {"figure4-utilisation-mira.png", "figure6-max-stretch.svg", "figure8-resources.png"} <= names
    assert not list(tmp_path.rglob("*.part"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*.json")}
    workload = draw_jeannot(JeannotOptions(family="M-No", alpha=0.3, jobs=15, literal=True, seed=50)).workload
    write_batsim(workload, tmp_path / "w.json")
    assert main([*arguments, "--recommend", str(tmp_path / "w.json")]) == 0
    assert "for the makespan: " in capsys.readouterr().out
    assert main([*arguments, "--no-selector", "--no-figures", "--check", "0", "--io-control", "shared"]) == 0
    assert (tmp_path / "shared-literal-15-jobs" / "verdicts.csv").exists()
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--load", "1.5"], "--load"),
        (["--draws", "0"], "--draws"),
        (["--io-order", "none"], "--io-order"),
        (["--recommend", "missing.json"], "selector.json"),
    ],
)
def test_wrong_input(arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2."""
    assert main(["jeannot", *arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
