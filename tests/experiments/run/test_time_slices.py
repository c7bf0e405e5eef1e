"""Batsim's rows of time slices, and one row per job made of them; gang policies in campaigns."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from spillway.analysis.measures.insights import insights
from spillway.analysis.measures.metrics import slowdown, summarise
from spillway.analysis.tables.jobs import read_run
from spillway.experiments.cli import main
from spillway.experiments.run.job_table import write_jobs
from spillway.protocol.messages import JobState
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.time_sharing import TimeSharing
from spillway.schedulers.model.job import Allocation, Job
from tests.kit.tables import csv_rows

HEADER = (
    "job_id,workload_name,submission_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,"
    "turnaround_time,stretch,allocated_resources,consumed_energy"
)
ROWS = """
7,w0,5.0,0,REJECTED,,,,,,,,
8,w0,6.0,0,REJECTED,,,,,,,,
0,w0%7,10.0,0,COMPLETED_KILLED,10.0,10.0,20.0,0.0,10.0,1.0,0-1,-1
1,w0%7,30.0,1,COMPLETED_SUCCESSFULLY,30.0,4.0,34.0,0.0,4.0,1.0,2-3,-1
"""


def test_slices_become_jobs(tmp_path: Path) -> None:
    """Job 7 ran from 10 to 20 s and from 30 to 34 s; job 8 was refused."""
    (tmp_path / "jobs.csv").write_text(HEADER + ROWS, encoding="utf-8")
    (tmp_path / "allocations.csv").write_text("job_id,workload_name,allocated_resources\n7,w0,0-1\n", encoding="utf-8")
    record = JobRecord(Job("w0!7", 0, 5.0, 99.0, 2), Allocation((0, 1)), 10.0, preempted=True, sub_jobs=2)
    record.end_s, record.state = 34.0, JobState.COMPLETED_SUCCESSFULLY
    write_jobs(tmp_path, TimeSharing(), {"w0!7": record})
    refused, ran = csv_rows(tmp_path / "jobs.csv")
    assert (refused["job_id"], refused["final_state"], refused["time_slices"]) == ("8", "REJECTED", "")
    assert (ran["job_id"], ran["final_state"], ran["success"], ran["time_slices"]) == (
        "7", "COMPLETED_SUCCESSFULLY", "1", "2"
    )  # fmt: skip
    assert [float(ran[name]) for name in ("starting_time", "finish_time", "waiting_time", "turnaround_time")] == [
        10.0, 34.0, 5.0, 29.0
    ]  # fmt: skip
    assert float(ran["execution_time"]) == 14.0, "what it received"
    assert float(ran["stretch"]) == pytest.approx(29 / 14, abs=1e-6)
    assert ran["allocated_resources"] == "2-3"
    assert (tmp_path / "batsim_jobs.csv").read_text(encoding="utf-8").startswith(HEADER)


def test_a_campaign_with_gang_policies(tmp_path: Path) -> None:
    """Gang policies and space sharing on the same serverless workload, by the usual runner."""
    workload = tmp_path / "gang.json"
    assert main(["workload", "gang", "--out", str(workload), "--jobs", "12"]) == 0
    command = ["run", "--workload", str(workload), "--platform", "serverless", "--engine", "fixed", "--no-plots"]
    command += ["--model", "timeshared", "--policy", "fcfs", "--policy", "gang-io-migrate", "--workers", "1"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    (folder,) = (tmp_path / "out").glob("*gang-io-migrate*")
    rows = csv_rows(folder / "jobs.csv")
    assert len(rows) == 12
    assert {row["final_state"] for row in rows} == {"COMPLETED_SUCCESSFULLY"}


def test_pre_empted_jobs_count_with_what_they_received(tmp_path: Path) -> None:
    """Two jobs on three of four nodes take turns of 10 s. A (95 s) ends at 185 s after ten slices, B at 190 s after
    ten, the last without a break: slowdowns 185/95 and 190/95. 2 x 3 x 95 of the 4 x 190 node-seconds were received.
    In the first slice B waits while one node is idle: 10 of 4 x 190."""
    profile = {"type": "delay", "delay": 95.0}
    jobs = [{"id": name, "subtime": 0, "res": 3, "profile": "p", "walltime": 1000} for name in "AB"]
    workload = tmp_path / "two.json"
    workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": profile}}), encoding="utf-8")
    text = files("spillway.platforms.builtin").joinpath("serverless.toml").read_text(encoding="utf-8")
    platform = tmp_path / "four.toml"
    platform.write_text(text.replace("count = 320", "count = 4"), encoding="utf-8")
    command = ["run", "--workload", str(workload), "--platform", str(platform), "--engine", "fixed", "--no-plots"]
    command += ["--policy", "gang:quantum=10,level=2", "--workers", "1"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    (folder,) = (tmp_path / "out").glob("*gang*")
    table = read_run(folder)
    assert slowdown(table).tolist() == pytest.approx([185 / 95, 190 / 95], abs=1e-3)
    summary = summarise(table, 10.0)
    assert summary.mean_bounded_slowdown == pytest.approx((185 + 190) / 2 / 95, abs=1e-3)
    assert summary.compute_utilisation == pytest.approx(2 * 3 * 95 / (4 * 190), abs=1e-3)
    assert insights(table, folder)["idle_while_queued"] == pytest.approx(10 / (4 * 190), abs=1e-3)
