"""Times without contention: each job of a run, played again alone."""

from pathlib import Path
from typing import Any

from tests.kit.runs import play_run
from tests.kit.tables import csv_rows


def alone(root: Path, *jobs: dict[str, Any]) -> dict[str, str]:
    """Times without contention by job, all of whose work takes 10 s; that of ``staged`` between 3 s and 2 s more."""
    profiles = {"p": {"type": "delay", "delay": 10}}
    profiles["staged"] = {**profiles["p"], "stage_in_s": 3, "stage_out_s": 2}
    whole = [{"res": 1, "profile": "p", "walltime": 100, "subtime": 0, **job} for job in jobs]
    data = {"nb_res": 2, "jobs": whole, "profiles": profiles}
    folder = play_run(root, data, "--platform", "tiny", "--policy", "fcfs", "--model", "io", "--no-replay")
    return {row["job_id"]: row["uncontended_s"] for row in csv_rows(folder / "jobs.csv")}


def test_a_job_alone_waits_for_no_other(tmp_path: Path) -> None:
    """One creates a persistent buffer, one uses it, one waits for the first: alone each has nothing to wait for. The
    last two were rejected when they were played alone, so that they had no time."""
    found = alone(
        tmp_path,
        {"id": "0", "bb": 1, "bb_create": [{"name": "a", "bytes": 10}]},
        {"id": "1", "bb": 1, "bb_use": ["a"], "profile": "staged"},
        {"id": "2", "bb": 1, "depends": "afterok:0", "profile": "staged"},
    )
    assert {name: round(float(seconds), 2) for name, seconds in found.items()} == {"0": 10.0, "1": 15.0, "2": 15.0}


def test_a_walltime_holds_for_a_job_alone_too(tmp_path: Path) -> None:
    """The first is stopped after 12 of its 15 seconds; the second is submitted at that instant, and is not hindered."""
    found = alone(tmp_path, {"id": "0", "bb": 10**9, "walltime": 12, "profile": "staged"}, {"id": "1", "bb": 1})
    assert {name: round(float(seconds), 2) for name, seconds in found.items()} == {"0": 12.0, "1": 10.0}
