"""Starvation for a second resource on a real Slurm: recordings, and the policy beside them."""

from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.slurm import live
from spillway.experiments.slurm.deviations import deviations
from spillway.experiments.slurm.replay import starts
from spillway.experiments.slurm.starvation import SHIPPED, WAYS, SlurmSetup, keep, kept, settings, submissions
from spillway.experiments.trials.starvation import (
    CASES,
    LARGE,
    VARIANTS,
    BuiltinPolicy,
    StarvationCase,
    compared,
    suffered,
)

BY_WAY = dict(zip((way.name for way in WAYS), kept(SHIPPED), strict=True))
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)


@each_case
@each_way
def test_recordings_are_of_the_cases(case: StarvationCase, way: SlurmSetup) -> None:
    """Slurm 24.11 with the settings of the case and the way, and the case's jobs."""
    recording = BY_WAY[way.name].recordings[case.name]
    assert recording.slurm.startswith("24.11")
    assert recording.settings == settings(case, way)
    assert [job.request for job in recording.jobs] == submissions(case, way)


@each_case
@pytest.mark.parametrize("way", [way for way in WAYS if way.select == "cons_tres"], ids=lambda way: way.name)
def test_the_policy_starts_jobs_as_slurm_did(case: StarvationCase, way: SlurmSetup) -> None:
    """All starts; licences come back when nodes are idle, which a recording says to the ms."""
    recording = BY_WAY[way.name].recordings[case.name]
    assert deviations(recording, starts(recording, passes=True)).largest_s < 0.01


@pytest.mark.parametrize(
    ("way", "delayed"),
    [
        ("default", (True, True, True)),
        ("bf_licenses", (False, True, True)),
        ("bf_licenses, linear", (True, True, True)),
        ("bf_licenses, counted", (False, False, False)),
    ],
)
def test_who_starved(way: str, delayed: tuple[bool, ...]) -> None:
    """The large job waits for all later ones, unless licences alone are scarce and backfill plans them.

    A buffer that is counted as licenses is such a pool. That needs ``select/cons_tres``: under ``select/linear``
    nothing is planned for a job that lacks only licences.
    """
    found = [suffered(BY_WAY[way].starts(case), case.covered_s) for case in CASES]
    assert tuple(outcome.delayed for outcome in found) == delayed
    assert [outcome.passed for outcome in found] == [5 * outcome.delayed for outcome in found]
    assert all(outcome.later_s < 3.0 or outcome.later_s > 40.0 for outcome in found)


@each_case
@each_way
def test_slurms_cluster_is_as_large(case: StarvationCase, way: SlurmSetup) -> None:
    """Time limits are whole minutes, and the large job's amounts are all that there is."""
    jobs, there = submissions(case, way), settings(case, way)
    assert {job.limit_min for job in jobs} == {1}
    large = jobs[LARGE - 1]
    assert large.units in (0, there.pool_units)
    assert large.licenses == ",".join(f"{name}:{count}" for name, count in there.licenses.items())
    assert large.units or large.licenses


def test_where_no_slurm_can_be_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is said, and recordings are shown in its place."""
    monkeypatch.setattr(live, "NAMESPACES", ("sh", "-c", "echo unshare failed: not permitted >&2; exit 1"))
    assert main(["conformance", "slurm", "--live", "--policy", "easy"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith(
        "conformance slurm: no Slurm can be run here, recordings are shown: namespaces cannot"
    )
    assert "Slurm 24.11.5 (bf_licenses)" in printed.out


def test_recordings_that_were_kept_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also if some are missing; a folder without recordings is an error, as are options that exclude each other."""
    way = WAYS[1]
    recordings = BY_WAY[way.name].recordings
    keep({way: recordings}, tmp_path / "runs")
    assert kept(tmp_path / "runs") == [BY_WAY[way.name]]
    (tmp_path / "runs" / "buffer-bf_licenses.json").unlink()
    assert main(["conformance", "slurm", "--replay", str(tmp_path / "runs"), "--policy", "easy"]) == 0
    assert "buffer" not in kept(tmp_path / "runs")[0].recordings
    assert "Not played: Slurm 24.11.5 (bf_licenses): there is no recording." in capsys.readouterr().out
    for arguments, words in (
        (["--replay", str(tmp_path)], "expected a folder with recordings"),
        (["--live", "--replay", str(tmp_path)], "--live and --replay exclude each other"),
        (["--record", str(tmp_path)], "--record needs --live"),
    ):
        assert main(["conformance", "slurm", *arguments]) == 2
        assert words in capsys.readouterr().err


def test_the_page_has_what_the_command_prints() -> None:
    """Its table, row by row: Slurm's recordings, ours with their options, and policies that are all alike."""
    page = (Path(__file__).parents[3] / "docs" / "starvation.md").read_text(encoding="utf-8")
    ours = [*VARIANTS, *map(BuiltinPolicy.of, ("fcfs", "sjf-easy", "list", "conservative", "maxutil"))]
    found = compared([*BY_WAY.values(), *ours])
    rows = [line.strip("| ").replace("*", "").split(" | ") for line in page.splitlines() if line.count(" s") > 2]
    shown = [cells for _, *cells in (row for row in rows if len(row) == 1 + len(CASES))]
    expected = [[str(cell) for cell in row.values()] for row in found.values()]
    assert shown == expected[: len(shown)]
    assert all(row == shown[-1] for row in expected[len(shown) :])
    assert len(shown) == len(BY_WAY) + len(VARIANTS) + 1
