"""Runs with malleable applications: from Batsim's rows of sub-jobs to one row per real job.

In Batsim's books an application is rejected, and its intervals, I/O phases and reconfigurations are jobs of a workload
of its own (``w0%15`` for job 15 of ``w0``). ``allocated_resources`` are the nodes that it started on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.operation_jobs import rewrite_rows
from schedulers.execution.app_record import AppRecord

APPLICATION_COLUMNS = (
    "iterations", "resizes", "most_nodes", "node_seconds", "computing_s", "transferring_s", "io_wait_s", "resizing_s",
)  # fmt: skip
"""After Batsim's: what was done, sizes, nodes held times seconds, where the time went; empty for other jobs."""


def rewrite(folder: Path, records: Sequence[AppRecord]) -> None:
    """Keep Batsim's ``jobs.csv`` as ``batsim_jobs.csv`` and write the real jobs' rows, by their ends, in its place."""
    rewrite_rows(folder, records, APPLICATION_COLUMNS, _cells)


def _cells(record: AppRecord) -> dict[str, str]:
    return {
        "iterations": str(record.iterations),
        "resizes": str(len(record.sizes) - 1),
        "most_nodes": str(max(nodes for _, nodes in record.sizes)),
        "node_seconds": f"{record.node_seconds:.6f}",
        "computing_s": f"{record.compute_s:.6f}",
        "transferring_s": f"{sum(phase.end_s - phase.begin_s for phase in record.phases):.6f}",
        "io_wait_s": f"{sum(phase.begin_s - phase.asked_s for phase in record.phases):.6f}",
        "resizing_s": f"{record.resize_s:.6f}",
    }
