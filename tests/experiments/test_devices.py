"""Devices of storage nodes that read and write at bandwidths of their own, in a run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from experiments.cli import main

MACHINE = """
base = "tiny"
name = "mine"

[storage]
read_bandwidth = "50MBps"
write_bandwidth = "100MBps"
latency = 0
"""


def test_staging_in_writes_and_staging_out_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 GB takes 10 s into the buffer at 100 MB/s, 20 s out of it at 50 MB/s; the network could do 1 GB/s."""
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(MACHINE)
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "p", "walltime": 1000}
    profile = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0, "bb": 10**9}
    Path("one.json").write_text(json.dumps({"nb_res": 8, "jobs": [job], "profiles": {"p": profile}}))
    command = ["run", "--workload", "one.json", "--platform", "mine.toml", "--policy", "fcfs", "--model", "io"]
    assert main([*command, "--no-plots", "--out", "out"]) == 0
    (table,) = Path("out").rglob("jobs.csv")
    with table.open() as file:
        (row,) = csv.DictReader(file)
    assert float(row["stage_in_s"]) == pytest.approx(10, abs=0.001)
    assert float(row["stage_out_s"]) == pytest.approx(20, abs=0.001)
