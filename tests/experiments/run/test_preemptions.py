"""A run with preemption: its tables, and the story of its jobs in ``explain``."""

import csv
import json
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from tests.kit.runs import play_run
from tests.kit.tables import csv_rows

SITE = """
nodes = 8
[scheduler]
preempt = "partition_prio"
preempts = "requeue"
[[partition]]
name = "low"
default = true
grace_s = 5.0
[[partition]]
name = "high"
tier = 2
"""
JOBS = [
    {"id": "1", "subtime": 0, "res": 8, "walltime": 200, "profile": "a", "partition": "low"},
    {"id": "2", "subtime": 10, "res": 4, "walltime": 30, "profile": "b", "partition": "high"},
]
PROFILES = {"a": {"type": "delay", "delay": 100}, "b": {"type": "delay", "delay": 20}}


def test_tables_and_stories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Job 1 is chosen at 10 s, killed at 15 s and requeued; job 2 runs until 35 s, then job 1 for 100 s.

    Lost are 8 nodes * 15 s = 120 node-s = 0.03 node-hours. Waits are 0, 5 and, from when job 1 was requeued, 20 s.
    """
    (tmp_path / "site.toml").write_text(SITE)
    data = {"nb_res": 8, "jobs": JOBS, "profiles": PROFILES}
    given = ("--site", str(tmp_path / "site.toml"), "--platform", "nodes:8", "--policy", "easy")
    folder = play_run(tmp_path, data, *given)
    (row,) = csv_rows(folder / "preemptions.csv")
    assert (row["job_id"], row["by"], row["what"]) == ("1", "w0!2", "requeued as 1#2")
    assert [round(float(row[name]), 2) for name in ("told_s", "time_s", "lost_node_s")] == [10.0, 15.0, 120.0]
    rows = {
        row["job_id"]: (row["final_state"], round(float(row["finish_time"]))) for row in csv_rows(folder / "jobs.csv")
    }
    assert rows == {
        "1": ("COMPLETED_KILLED", 15),
        "2": ("COMPLETED_SUCCESSFULLY", 35),
        "1#2": ("COMPLETED_SUCCESSFULLY", 135),
    }
    told = {}
    for name in ("1", "2", "1#2"):
        capsys.readouterr()
        assert main(["explain", str(folder), name]) == 0
        told[name] = " ".join(capsys.readouterr().out.split())
    assert (
        "Job 2 preempted it: chosen at day 0, 00:00:10, requeued as 1#2 at day 0, 00:00:15; 0.03 node-hours of it were "
        "lost." in told["1"]
    )
    assert "It waited 5 s (100%) for the end of jobs that were preempted for it." in told["2"]
    assert (
        "From day 0, 00:00:10 on, jobs were preempted for it: job 1 (requeued as 1#2 at day 0, 00:00:15)." in told["2"]
    )
    assert "It is the next attempt of job 1, which job 2 preempted (day 0, 00:00:15)." in told["1#2"]
    assert "It waited 20 s, until day 0, 00:00:35" in told["1#2"]
    assert json.loads((folder / "metrics.json").read_text())["mean_waiting_time_s"] == pytest.approx(25 / 3, abs=0.01)


def test_suspension(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Job 1 is suspended from 15 to 35 s, and has 85 s left then; over the wire, too."""
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 8, "jobs": JOBS, "profiles": PROFILES}))
    (tmp_path / "site.toml").write_text(SITE.replace("requeue", "suspend"))
    given = ["--site", str(tmp_path / "site.toml"), "--platform", "nodes:8", "--policy", "easy", "--no-plots"]
    found = []
    for transport in ("direct", "bytes"):
        out = tmp_path / transport
        command = ["run", str(tmp_path / "w.json"), *given, "--suspend", "suspend", "--transport", transport]
        assert main([*command, "--out", str(out)]) == 0
        (folder,) = (path.parent for path in out.glob("*/run.json"))
        found.append([(folder / name).read_text() for name in ("jobs.csv", "allocations.csv", "preemptions.csv")])
    assert found[0] == found[1]
    rows = {row["job_id"]: row for row in csv.DictReader(found[0][0].splitlines())}
    assert [round(float(rows["1#2"][name])) for name in ("starting_time", "finish_time")] == [35, 120]
    (row,) = csv.DictReader(found[0][2].splitlines())
    assert (row["what"], float(row["lost_node_s"])) == ("suspended, goes on as 1#2", 0.0)
    capsys.readouterr()
    assert main(["explain", str(folder), "1#2"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "It waited 20 s (100%) for the end of jobs that had its nodes (suspended)." in told
    assert "It is the rest of job 1, which job 2 preempted (day 0, 00:00:15). Its wait counts from then on." in told
