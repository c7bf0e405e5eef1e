"""The log's own schedule in a campaign: kept if needed, refused if not known, the baseline."""

import json
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from tests.kit.tables import csv_rows

HEADER = "; MaxProcs: 16\n"
ROW = "{number} {submit} {wait} 100 {size} -1 -1 {size} 200 -1 1 7 1 1 1 -1 -1 -1\n"


def log(path: Path, jobs: list[tuple[int, int, int]]) -> Path:
    """Write a log of (submission, wait, size)."""
    rows = [
        ROW.format(number=number, submit=submit, wait=wait, size=size)
        for number, (submit, wait, size) in enumerate(jobs, start=1)
    ]
    path.write_text(HEADER + "".join(rows))
    return path


def starts(out: Path, policy: str) -> dict[str, float]:
    """Waiting times by job of one policy's run."""
    (run,) = (row["run"] for row in csv_rows(out / "summary.csv") if row["policy"] == policy)
    return {row["job_id"]: float(row["waiting_time"]) for row in csv_rows(out / run / "jobs.csv")}


def played(path: Path, out: Path, *more: str) -> int:
    """Replay a log beside EASY."""
    arguments = ["--policy", "easy", "--policy", "replay", "--no-plots", "--workers", "1", "--out", str(out), *more]
    arguments.append("--notes")
    return main(["run", "--workload", str(path), *arguments])


def test_a_log_is_replayed_beside_a_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same jobs under both; a job of unknown wait is left out, and a schedule that does not fit is reported."""
    path = log(tmp_path / "site.swf", [(0, 5, 4), (10, 40, 16), (20, 60, 16), (30, -1, 1)])
    out = tmp_path / "out"
    assert played(path, out) == 0
    waits = starts(out, "replay")
    assert {name: round(wait) for name, wait in waits.items()} == {"1": 5, "2": 96 - 1, "3": 185}
    assert starts(out, "easy").keys() == waits.keys()
    printed = capsys.readouterr().out
    assumed = (out / "assumptions.txt").read_text()
    assert ": the log does not state when it started" in assumed
    fault = "the log's schedule does not fit the stated machine: 2 of 3 jobs start late (2 for nodes)"
    assert fault in printed
    assert fault in assumed


def test_without_replay_nothing_changes(tmp_path: Path) -> None:
    """The field is written only if a policy reads it."""
    path = log(tmp_path / "site.swf", [(0, 5, 4), (10, 40, 8)])
    out = tmp_path / "out"
    assert (
        main(["run", "--workload", str(path), "--policy", "fcfs", "--no-replay", "--no-plots", "--out", str(out)]) == 0
    )
    (workload,) = (out / "inputs").glob("*.json")
    assert not [job for job in json.loads(workload.read_text())["jobs"] if "site_wait_s" in job]


def test_a_log_without_starts_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, before anything runs: a log, and a workload that was converted without them."""
    path = log(tmp_path / "site.swf", [(0, -1, 4), (10, -1, 8)])
    assert played(path, tmp_path / "out") == 2
    assert "2 lines: the log does not state when it started" in capsys.readouterr().err
    job = {"id": "1", "subtime": 0, "res": 1, "walltime": 9, "profile": "p"}
    text = {"nb_res": 4, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 3}}}
    (tmp_path / "w.json").write_text(json.dumps(text))
    assert played(tmp_path / "w.json", tmp_path / "out") == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "policy replay needs the field 'site_wait_s' of every job, and 1 of 1 jobs of workload 'w'" in said[0]
