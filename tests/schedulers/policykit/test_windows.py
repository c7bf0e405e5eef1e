"""Windows of maintenance: by hand, and over drawn jobs, windows and policies."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.dates import seconds_of
from spillway.base.errors import OptionError
from spillway.experiments.cli import main
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.policykit.reservations import Window, parse_windows
from tests.kit.runs import play_run
from tests.kit.workloads import delays

LATE_S = 0.01
"""Message latency: a job that is killed at its walltime ends a little later."""


def _play(folder: Path, jobs: Sequence[Mapping[str, Any]], policy: str, windows: str, *options: str) -> bytes:
    """Play jobs on four nodes; the table of jobs."""
    chosen = ("--policy", policy, "--platform", "nodes:4", "--maintenance", windows, *options)
    return (play_run(folder, delays(4, jobs), *chosen) / "jobs.csv").read_bytes()


def _rows(table: bytes) -> dict[int, Mapping[str, str]]:
    return {int(row["job_id"]): row for row in csv.DictReader(table.decode().splitlines())}


def _job(at: int, nodes: int, run: int, walltime: int) -> Mapping[str, int]:
    return {"subtime": at, "res": nodes, "seconds": run, "walltime": walltime}


def test_a_window_that_is_over_at_the_begin() -> None:
    """A window that ended before the log is refused; one that recurs, or lasts into the log, counts."""
    begins_s = seconds_of("2026-11-01T08:00:00")
    with pytest.raises(OptionError, match="it is over when the simulation begins, on 2026-11-01T08:00:00"):
        parse_windows("2025-11-02T08:00 12h", begins_s)
    (again,) = parse_windows("2026-10-02T08:00 12h every 7d", begins_s)
    (open_,) = parse_windows("2026-11-01T07:00 12h", begins_s)
    assert (again.start_s, open_.start_s) == (-30 * 86400.0, -3600.0)


def test_a_window_of_nodes_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Failed before: it reserved nothing, without a message."""
    _play(tmp_path, [_job(0, 1, 10, 20)], "easy", "0s 50s nodes 2-9")
    said = " ".join(capsys.readouterr().out.split())
    assert "a window of maintenance is for node 9, the machine has the nodes 0 to 3" in said


def test_a_partition_within_a_window(tmp_path: Path) -> None:
    """The two nodes of the partition are in maintenance for 50 s of every 100 s: 60 s fit never, 40 s do."""
    site = tmp_path / "site.toml"
    site.write_text("[[partition]]\nname = 'p'\nnodes = '0-1'\ndefault = true\n", encoding="utf-8")
    jobs = [_job(0, 1, 60, 60), _job(0, 1, 30, 40)]
    table = _rows(_play(tmp_path, jobs, "easy", "50s 50s every 100s nodes 0-1", "--site", str(site)))
    assert (table[1]["final_state"], table[2]["final_state"]) == ("REJECTED", "COMPLETED_SUCCESSFULLY")


@pytest.mark.parametrize(("text", "words"), [
    ("3 12h", "'3' has no unit"),
    ("3d", "it has another form"),
    ("3d 0s", "its length must be at least 0.001 s"),
    ("3d 1e-7s", "its length must be at least 0.001 s"),
    ("3d 1ms every 2ms", "the time from one to the next must be at least 1 s"),
    ("3d 2d every 1d", "below the time from one to the next"),
    ("3d 2d nodes 5-2", "'5-2' is no range of nodes"),
    ("1d 2h;", "it has another form"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(text: str, words: str) -> None:
    """The error states the expected form, with an example."""
    with pytest.raises(OptionError, match="setting maintenance must be START LENGTH") as caught:
        parse_windows(text)
    assert words in str(caught.value)


def test_what_is_read() -> None:
    """Times with units, ranges of nodes, several windows."""
    once, again = parse_windows("3d 12h; 1h 30min every 2d nodes 0-1 7")
    assert once == Window(259_200.0, 43_200.0)
    assert again == Window(3600.0, 1800.0, 172_800.0, ((0, 1), (7, 7)))
    assert (once.indices(3), again.indices(6)) == ([0, 1, 2], [0, 1])
    assert list(once.coming(302_400.0)) == []
    assert next(again.coming(5400.0)) == (176_400.0, 178_200.0)


_DRAWN = st.builds(_job, st.integers(0, 60), st.integers(1, 4), st.sampled_from([5, 20, 50]), st.sampled_from([20, 45]))
_POLICIES = ["fcfs", "filler", "easy", "sjf-easy:depth=2", "conservative", "plan:steps=20", "window", "maxutil"]


@settings(max_examples=12, deadline=None)
@given(
    st.lists(_DRAWN, min_size=2, max_size=10),
    st.sampled_from([*_POLICIES, "easy-no-bb", "slurm-backfill", "list", "bbsched"]),
    st.sampled_from(
        [
            "30s 40s",
            "50s 20s; 90s 30s nodes 0-1",
            "30s 20s nodes 0; 30s 20s nodes 2-3",
            "40s 30s every 100s nodes 1-2",
            "0s 25s nodes 3",
        ]
    ),
)
def test_no_policy_runs_a_job_into_a_window(jobs: list[Mapping[str, int]], policy: str, windows: str) -> None:
    """All jobs run; those on a window's nodes before it or after it, by their walltimes; notes change nothing."""
    with TemporaryDirectory() as name:
        table = _play(Path(name) / "one", jobs, policy, windows)
        assert _play(Path(name) / "two", jobs, policy, windows, "--explain") == table
    rows = _rows(table)
    assert len(rows) == len(jobs)
    for number, row in rows.items():
        assert row["final_state"] in ("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"), row
        start_s = float(row["starting_time"])
        end_s = start_s + min(jobs[number - 1]["walltime"], 200)
        on = set(parse_intervals(row["allocated_resources"]))
        for window in parse_windows(windows):
            for begin_s, over_s in window.coming(start_s):
                overlaps = begin_s < end_s - LATE_S and start_s < over_s - LATE_S
                assert not (overlaps and on & set(window.indices(4)))


def test_the_price_of_a_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A question beside the others: the same policy with and without the window."""
    knob = "maintenance=1d 12h nodes 0-39"
    given_options = ["--set", knob, "--seeds", "1", "--shakes", "0", "--no-plots", "--out", str(tmp_path / "out")]
    assert main(["whatif", "kth-like:jobs=60", *given_options]) == 0
    assert "maintenance=1d 12h nodes 0-39" in capsys.readouterr().out
    (run,) = [path for path in (tmp_path / "out").glob("*/run.json") if "1d 12h nodes 0-39" in path.read_text()]
    assert json.loads(run.read_text())["configuration"]["policy"]["session"]["maintenance"] == "1d 12h nodes 0-39"
