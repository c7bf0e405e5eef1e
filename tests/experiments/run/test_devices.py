"""Devices of storage nodes that read and write at bandwidths of their own, in a run."""

from pathlib import Path

import pytest

from tests.kit.tables import csv_rows
from tests.properties.small_world import execute, runs


def test_staging_in_writes_and_staging_out_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 GB takes 10 s into the buffer at 100 MB/s, 20 s out of it at 50 MB/s; the network could do 1 GB/s."""
    machine = {"storage.read_bandwidth": "50MBps", "storage.write_bandwidth": "100MBps", "storage.latency": 0}
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "p", "walltime": 1000}
    profile = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0, "bb": 10**9}
    data = {"nb_res": 8, "jobs": [job], "profiles": {"p": profile}}
    [run] = runs(tmp_path, "io", data, ["fcfs"], machine=machine)
    execute(run, tmp_path, monkeypatch)
    (row,) = csv_rows(tmp_path / run.id / "jobs.csv")
    assert float(row["stage_in_s"]) == pytest.approx(10, abs=0.001)
    assert float(row["stage_out_s"]) == pytest.approx(20, abs=0.001)
