"""Ratios of section 5.5 and the printed tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.cli import main
from experiments.herbein.published import AWARE, IGNORANT
from experiments.herbein.report import ratios
from experiments.herbein.run import Point


def point(scheduler: str, seed: int, **fields: object) -> Point:
    """A point at 30 %."""
    return Point(platform="cts1-30", policy="easy", scheduler=scheduler, seed=seed, **fields)  # type: ignore[arg-type]


def test_ratios_are_of_the_same_seed() -> None:
    """80 % of 100 % is an efficiency ratio of 1.25; turnaround 30 s against 20 s is 1.5. One pair per seed."""
    rows = {
        point(IGNORANT, 0): {"computing_percent": 80.0, "mean_turnaround_s": 20.0},
        point(AWARE, 0, foreign_share=0.3): {"computing_percent": 100.0, "mean_turnaround_s": 30.0},
        point(IGNORANT, 1): {"computing_percent": 50.0, "mean_turnaround_s": 10.0},
        point(AWARE, 1): {"computing_percent": 100.0, "mean_turnaround_s": 5.0},
        point(AWARE, 2): {"computing_percent": 100.0, "mean_turnaround_s": 5.0},
    }
    assert ratios(rows) == {("waterfill", "constant", "easy", "cts1-30"): [(1.25, 1.5), (2.0, 0.5)]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "0"], "--seeds must be at least 1, got 0"),
        (["--mean-gap", "nan"], "--mean-gap: expected a number, got 'nan'"),
        (["--foreign", "1"], "--foreign must be at least 0 and below 1, got 1"),
        (["--policy", "esay"], "unknown policy 'esay'; known: fcfs"),
        (["--log", "nowhere.swf"], "nowhere.swf: cannot be read"),
        (["--out", "{file}"], "name another folder with --out"),
    ],
)
def test_bad_options_are_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, what was expected and what came, nothing else."""
    (tmp_path / "file").touch()
    given = [argument.format(file=tmp_path / "file") for argument in arguments]
    if "--out" not in given:
        given += ["--out", str(tmp_path / "out")]
    assert main(["herbein", "--quick", *given]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
