"""A small finished campaign on disk, made without running anything."""

import json
import random
from pathlib import Path

from tests.analysis.samples import HEADER, MACHINE

POLICIES = ("easy", "sjf-easy")
SUMMARY = (
    "workload,platform,policy,engine,model,seed,jobs,rejected,killed,mean_waiting_time_s,mean_bounded_slowdown,run\n"
)


def write_campaign(folder: Path, jobs: int = 60, workloads: tuple[str, ...] = ("log",)) -> Path:
    """Write a campaign of two policies; ``easy`` makes every job wait twice as long."""
    lines = [SUMMARY]
    for workload in workloads:
        for number, policy in enumerate(POLICIES):
            run = f"{workload}_{policy}"
            wait_s = write_run(folder / run, jobs, 2 - number)
            lines.append(f"{workload},toy,{policy},fluid,alloc,0,{jobs},0,0,{wait_s},1.5,{run}\n")
    (folder / "summary.csv").write_text("".join(lines))
    return folder


def write_run(folder: Path, jobs: int, factor: int) -> float:
    """Write a run whose jobs use four nodes one after the other; return the mean waiting time."""
    folder.mkdir(parents=True)
    random_numbers = random.Random(1)
    rows, reasons, waits, free = [HEADER], [], [], [0.0] * 4
    allocations = ["job_id,workload_name,user,bb_bytes,storages\n"]
    for job in range(jobs):
        node, run_s = job % 4, random_numbers.randint(50, 500)
        start = free[node]
        submit = max(0.0, start - factor * random_numbers.randint(0, 100))
        finish = free[node] = start + run_s
        waits.append(start - submit)
        rows.append(
            f"{job},w0,p,{submit:.6f},1,{2 * run_s}.0,1,COMPLETED_SUCCESSFULLY,{start:.6f},{run_s}.0,{finish:.6f},"
            f"{start - submit:.6f},{finish - submit:.6f},1.0,{node},-1.000000,\n"
        )
        allocations.append(f"{job},w0,user{job % 3},{job % 2 * 10},{f'{4 + node // 2}:1' if job % 2 else ''}\n")
        if start > submit:
            reasons.append(f"{job},w0,{submit:.6f},passed over,burst buffers,,\n")
        reasons.append(f"{job},w0,{start:.6f},backfilled,,,\n")
    (folder / "jobs.csv").write_text("".join(rows))
    (folder / "allocations.csv").write_text("".join(allocations))
    header = "job_id,workload_name,time_s,role,binding,estimate_s,blocker\n"
    (folder / "reasons.csv").write_text(header + "".join(reasons))
    (folder / "machine.json").write_text(json.dumps(MACHINE))
    record = {
        "repeat": "python run_experiments.py run --policy <easy>",
        "versions": {"python": "3.11"},
        "commit": "abc",
    }
    (folder / "run.json").write_text(json.dumps(record))
    return sum(waits) / len(waits)
