"""What a run leaves behind beside Batsim's own files: who held which burst buffers, who was refused and why."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import TextIO

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.core.session import Observer
from schedulers.policykit.view import Running
from schedulers.wire.intervals import format_intervals
from schedulers.wire.messages import JobState

ALLOCATION_COLUMNS = (
    "job_id",
    "workload_name",
    "user",
    "nodes",
    "allocated_resources",
    "bb_bytes",
    "storages",
    "start_s",
)
REJECTION_COLUMNS = ("job_id", "workload_name", "time_s", "reason")


class Recorder(Observer):
    """Writes ``allocations.csv`` and ``rejections.csv`` while the session runs, and counts for the progress display.

    Parameters
    ----------
    folder
        The run's folder.

    Attributes
    ----------
    submitted_jobs, ended_jobs
        Jobs that entered the queue; jobs that are through (rejected ones included).
    """

    def __init__(self, folder: Path) -> None:
        self._allocations = open_table(folder / "allocations.csv")
        self._rejections = open_table(folder / "rejections.csv")
        self._allocation_rows = csv.writer(self._allocations, lineterminator="\n")
        self._rejection_rows = csv.writer(self._rejections, lineterminator="\n")
        self._allocation_rows.writerow(ALLOCATION_COLUMNS)
        self._rejection_rows.writerow(REJECTION_COLUMNS)
        self._machine: Machine
        self.submitted_jobs = 0
        self.ended_jobs = 0

    def know(self, machine: Machine) -> None:
        """Learn the machine, whose resource ids are written."""
        self._machine = machine

    def submitted(self, job: Job, now_s: float) -> None:
        """Count a job."""
        self.submitted_jobs += 1

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Keep the reason of a refusal."""
        self.ended_jobs += 1
        self._rejection_rows.writerow((job.name, job.workload, f"{now_s:.6f}", reason))

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Keep what a job was given."""
        ids = Counter(self._machine.storages[index].resource_id for index in allocation.storages)
        storages = " ".join(f"{storage}:{count}" for storage, count in sorted(ids.items()))
        user = job.extras.get("user", "")
        nodes = format_intervals(tuple(sorted(set(self._machine.alloc_ids(allocation.nodes)))))
        self._allocation_rows.writerow(
            (job.name, job.workload, user, job.nodes, nodes, allocation.bb_bytes, storages, f"{now_s:.6f}")
        )

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Count a job that is through."""
        self.ended_jobs += 1

    def close(self) -> None:
        """Finish the files."""
        self._allocations.close()
        self._rejections.close()


def write_machine(machine: Machine, path: Path) -> None:
    """Write ``machine.json``: compute and storage nodes in the order of their places."""
    data = {
        "nodes": [{"id": node.resource_id, "name": node.name} for node in machine.nodes[: machine.width]],
        "storages": [
            {"id": storage.resource_id, "name": storage.name, "capacity_bytes": storage.capacity_bytes}
            for storage in machine.storages
        ],
    }
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def open_table(path: Path) -> TextIO:
    """Open a table for writing."""
    return path.open("w", encoding="utf-8", newline="")
