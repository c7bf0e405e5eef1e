"""Pairs of features that once ended a run; each with the right outcome."""

from pathlib import Path
from typing import Any

from tests.kit.runs import play_run
from tests.kit.tables import csv_by


def play(folder: Path, workload: dict[str, Any], *options: str) -> dict[str, dict[str, str]]:
    """The run's table of jobs, by id."""
    return csv_by(play_run(folder, workload, *options, "--no-replay") / "jobs.csv")


def delays(**seconds: float) -> dict[str, Any]:
    """Profiles by name."""
    return {name: {"type": "delay", "delay": delay} for name, delay in seconds.items()}


def test_a_held_job_keeps_no_buffer_from_its_destruction(tmp_path: Path) -> None:
    """Found by drawn worlds: the buffer was kept for 4, which waits for 11, which waits for the buffer's end."""
    workload = {
        "nb_res": 8,
        "jobs": [
            {"id": "c", "subtime": 0, "res": 0, "profile": "short", "bb_create": [{"name": "b", "bytes": 4000000000}]},
            {"id": "4", "subtime": 1, "res": 1, "profile": "short", "bb_use": ["b"], "depends": "afterany:11"},
            {"id": "9", "subtime": 2, "res": 8, "profile": "long", "bb_use": ["b"], "bb_destroy": ["b"]},
            {"id": "11", "subtime": 3, "res": 1, "profile": "short", "bb_use": ["b"]},
        ],
        "profiles": delays(long=20, short=1),
    }
    table = play(tmp_path, workload, "--platform", "tiny", "-p", "easy")
    ended = "COMPLETED_SUCCESSFULLY"
    states = {name: row["final_state"] for name, row in table.items()}
    assert states == {"c": ended, "4": "REJECTED", "9": ended, "11": "REJECTED"}


def test_plans_know_the_pool_of_a_user_who_comes_later(tmp_path: Path) -> None:
    """A reservation, a limit of a user, and promises that were kept: their columns were compared."""
    site = """\
nodes = 4
[[association]]
account = "a"
[[association]]
account = "a"
user = "ann"
[[association]]
account = "a"
user = "bob"
limits = { user_jobs = 2 }
[[reservation]]
name = "course"
start = 1970-01-01T00:01:40
length_s = 200
nodes = "0"
"""
    (tmp_path / "site.toml").write_text(site)
    common = {"res": 1, "walltime": 40, "profile": "d", "account": "a"}
    jobs = [
        common | {"id": "1", "subtime": 0, "user": "ann", "reservation": "course"},
        common | {"id": "2", "subtime": 1, "user": "bob"},
    ]
    workload = {"nb_res": 4, "jobs": jobs, "profiles": delays(d=30)}
    options = ["--site", str(tmp_path / "site.toml"), "--begins", "1970-01-01T00:00:00", "--platform", "nodes:4"]
    table = play(tmp_path, workload, *options, "-p", "conservative")
    assert {name: float(row["starting_time"]) for name, row in table.items()} == {"1": 100.0, "2": 1.0}
