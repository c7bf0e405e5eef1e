"""Jobs that their users cancelled while they waited: they hold their place, and leave at that time."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main
from tests.kit.runs import play_run
from tests.kit.tables import csv_rows, starts
from tests.kit.workloads import delays

Row = Mapping[str, str]

WAYS = {"direct": [], "zmq": ["--transport", "zmq"], "event": ["--thesis-literal"]}
POLICIES = ("fcfs", "easy", "conservative", "plan", "slurm-backfill")


def played(folder: Path, jobs: Sequence[Mapping[str, Any]], *options: str) -> Path:
    """Play jobs of 50 s that request 100 s, on four nodes; the run's folder."""
    return play_run(folder, delays(4, jobs, res=4, walltime=100, seconds=50), "--platform", "nodes:4", *options)


def left(folder: Path) -> dict[str, tuple[int, str]]:
    """Jobs that left: when, and why."""
    return {row["job_id"]: (round(float(row["time_s"])), row["reason"]) for row in csv_rows(folder / "rejections.csv")}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("way", [name for name in WAYS if name != "event"])
def test_a_job_holds_its_place_until_it_is_cancelled(policy: str, way: str, tmp_path: Path) -> None:
    """Job 1 has two nodes; 2 wants all four after it, so that 3, which requests more time, may not start before it.

    When 2 is cancelled at 30 s, 3 starts. Without 2 it would start at 1 s.
    """
    jobs = [{"res": 2}, {"subtime": 0, "cancelled_after_s": 30}, {"subtime": 1, "res": 2, "walltime": 400}]
    run = played(tmp_path, jobs, "--policy", policy, *WAYS[way])
    assert starts(run) == {1: 0, 3: 30}
    assert left(run) == {"2": (30, "its user cancelled it while it waited")}


@pytest.mark.parametrize("way", WAYS)
def test_a_job_that_would_start_leaves_then(way: str, tmp_path: Path) -> None:
    """Its run time is not known: job 2 leaves when its turn comes, at 50 s, and 3 starts at once in its place."""
    jobs = [{}, {"subtime": 1, "cancelled_after_s": 1000}, {"subtime": 2}]
    run = played(tmp_path, jobs, "--policy", "easy", *WAYS[way])
    assert starts(run) == {1: 0, 3: 50}
    assert left(run) == {"2": (50, "it would start now; at the site its user cancelled it later")}


@pytest.mark.parametrize("way", WAYS)
def test_cancelled_jobs_and_dependencies(way: str, tmp_path: Path) -> None:
    """Job 2, which waits for 1, is cancelled at 20 s; 3 waited for any end of 2, and 4 for its success."""
    jobs = [
        {},
        {"res": 1, "depends": "afterok:1", "cancelled_after_s": 20},
        {"res": 1, "depends": "afterany:2"},
        {"res": 1, "depends": "afterok:2"},
    ]
    run = played(tmp_path, jobs, "--policy", "easy", *WAYS[way])
    assert starts(run) == {1: 0, 3: 50}
    assert left(run) == {
        "2": (20, "its user cancelled it while it waited"),
        "4": (20, "its dependency afterok:2 can never be met: that job was rejected or cancelled"),
    }


def test_buffers_and_the_sites_own_schedule(tmp_path: Path) -> None:
    """The policy replay has no use for such a job; it leaves with its wait at the site."""
    jobs = [{"site_wait_s": 0}, {"cancelled_after_s": 20, "site_wait_s": 20}, {"site_wait_s": 60}]
    run = played(tmp_path, jobs, "--policy", "replay")
    assert starts(run) == {1: 0, 3: 60}
    assert left(run)["2"][0] == 20


@pytest.mark.parametrize("value", [-1, "soon", None, 2e10])
def test_malformed_times(value: Any, tmp_path: Path) -> None:
    """Such a job is rejected, with the field and its value."""
    run = played(tmp_path, [{}, {"cancelled_after_s": value}], "--policy", "easy")
    assert starts(run) == {1: 0}
    assert "cancelled_after_s" in left(run)["2"][1]


def test_figures_and_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables have such jobs under a state of their own, and no mean counts them."""
    jobs = [{}, {"subtime": 1, "cancelled_after_s": 30}, {"res": 5}, {"subtime": 2}]
    run = played(tmp_path, jobs, "--policy", "easy", "--explain")
    states = {row["job_id"]: row["final_state"] for row in csv_rows(run / "jobs.csv")}
    assert states == {
        "1": "COMPLETED_SUCCESSFULLY", "2": "CANCELLED", "3": "REJECTED", "4": "COMPLETED_SUCCESSFULLY"
    }  # fmt: skip
    metrics = json.loads((run / "metrics.json").read_text())
    assert [metrics[name] for name in ("jobs", "rejected", "cancelled")] == [2, 1, 1]
    assert round(metrics["mean_waiting_time_s"]) == 24
    (summary,) = csv_rows(run.parent / "summary.csv")
    assert summary["cancelled"] == "1"
    assert "cancelled" in capsys.readouterr().out
    assert main(["explain", str(run), "2"]) == 0
    assert "It left at day 0, 00:00:31: its user cancelled it while it waited." in capsys.readouterr().out
