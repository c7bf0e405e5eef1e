"""Holdings with lives of their own, from the job model to the tables: nodes given back before the burst buffer."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis.report.packing import pack_run
from analysis.tables import read_run
from experiments.single import Task, execute
from tests.properties.small_world import runs, workload


@pytest.mark.parametrize("free_nodes", [False, True])
def test_nodes_before_stage_out(tmp_path: Path, free_nodes: bool) -> None:
    """Job 0 has all 8 nodes of ``tiny`` and 1 GB on each; job 1 requests all nodes and no buffer.

    The file system has 1 GB/s, so 8 GB are staged in 8 s, job 0 computes for 30 s and stages out in 8 s more: it ends
    at 46 s. Job 1 starts then, or at 38 s where the nodes are given back before the stage-out; the buffer is held until
    46 s in both cases.
    """
    data = workload("io", [(0, 8, 30.0, 1, 0, 500, False), (1, 8, 10.0, 0, 0, 500, False)])
    [run] = runs(tmp_path, "io", data, ["easy"], options={"free_nodes": free_nodes})
    execute(Task(run, tmp_path, 600.0))
    with (tmp_path / run.id / "jobs.csv").open(newline="") as stream:
        rows = {row["job_id"]: row for row in csv.DictReader(stream)}
    assert float(rows["0"]["finish_time"]) == pytest.approx(46.0, abs=0.1)
    assert float(rows["1"]["starting_time"]) == pytest.approx(38.0 if free_nodes else 46.0, abs=0.1)
    with (tmp_path / run.id / "allocations.csv").open(newline="") as stream:
        held = {row["job_id"]: row for row in csv.DictReader(stream)}
    assert ("node_lives" in held["0"]) is free_nodes
    if free_nodes:
        what, _, interval = held["0"]["node_lives"].partition("@")
        assert what == "0-7"
        assert [round(float(time), 1) for time in interval.split("-")] == [0.0, 38.0]
    row_lives, lane_lives = packed(tmp_path / run.id)
    assert row_lives == ([0, 38, 38, 48] if free_nodes else [])
    assert lane_lives == []  # buffers are held as long as the job runs


def packed(folder: Path) -> tuple[list[int], list[int]]:
    """When the report draws the rows of nodes and the lanes of storage nodes; empty: as the jobs ran."""
    data = pack_run(read_run(folder), folder, {})
    return data["rowLives"], data["laneLives"]
