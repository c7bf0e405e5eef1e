"""Pairs of features that once ended a run; each with the right outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kit.runs import play_run
from tests.kit.tables import csv_by


def play(folder: Path, workload: dict[str, Any], *options: str) -> dict[str, dict[str, str]]:
    """The run's table of jobs, by id."""
    return csv_by(play_run(folder, workload, *options, "--no-replay") / "jobs.csv")


def delays(**seconds: float) -> dict[str, Any]:
    """Profiles by name."""
    return {name: {"type": "delay", "delay": delay} for name, delay in seconds.items()}


STAGED: dict[str, Any] = {
    "nb_res": 8,
    "jobs": [
        {"id": "7", "subtime": 15, "res": 1, "profile": "short", "bb_use": ["a"]},
        {"id": "5", "subtime": 46.37, "res": 1, "profile": "staged", "bb": 5000000000},
        {"id": "10", "subtime": 59.141, "res": 1, "profile": "short"},
    ],
    "profiles": delays(short=7.5) | {"staged": {"type": "delay", "delay": 40.0, "stage_in_s": 7.0}},
}
RESERVED = """\
nodes = 8
[[reservation]]
name = "r"
start = 1970-01-01T00:00:50
length_s = 10
nodes = "0-6"
"""


@pytest.mark.parametrize("kept", ["maintenance", "site"])
def test_two_reservations_beside_a_window(kept: str, tmp_path: Path) -> None:
    """Where jobs use persistent buffers, nodes were reserved before the window was taken, and the run died."""
    (tmp_path / "site.toml").write_text(RESERVED)
    window = ["--maintenance", "50s 10s nodes 0-6"]
    if kept == "site":
        window = ["--site", str(tmp_path / "site.toml"), "--begins", "1970-01-01T00:00:00"]
    table = play(tmp_path, STAGED, "--platform", "tiny", "-p", "easy", "--bb-life", "two-reservations", *window)
    assert (table["5"]["allocated_resources"], table["5"]["starting_time"]) == ("7", "53.370000")
    assert table["7"]["final_state"] == "REJECTED"


def test_a_staged_job_of_a_reservation_is_booked_once(tmp_path: Path) -> None:
    """Found by drawn worlds: beside persistent buffers its nodes were booked before the pass, and at its start."""
    (tmp_path / "site.toml").write_text(RESERVED.replace("length_s = 10", "length_s = 500"))
    jobs = [*STAGED["jobs"], {"id": "8", "subtime": 52, "res": 2, "profile": "staged", "bb": 10**9, "reservation": "r"}]
    jobs[-1]["walltime"] = 100
    options = ["--site", str(tmp_path / "site.toml"), "--begins", "1970-01-01T00:00:00", "--platform", "tiny"]
    table = play(tmp_path, STAGED | {"jobs": jobs}, *options, "-p", "easy", "--bb-life", "two-reservations")
    assert (table["8"]["starting_time"], table["8"]["final_state"]) == ("59.000000", "COMPLETED_SUCCESSFULLY")


def test_a_held_job_and_the_buffer_that_it_uses(tmp_path: Path) -> None:
    """A released job keeps its place, before the buffer's destruction: it was kept for it, and never usable for it."""
    workload = {
        "nb_res": 8,
        "jobs": [
            {"id": "17", "subtime": 0, "res": 6, "profile": "long", "bb_use": ["a"], "depends": "afterany:8"},
            {"id": "20", "subtime": 0, "res": 4, "profile": "short", "bb_use": ["a"], "bb_destroy": ["a"]},
            {"id": "8", "subtime": 12, "res": 6, "profile": "long"},
            {"id": "c", "subtime": 45, "res": 0, "profile": "short", "bb_create": [{"name": "a", "bytes": 4000000000}]},
        ],
        "profiles": delays(long=20, short=1),
    }
    table = play(tmp_path, workload, "--platform", "tiny", "-p", "easy")
    assert {row["final_state"] for row in table.values()} == {"COMPLETED_SUCCESSFULLY"}


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
