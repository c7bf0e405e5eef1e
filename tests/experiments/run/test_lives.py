"""Burst buffers with lives of their own, from the job model to the tables: nodes given back before the buffer."""

from pathlib import Path

import pytest

from spillway.analysis.answers.story import tell
from spillway.analysis.report.packing import pack_run
from spillway.analysis.tables.jobs import read_run
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Playing, Task
from tests.kit.tables import csv_by, csv_rows
from tests.properties.small_world import runs, workload

LIFE = {
    "with-nodes": (0.0, 46.0, 46.0),
    "slurm": (11.0, 49.0, 1.0),
    "standby": (11.0, 49.0, 1.0),
    "two-reservations": (8.0, 46.0, 38.0),
}
"""Start and end of the job with the buffer, start of the one without."""


@pytest.mark.parametrize("life", LIFE)
def test_who_gets_the_nodes_when(tmp_path: Path, life: str) -> None:
    """Job 0 has all 8 nodes of ``tiny`` and 1 GB on each, and computes for 30 s; job 1 requests all nodes for 10 s,
    and is submitted at 1.

    The file system has 1 GB/s: 8 GB are staged in 8 s. With its nodes, job 0 stages in until 8, computes until 38 and
    stages out until 46; then job 1 starts. Under ``slurm`` job 1 runs while job 0 stages in, from 1 to 11; then job 0
    has the nodes until 41 and stages out until 49. With two reservations job 0 has its nodes reserved from 8 on, where
    job 1 (500 s of walltime) would be in the way: it starts at 38, when job 0 gives its nodes back.
    """
    data = workload("io", [(0, 8, 30.0, 1, 0, 500, False), (1, 8, 10.0, 0, 0, 500, False)])
    [run] = runs(tmp_path, "io", data, ["easy"], session={"bb_life": life})
    execute(Task(run, tmp_path))
    rows = csv_by(tmp_path / run.id / "jobs.csv")
    first_s, end_s, second_s = LIFE[life]
    assert float(rows["0"]["starting_time"]) == pytest.approx(first_s, abs=0.1)
    assert float(rows["0"]["finish_time"]) == pytest.approx(end_s, abs=0.1)
    assert float(rows["1"]["starting_time"]) == pytest.approx(second_s, abs=0.1)
    held = csv_by(tmp_path / run.id / "allocations.csv")
    assert ("node_lives" in held["0"]) is (life != "with-nodes")
    row_lives, lane_lives = packed(tmp_path / run.id)
    if life == "with-nodes":
        assert (row_lives, lane_lives) == ([], [])
        return
    what, _, interval = held["0"]["node_lives"].partition("@")
    nodes = [round(float(time), 1) for time in interval.split("-")]
    assert (what, nodes) == ("0-7", [first_s, first_s + 30.0])
    buffer = held["0"]["storage_lives"].partition("@")[2]
    assert [round(float(time), 1) for time in buffer.split("-")] == [0.0, end_s]
    columns = (rows["0"][name] for name in ("buffer_start_time", "staged_time", "nodes_finish_time"))
    assert [round(float(time), 1) for time in columns] == [0.0, 8.0, first_s + 30.0]


def packed(folder: Path) -> tuple[list[int], list[int]]:
    """When the report draws the rows of nodes and the lanes of storage nodes; empty: as the jobs ran."""
    data = pack_run(read_run(folder), folder, {})
    return data["rowLives"], data["laneLives"]


def test_the_states_are_called_as_in_slurm(tmp_path: Path) -> None:
    """``tiny`` has bytes for one buffer of 8 x 2 GB at a time: the second job waits for it, then for its stage-in.

    The file system has 1 GB/s: 16 GB take 16 s. Job 0 stages in until 16, computes 30 s, stages out until 62; then
    job 1 (of 1 s) gets its buffer, filled at 78. Once its nodes are free (108) it stages out for 16 s more.
    """
    data = workload("io", [(0, 8, 30.0, 2, 0, 500, False), (1, 8, 30.0, 2, 0, 500, False)])
    [run] = runs(tmp_path, "io", data, ["easy"], session={"bb_life": "slurm"})
    execute(Task(run, tmp_path, Playing(explain=True, uncontended=False)))
    story = " ".join(tell(tmp_path / run.id, "1"))
    assert "1 min 1 s (79%) for a burst buffer, which it must hold before its nodes (BurstBufferResources)" in story
    assert "16 s (21%) for the end of its stage-in (BurstBufferStageIn)" in story
    assert "filled after 16 s; its nodes were free from day 0, 00:01:48 on, 16 s before (STAGE_OUT)" in story


@pytest.mark.parametrize("life", LIFE)
def test_the_rest_of_a_stage_out(tmp_path: Path, life: str) -> None:
    """8 GB are staged out in 8 s, but in 20 s at least, and in by second 8: with nodes, or on an otherwise empty
    machine, the job computes until 38 and ends at 58, although nothing of it runs on the machine after 46.
    """
    data = workload("io", [(0, 8, 30.0, 1, 0, 500, False)])
    data["profiles"][data["jobs"][0]["profile"]] |= {"stage_out_s": 20.0}
    [run] = runs(tmp_path, "io", data, ["easy"], session={"bb_life": life})
    execute(Task(run, tmp_path))
    [row] = csv_rows(tmp_path / run.id / "jobs.csv")
    assert float(row["finish_time"]) == pytest.approx(58.0, abs=0.1)
    assert float(row["turnaround_time"]) == pytest.approx(58.0, abs=0.1)
    assert float(row["stage_out_s"]) == pytest.approx(20.0, abs=0.1)
