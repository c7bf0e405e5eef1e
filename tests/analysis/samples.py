"""A run small enough to compute every metric by hand."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from spillway.analysis.tables.jobs import JobTable

HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata\n"
)

# Four nodes, two storage nodes of 100 bytes. Waits 0, 90, 30; runs 100, 10, 50; the fourth job is rejected.
JOBS = (
    'a,w0,p,0.000000,2,200.000000,1,COMPLETED_SUCCESSFULLY,0.000000,100.000000,100.000000,0.000000,100.000000,1.000000,0-1,-1.000000,""\n'
    'b,w0,p,10.000000,4,20.000000,1,COMPLETED_SUCCESSFULLY,100.000000,10.000000,110.000000,90.000000,100.000000,10.000000,0-3,-1.000000,""\n'
    'c,w0,p,20.000000,1,50.000000,0,COMPLETED_WALLTIME_REACHED,50.000000,50.000000,100.000000,30.000000,80.000000,1.600000,3,-1.000000,""\n'
    'd,w0,p,30.000000,9,-1.000000,0,REJECTED,,,,,,,,,""\n'
)

ALLOCATIONS = "job_id,workload_name,user,bb_bytes,storages\na,w0,u1,10,4:2\nb,w0,u2,0,\nc,w0,u1,40,5:1\n"
MACHINE = {
    "nodes": [{"id": i, "name": f"n{i}"} for i in range(4)],
    "storages": [{"id": 4, "name": "s0", "capacity_bytes": 100}, {"id": 5, "name": "s1", "capacity_bytes": 100}],
}


def write_run(folder: Path) -> Path:
    """Write the run's files into ``folder``, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jobs.csv").write_text(HEADER + JOBS)
    (folder / "allocations.csv").write_text(ALLOCATIONS)
    (folder / "machine.json").write_text(json.dumps(MACHINE))
    return folder


def make_table(jobs: Sequence[tuple[float, float, int, float]], walltimes: Sequence[float] | None = None) -> JobTable:
    """Make a table of jobs given as submission, start, nodes, execution time."""
    count = len(jobs)
    submit, start, nodes, run = (np.array(column, dtype=float) for column in zip(*jobs, strict=True))
    return JobTable(
        [str(number) for number in range(count)],
        ["w0"] * count,
        submit,
        start,
        run,
        start + run,
        np.array(walltimes, dtype=float) if walltimes is not None else run,
        nodes.astype(np.int64),
        ["COMPLETED_SUCCESSFULLY"] * count,
        [""] * count,
        np.zeros(count),
        [""] * count,
        [""] * count,
    )
