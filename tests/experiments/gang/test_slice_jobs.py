"""Batsim's rows of stretches, and one row per job made of them; gang policies in campaigns."""

from __future__ import annotations

import csv
from pathlib import Path

from experiments.cli import main
from experiments.slice_jobs import rewrite

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


def test_stretches_become_jobs(tmp_path: Path) -> None:
    """Job 7 ran from 10 to 20 s and from 30 to 34 s; job 8 was refused."""
    (tmp_path / "jobs.csv").write_text(HEADER + ROWS, encoding="utf-8")
    rewrite(tmp_path)
    refused, ran = list(csv.DictReader((tmp_path / "jobs.csv").open(encoding="utf-8")))
    assert (refused["job_id"], refused["final_state"], refused["stretches"]) == ("8", "REJECTED", "")
    assert (ran["job_id"], ran["final_state"], ran["success"], ran["stretches"]) == (
        "7", "COMPLETED_SUCCESSFULLY", "1", "2"
    )  # fmt: skip
    assert [float(ran[name]) for name in ("starting_time", "finish_time", "waiting_time", "turnaround_time")] == [
        10.0, 34.0, 5.0, 29.0
    ]  # fmt: skip
    assert float(ran["received_s"]) == 14.0
    assert ran["allocated_resources"] == "2-3"
    assert (tmp_path / "batsim_jobs.csv").read_text(encoding="utf-8").startswith(HEADER)


def test_a_campaign_with_gang_policies(tmp_path: Path) -> None:
    """Gang policies and space sharing on the same serverless workload, through the usual runner."""
    workload = tmp_path / "gang.json"
    assert main(["gang", "--write-workload", str(workload), "--jobs", "12"]) == 0
    command = ["run", "--workload", str(workload), "--platform", "serverless", "--engine", "fixed", "--no-plots"]
    command += ["--model", "timeshared", "--policy", "fcfs", "--policy", "gang-io-migrate", "--workers", "1"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    (folder,) = (tmp_path / "out").glob("*gang-io-migrate*")
    rows = list(csv.DictReader((folder / "jobs.csv").open(encoding="utf-8")))
    assert len(rows) == 12
    assert {row["final_state"] for row in rows} == {"COMPLETED_SUCCESSFULLY"}
