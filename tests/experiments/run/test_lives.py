"""Burst buffers with lives of their own, from the job model to the tables: nodes given back before the buffer."""

from __future__ import annotations

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


@pytest.mark.parametrize(("limit", "state"), [("stage_in", "REJECTED"), ("stage_out", "COMPLETED_WALLTIME_REACHED")])
def test_staging_has_time_outs(tmp_path: Path, limit: str, state: str) -> None:
    """Both stages of job 0 take 16 s, the limit of one is 10 s; job 1 gets the buffer after that, and has ended."""
    data = workload("rigid", [(0, 8, 30.0, 2, 0, 500, False), (1, 8, 30.0, 2, 0, 500, False)])
    data["profiles"]["p0"] |= {"stage_in_s": 16.0, "stage_out_s": 16.0}
    [run] = runs(tmp_path, "rigid", data, ["easy"], session={"bb_life": f"slurm:{limit}_timeout=10"})
    execute(Task(run, tmp_path))
    rows = csv_by(tmp_path / run.id / "jobs.csv")
    assert rows["0"]["final_state"] == state
    assert rows["1"]["final_state"] == "COMPLETED_SUCCESSFULLY"
    given_s = 10.0 if limit == "stage_in" else 16.0 + 30.0 + 10.0
    assert float(rows["1"]["buffer_start_time"]) == pytest.approx(given_s, abs=0.01)
    if limit == "stage_in":
        [rejected] = (tmp_path / run.id / "rejections.csv").read_text().splitlines()[1:]
        assert "its stage-in had not ended after 10 s" in rejected


def test_a_buffer_on_standby_is_taken_back(tmp_path: Path) -> None:
    """Job 0 has all nodes for 60 s. Job 1 fills the only buffer (16 s, from 1 to 17), and waits for nodes. At 37 its
    bound of 20 s is over: job 2 gets the buffer, filled at 53, runs from 60 to 70, stages out until 86. Then job 1
    stages in once more, until 102, under sub-jobs of other names.
    """
    data = workload(
        "io",
        [(0, 8, 60.0, 0, 0, 60, False), (1, 8, 10.0, 2, 0, 500, False), (2, 8, 10.0, 2, 0, 500, False)],
    )
    data["profiles"]["p0"] = {"type": "delay", "delay": 60.0}
    data["jobs"][0]["walltime"] = 100
    [run] = runs(tmp_path, "io", data, ["easy"], session={"bb_life": "standby:bound=20"})
    execute(Task(run, tmp_path))
    rows = csv_by(tmp_path / run.id / "jobs.csv")
    times = {
        number: [round(float(rows[number][name])) for name in ("buffer_start_time", "staged_time", "starting_time")]
        for number in ("1", "2")
    }
    assert times == {"1": [86, 102, 102], "2": [37, 53, 60]}


def test_a_job_that_starts_does_not_lose_its_buffer(tmp_path: Path) -> None:
    """Jobs 0 and 1 request all nodes and the only buffer. Job 0 fills it until 16 and has its nodes then, although its
    bound of 0 s is over and job 1 waits for the buffer: that fills it from 42 on, when job 0 has staged out.
    """
    data = workload("io", [(0, 8, 10.0, 2, 0, 500, False), (0, 8, 10.0, 2, 0, 500, False)])
    [run] = runs(tmp_path, "io", data, ["easy"], session={"bb_life": "standby:bound=0"})
    execute(Task(run, tmp_path))
    rows = csv_by(tmp_path / run.id / "jobs.csv")
    times = [[round(float(rows[job][name])) for name in ("buffer_start_time", "starting_time")] for job in ("0", "1")]
    assert times == [[0, 16], [42, 58]]


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
