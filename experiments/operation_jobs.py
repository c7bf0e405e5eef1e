"""Runs of jobs as sequences of operations: from Batsim's rows of sub-jobs to one row per real job.

In Batsim's books such a job is rejected, and its operations are jobs of a workload of its own (``w0%15`` for job 15 of
``w0``). Start, end and state of the real job are the scheduler's: a job may be killed while it waits for an I/O node,
when nothing of it is in Batsim's books.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from experiments.io_jobs import BATSIM_JOBS, SEPARATOR
from schedulers.core.job import Job
from schedulers.jobmodels.operations import OperationRecord
from schedulers.wire.messages import JobState

OPERATION_COLUMNS = ("operations", "computing_s", "transferring_s", "io_wait_s")
"""After Batsim's: operations that are through, and where the time went; empty for jobs without operations."""


class Through(Protocol):
    """What is known of a job that is through."""

    @property
    def job(self) -> Job:
        """The job."""
        ...

    @property
    def start_s(self) -> float:
        """When it started."""
        ...

    @property
    def end_s(self) -> float:
        """When it ended."""
        ...

    @property
    def state(self) -> JobState:
        """How it ended."""
        ...


Record = TypeVar("Record", bound=Through)


def rewrite(folder: Path, records: Sequence[OperationRecord]) -> None:
    """Keep Batsim's ``jobs.csv`` as ``batsim_jobs.csv`` and write the real jobs' rows, by their ends, in its place."""
    rewrite_rows(folder, records, OPERATION_COLUMNS, _cells)


def rewrite_rows(
    folder: Path, records: Sequence[Record], columns: Sequence[str], cells: Callable[[Record], Mapping[str, str]]
) -> None:
    """The same for any records: ``cells`` gives the texts of the further ``columns``."""
    raw = folder / BATSIM_JOBS
    (folder / "jobs.csv").rename(raw)
    by_id = {record.job.id: record for record in records}
    with (folder / "allocations.csv").open(encoding="utf-8", newline="") as stream:
        nodes = {
            f"{row['workload_name']}!{row['job_id']}": row["allocated_resources"] for row in csv.DictReader(stream)
        }
    with raw.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        header = list(reader.fieldnames or ())
        rows = [row for row in reader if SEPARATOR not in row["workload_name"]]
    for row in rows:
        record = by_id.get(f"{row['workload_name']}!{row['job_id']}")
        if record is not None:
            row.update(_values(record, float(row["submission_time"]), nodes.get(record.job.id, "")))
            row.update(cells(record))
    rows.sort(key=lambda row: float(row["finish_time"] or row["submission_time"]))
    with (folder / "jobs.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*header, *columns], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _values(record: Through, submitted_s: float, nodes: str) -> dict[str, str]:
    start_s, end_s = record.start_s, record.end_s
    return {
        "success": str(int(record.state is JobState.COMPLETED_SUCCESSFULLY)),
        "final_state": record.state.value,
        "starting_time": f"{start_s:.6f}",
        "execution_time": f"{end_s - start_s:.6f}",
        "finish_time": f"{end_s:.6f}",
        "waiting_time": f"{start_s - submitted_s:.6f}",
        "turnaround_time": f"{end_s - submitted_s:.6f}",
        "stretch": f"{(end_s - submitted_s) / max(end_s - start_s, 1e-5):.6f}",
        "allocated_resources": nodes,
        "consumed_energy": "-1.000000",
    }


def _cells(record: OperationRecord) -> dict[str, str]:
    return {
        "operations": str(record.operations),
        "computing_s": f"{record.computed_s:.6f}",
        "transferring_s": f"{record.transferred_s:.6f}",
        "io_wait_s": f"{record.waited_s:.6f}",
    }
