"""Idle node-hours by hand, and the study at its smallest."""

from pathlib import Path

import pytest

from spillway.experiments import cli
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Task
from spillway.experiments.studies.production_buffers.jobs import LEAST_REQUEST_S, TRANSFER_MARGIN_S, draw
from spillway.experiments.studies.production_buffers.measures import measure
from spillway.experiments.studies.production_buffers.play import MACHINE
from tests.kit.tables import csv_rows
from tests.properties.small_world import runs, workload

BY_HAND = {
    "with-nodes": (8 * 16.0, (8.0 + 45.0) / 2, (46.0 + 55.0) / 2, 8 * 46.0),
    "slurm": (0.0, (11.0 + 0.0) / 2, (49.0 + 10.0) / 2, 8 * 49.0),
    "two-reservations": (0.0, (8.0 + 37.0) / 2, (46.0 + 47.0) / 2, 8 * 46.0),
}
"""Node-seconds idle, mean wait and turnaround (s), GB-seconds of buffer."""


@pytest.mark.parametrize("life", BY_HAND)
def test_idle_nodes_by_hand(tmp_path: Path, life: str) -> None:
    """Job 0 has all 8 nodes of ``tiny`` and 1 GB on each; it stages 8 GB in and out in 8 s each and computes for 30 s.
    Job 1 requests all nodes for 10 s, and is submitted at 1.

    With its nodes job 0 holds 8 of them until 46 and computes on them for 30 s: 8 x 16 node-seconds idle; it computes
    from 8 on, and job 1 from 46 to 56. Under ``slurm`` job 1 runs from 1 to 11, job 0 has its nodes from 11 to 41 and
    its buffer from 0 to 49: nothing idle, 3 s more of the buffer. With two reservations job 0 has its nodes from 8 to
    38, then job 1 until 48; the buffer is held until 46. Each of the two storage nodes has half of the bytes.
    """
    data = workload("io", [(0, 8, 30.0, 1, 0, 500, False), (1, 8, 10.0, 0, 0, 500, False)])
    [run] = runs(tmp_path, "io", data, ["easy"], session={"bb_life": life})
    execute(Task(run, tmp_path))
    found = measure(tmp_path / run.id)
    idle_s, wait_s, turnaround_s, buffer_gb_s = BY_HAND[life]
    assert found["idle_node_h"] * 3600 == pytest.approx(idle_s, abs=0.5)
    assert found["computing_node_h"] * 3600 == pytest.approx(8 * (30.0 + 10.0), abs=0.5)
    assert found["idle_percent"] == pytest.approx(100 * idle_s / 320.0, abs=0.2)
    assert found["wait_h"] * 3600 == pytest.approx(wait_s, abs=0.1)
    assert found["turnaround_h"] * 3600 == pytest.approx(turnaround_s, abs=0.1)
    assert found["buffer_tb_h"] * 3600 * 1000 == pytest.approx(buffer_gb_s, abs=0.5)
    assert found["hot_spot"] == pytest.approx(1.0)
    assert (found["killed"], found["rejected"]) == (0, 0)


def test_jobs_are_the_same_under_every_life() -> None:
    """Requested times that cover the staging of 30 minutes in and out are an hour longer, and a margin; all else stays.
    Jobs that request up to an hour have no buffer, and stay whole.
    """
    facts = machines.load(MACHINE).facts
    plain, covered = [draw(60, 3, 30.0, facts, covers_staging=covers, stripes=8) for covers in (False, True)]
    assert plain.profiles == covered.profiles
    with_buffers = [bool(plain.burst_buffer_bytes(job)) for job in plain.jobs]
    assert any(with_buffers)
    for one, other, has_buffer in zip(plain.jobs, covered.jobs, with_buffers, strict=True):
        assert (one.id, one.subtime, one.res, one.extras) == (other.id, other.subtime, other.res, other.extras)
        assert one.walltime is not None
        assert other.walltime is not None
        assert has_buffer is (one.walltime > LEAST_REQUEST_S)
        assert other.walltime - one.walltime == (3600.0 + TRANSFER_MARGIN_S if has_buffer else 0.0)
        assert one.extras["stage_in_s"] == (1800.0 if has_buffer else 0.0)


def test_the_study(tmp_path: Path) -> None:
    """Ten minutes of staging, in and out: with nodes every node of a job with a buffer idles for at least as long, and
    under ``slurm`` no node does; rows, differences and the figure are there. The same command runs nothing again.
    """
    typed = ["study", "production-buffers", "--seeds", "1", "--workers", "1", "--out", str(tmp_path)]
    for change in ("jobs=6", "minutes=10", "life=with-nodes;slurm", "policy=easy"):
        typed += ["--set", change]
    assert cli.main(typed) == 0
    rows = {(row["place"], row["life"]): row for row in csv_rows(tmp_path / "points.csv")}
    assert list(rows) == [
        ("striped", "with-nodes"),
        ("striped", "slurm"),
        ("rack", "with-nodes"),
        ("nearest", "with-nodes"),
    ]
    jobs = draw(6, 0, 10.0, machines.load(MACHINE).facts, covers_staging=False, stripes=8)
    nodes = sum(job.res for job in jobs.jobs if jobs.burst_buffer_bytes(job))
    assert nodes
    for (_, life), row in rows.items():
        idle = float(row["idle_node_h"])
        assert (idle >= 0.999 * nodes / 3) if life == "with-nodes" else idle == pytest.approx(0.0, abs=0.01)
    [changed] = [
        row
        for row in csv_rows(tmp_path / "differences-from-with-nodes.csv")
        if (row["life"], row["measure"]) == ("slurm", "idle_node_h")
    ]
    found = float(rows["striped", "slurm"]["idle_node_h"]) - float(rows["striped", "with-nodes"]["idle_node_h"])
    assert float(changed["value"]) == pytest.approx(found, rel=1e-6)
    assert (tmp_path / "figures" / "idle-node-h-over-minutes.png").is_file()
    made = sorted(path.stat().st_mtime_ns for path in tmp_path.glob("*/run.json"))
    assert cli.main(typed) == 0
    assert sorted(path.stat().st_mtime_ns for path in tmp_path.glob("*/run.json")) == made
