"""Verdicts on made-up results: they can hold, fail, and be open; grids, intervals, the command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.gang.grid import Grid
from experiments.gang.measure import Table, arithmetic, geometric
from experiments.gang.run import POLICY_NAMES, Point, Summary
from experiments.gang.statements import FAILS, HOLDS, OPEN, verdicts

GRID = Grid(times_s=(1861, 2482, 3102), seeds=(0, 1, 2, 3), jobs=10_000)
PAPER_LIKE = dict(zip(POLICY_NAMES, (40.0, 10.0, 12.0, 4.0), strict=True))


def summary(point: Point, slowdowns: dict[str, float]) -> Summary:
    """A result with a policy's slowdown (a little different in each workload) and waits and responses alike."""
    slowdown = slowdowns[point.policy] * (1 + 0.01 * point.seed)
    if point.policy == "gang-io-migrate":
        slowdown *= 5.0 - 4.0 * min(point.limit, 80) / 80 if point.limit != 64 else 1.0
    return Summary(
        slowdown=slowdown, slowdown_from_start=1.0, wait_s=100 * slowdown, response_s=200 * slowdown, local=6500,
        migrations=1, load=0.5, last_end=1.0, wall_s=0.0,
    )  # fmt: skip


def judged(slowdowns: dict[str, float], figures: tuple[int, ...] = (8, 9, 10)) -> dict[str, str]:
    """Verdict by statement."""
    table = Table(GRID, {point: summary(point, slowdowns) for point in GRID.points(figures)})
    return {entry.published: entry.verdict for entry in verdicts(table)}


def test_a_paper_like_world() -> None:
    """At intensity 0.5 what the paper says comes out; its opposite for the other intensities fails."""
    found = judged(PAPER_LIKE)
    assert found["intensity 0.5: IOGS at least 100 % better than GS in slowdown at every load"] == HOLDS
    assert found["intensity 0.5: IOGS over 200 % better than GS in slowdown from 2,000 s on"] == HOLDS
    assert found["intensity 0.33: GS always better than IOGS in slowdown"] == FAILS
    assert found["intensity 0.5, 3,000 s: 6,524 of 10,000 jobs local under gang-io-migrate"] == HOLDS
    assert found["intensity 0.5, 3,000 s: 831 of 10,000 jobs local under gang-io-adaptive"] == FAILS
    assert found["intensity 0.5: no limit at least 90 % better than no migration"] == HOLDS
    assert found["intensity 0.5: cost of 0 to 30 s negligible (taken: 5 %)"] == HOLDS
    assert found["mixed intensities: Migrate-IOGS best of all in slowdown"] == HOLDS


def test_the_opposite_world() -> None:
    """With GS best by far nothing of it holds."""
    found = judged(dict(zip(POLICY_NAMES, (1.0, 10.0, 9.0, 8.0), strict=True)))
    assert found["intensity 0.5: IOGS at least 100 % better than GS in slowdown at every load"] == FAILS
    assert found["intensity 0.33: GS always better than IOGS in slowdown"] == HOLDS
    assert found["mixed intensities: Migrate-IOGS best of all in slowdown"] == FAILS


def test_what_was_not_run_is_open() -> None:
    """Figure 9 alone says nothing about migration's cost and mixed workloads."""
    found = judged(PAPER_LIKE, (9,))
    assert found["figure 8: cost and limit of migration"] == OPEN
    assert found["mixed intensities: Migrate-IOGS best of all in slowdown"] == OPEN


def test_verdicts_count_loads() -> None:
    """A statement that holds at some loads says at how many."""
    slowdowns = {point: summary(point, PAPER_LIKE) for point in GRID.points((9,))}
    worst = max(GRID.times_s)
    for point, result in slowdowns.items():
        if point.policy == "gang" and point.mean_time_s == worst:
            slowdowns[point] = summary(point, PAPER_LIKE | {"gang": 15.0})
            assert slowdowns[point] != result
    found = {entry.published: entry.verdict for entry in verdicts(Table(GRID, slowdowns))}
    assert (
        found["intensity 0.5: IOGS at least 100 % better than GS in slowdown at every load"] == "holds at 2 of 3 loads"
    )


def test_intervals() -> None:
    """Student's for four values by hand (mean 3, deviation 1.2910, 3.182 / 2 of it), the range for fewer."""
    found = arithmetic([2.0, 2.0, 4.0, 4.0])
    assert found.value == 3.0
    assert found.high - found.value == pytest.approx(3.182 * math.sqrt(4 / 3) / 2)
    few = geometric([1.0, 4.0])
    assert (few.value, few.low, few.high) == (pytest.approx(2.0), pytest.approx(1.0), pytest.approx(4.0))


def test_the_grids_of_the_figures() -> None:
    """108 runs per workload for figure 9, 36 for figure 10, 33 for figure 8; the default's C and Q are shared."""
    grid = Grid(seeds=(0,))
    assert [len(grid.points((figure,))) for figure in (4, 9, 10, 8)] == [108, 108, 36, 3 * (4 + 7 - 1)]
    assert len(grid.points((8, 9))) == 108 + 3 * (3 + 6)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tiny repetition from end to end; the second time nothing is run again."""
    command = ["gang", "--quick", "--jobs", "60", "--seeds", "1", "--workers", "1", "--figure", "10"]
    command += ["--out", str(tmp_path)]
    assert main(command) == 0
    runs = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert len(runs) == 3 * 4
    assert main(command) == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()} == runs
    folder = tmp_path / "contiguous-gap583-n60"
    assert {path.stem for path in folder.glob("*.svg")} == {"figure10"}
    assert len(json.loads((folder / "statements.json").read_text(encoding="utf-8"))) > 20
    assert "The paper's statements" in capsys.readouterr().out


def test_verify(capsys: pytest.CaptureFixture[str]) -> None:
    """The comparison with the protocol, on few jobs."""
    assert main(["gang", "--verify", "40"]) == 0
    assert "equal for 40 of 40 jobs" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["--jobs", "0"], ["--gap", "-1"], ["--figure", "7"], ["--layout", "spiral"]])
def test_wrong_options(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2."""
    assert main(["gang", *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1
