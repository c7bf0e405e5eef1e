"""Windows of maintenance: by hand, and over drawn jobs, windows and policies."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.dates import seconds_of
from spillway.base.errors import OptionError
from spillway.core import Timeline
from spillway.experiments.cli import main
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.machine import CountedPool, simple_machine
from spillway.schedulers.policykit.windows import Window, parse_windows
from tests.kit.runs import play_run

LATE_S = 0.01
"""Message latency: a job that is killed at its walltime ends a little later."""


def _play(folder: Path, jobs: Sequence[Mapping[str, Any]], policy: str, windows: str, *options: str) -> bytes:
    """Play jobs on four nodes; the table of jobs."""
    profiles = {str(job["run"]): {"type": "delay", "delay": job["run"]} for job in jobs}
    names = {"at": "subtime", "nodes": "res", "walltime": "walltime"}
    listed = [
        {"id": number, "profile": str(job["run"])} | {name: job[own] for own, name in names.items()}
        for number, job in enumerate(jobs, start=1)
    ]
    data = {"nb_res": 4, "jobs": listed, "profiles": profiles}
    chosen = ("--policy", policy, "--platform", "nodes:4", "--maintenance", windows, *options)
    return (play_run(folder, data, *chosen) / "jobs.csv").read_bytes()


def _rows(table: bytes) -> dict[int, Mapping[str, str]]:
    return {int(row["job_id"]): row for row in csv.DictReader(table.decode().splitlines())}


def _job(at: int, nodes: int, run: int, walltime: int) -> Mapping[str, int]:
    return {"at": at, "nodes": nodes, "run": run, "walltime": walltime}


def test_nobody_runs_into_a_window(tmp_path: Path) -> None:
    """Four nodes, all in maintenance from 100 to 150 s. Job 1 may take until 90 s and starts at once; 2, until 110 s,
    starts at 150 s. 3 needs all nodes for at most 20 s, which it gets when 1 has ended; 4 fills the gap before that."""
    jobs = [_job(0, 2, 60, 90), _job(0, 2, 60, 110), _job(0, 4, 10, 20), _job(0, 2, 30, 40)]
    table = _rows(_play(tmp_path, jobs, "easy", "100s 50s"))
    assert {number: round(float(row["starting_time"])) for number, row in table.items()} == {1: 0, 2: 150, 3: 60, 4: 0}


def test_some_nodes_and_again(tmp_path: Path) -> None:
    """Nodes 0 and 1 are in maintenance for 50 s of every 100 s: a job of 60 s runs on the others alone, one of three
    nodes never does, and its reason has both inequalities."""
    jobs = [_job(0, 2, 60, 60), _job(0, 2, 40, 40), _job(0, 3, 60, 60)]
    table = _rows(_play(tmp_path, jobs, "easy", "60s 50s every 100s nodes 0-1"))
    assert table[1]["allocated_resources"] == "0-1"  # it ends as the window begins
    assert table[2]["allocated_resources"] == "2-3"
    assert table[3]["final_state"] == "REJECTED"
    (reasons,) = (tmp_path / "out").glob("w_*/rejections.csv")
    expected = "walltime 60 s > 50 s between two windows of maintenance, and 3 nodes > 2 outside of them"
    assert expected in reasons.read_text()


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3 12h", "'3' has no unit"),
        ("3d", "it has another form"),
        ("3d 0s", "its length must be at least 0.001 s"),
        ("3d 1e-7s", "its length must be at least 0.001 s"),
        ("3d 1ms every 2ms", "the time from one to the next must be at least 1 s"),
        ("3d 2d every 1d", "below the time from one to the next"),
        ("3d 2d nodes 5-2", "'5-2' is no range of nodes"),
        ("1d 2h;", "it has another form"),
    ],
)
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


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 3)), max_size=6), st.data())
def test_what_is_taken_from_a_timeline(booked: list[tuple[int, int, int]], data: st.DataObject) -> None:
    """At every instant the nodes that were free, without those that are taken then; the invariants hold."""
    timeline = Timeline(simple_machine(4, 0, 0))
    for start_s, length_s, node in booked:
        timeline.reserve_from(float(start_s), float(length_s), Allocation((node,)))
    before = timeline.copy()
    start_s, length_s = data.draw(st.integers(0, 30)), data.draw(st.integers(1, 9))
    nodes = data.draw(st.sets(st.integers(0, 3), min_size=1))
    timeline.take(start_s, start_s + length_s, nodes)
    timeline.check()
    for time_s in np.arange(0.0, 50.0, 0.5).tolist():
        here, there = timeline.copy(), before.copy()
        here.advance(time_s)
        there.advance(time_s)
        free = set(there.free_until(there.now_s).nodes)
        left = set(here.free_until(here.now_s).nodes)
        assert left == (free - nodes if start_s <= time_s < start_s + length_s else free)


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


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(0, 1), st.integers(1, 6)), max_size=6),
    st.integers(0, 30),
    st.integers(1, 9),
    st.tuples(st.integers(0, 10), st.integers(0, 10)),
    st.tuples(st.integers(0, 3), st.integers(0, 4)),
    st.integers(0, 5),
)
def test_amounts_that_are_taken_from_a_timeline(
    booked: list[tuple[int, int, int, int]],
    start_s: int,
    length_s: int,
    bb_bytes: tuple[int, int],
    pools: tuple[int, int],
    drained: int,
) -> None:
    """At every instant the free amount of each storage node and pool, less the amount taken then, but never below zero;
    also where a part of a storage node is drained. The invariants hold."""
    machine = replace(simple_machine(2, 2, 10), pools=(CountedPool("a", 3), CountedPool("b", 4)))
    timeline = Timeline(machine)
    timeline.drain(1, drained)
    for begin_s, duration_s, storage, size in booked:
        part = Allocation((), (storage,), size, striped=True, pools=(0, size % 2))
        timeline.reserve_from(float(begin_s), float(duration_s), part)
    before = timeline.copy()
    timeline.take(start_s, start_s + length_s, [], bb_bytes, pools)
    timeline.check()
    for time_s in np.arange(0.0, 50.0, 0.5).tolist():
        here, there = timeline.copy(), before.copy()
        here.advance(time_s)
        there.advance(time_s)
        taken = (*bb_bytes, *pools) if start_s <= time_s < start_s + length_s else (0, 0, 0, 0)
        free = [*there.free_storage_now(), *there.free_pools_now()]
        left = [*here.free_storage_now(), *here.free_pools_now()]
        assert left == [max(one - amount, 0) for one, amount in zip(free, taken, strict=True)]
