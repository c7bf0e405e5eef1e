"""EASY with and without spare nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from spillway.experiments.trials.subject import OwnPolicy
from spillway.experiments.trials.world import TrialJob, World
from tests.kit.runs import play_run
from tests.kit.tables import csv_rows


@pytest.mark.parametrize(("option", "third"), [("true", 0), ("false", 100)])
def test_a_job_that_runs_beyond_the_shadow_time(option: str, third: int, tmp_path: Path) -> None:
    """Four nodes: job 1 has two until 100 s, 2 needs three from then on, so that one is to spare.

    Job 3 may take one node for 150 s: EASY starts it at once; without spare nodes it would have to end before 100 s,
    and starts beside 2 at 100 s. Job 4 ends before that, and passes anyway.
    """
    jobs = [(2, 100), (3, 150), (1, 150), (1, 50)]
    workload = {
        "nb_res": 4,
        "jobs": [
            {"id": number, "subtime": 0, "res": nodes, "walltime": run + 0.5, "profile": str(run)}
            for number, (nodes, run) in enumerate(jobs, start=1)
        ],
        "profiles": {str(run): {"type": "delay", "delay": run} for _, run in jobs},
    }
    folder = play_run(tmp_path, workload, "--policy", f"easy:spare={option}", "--platform", "nodes:4")
    starts = {int(row["job_id"]): round(float(row["starting_time"])) for row in csv_rows(folder / "jobs.csv")}
    assert starts == {1: 0, 2: 100, 3: third, 4: 0}


def test_a_reservation_that_begins_now() -> None:
    """Four nodes and a buffer of 4 GB; job 1 has 2 GB until 20 s, job 2 needs all 4 GB, job 3 needs 2 GB for 30 s.

    Where reservations cover only nodes, that of job 2 begins at once, for nodes are idle. Without spare nodes job 3
    would have to end before, and waits; with them it starts, and job 2 waits for it.
    """
    jobs = (
        TrialJob(1, 1, 20, 2, walltime_s=60),
        TrialJob(2, 1, 10, 4, walltime_s=60),
        TrialJob(3, 1, 30, 2, walltime_s=60),
    )
    world = World(jobs, nodes=4, storages=1, gb=4)
    assert OwnPolicy("easy:covered=nodes,spare=false").play(world).starts == {1: 1, 2: 21, 3: 31}
    assert OwnPolicy("easy:covered=nodes").play(world).starts == {1: 1, 2: 33, 3: 3}
