"""Runs with malleable applications: from Batsim's rows of sub-jobs to one row per real job.

In Batsim's books an application is rejected, and its intervals, I/O phases and reconfigurations are jobs of a workload
of its own (``w0%15`` for job 15 of ``w0``). ``allocated_resources`` are the nodes that it started on.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from experiments.operation_jobs import rewrite_rows
from schedulers.jobmodels.app_record import AppRecord

APPLICATION_COLUMNS = (
    "iterations", "resizes", "most_nodes", "node_seconds", "computing_s", "transferring_s", "io_wait_s", "resizing_s",
)  # fmt: skip
"""After Batsim's: what was done, sizes, nodes held times seconds, where the time went; empty for other jobs."""


PHASES = "io_phases.csv"
"""One row per I/O phase: when the application was ready, began and ended, and what had been predicted before."""

PHASE_COLUMNS = (
    "job_id",
    "asked_s",
    "begin_s",
    "end_s",
    "nodes",
    "predicted_start_s",
    "predicted_duration_s",
    "error_s",
)
"""Of :data:`PHASES`; ``error_s`` is the standard error that the prediction stated. Empty where nothing was known."""


def rewrite(folder: Path, records: Sequence[AppRecord]) -> None:
    """Keep Batsim's ``jobs.csv`` as ``batsim_jobs.csv`` and write the real jobs' rows, by their ends, in its place.

    The I/O phases go to :data:`PHASES`.
    """
    rewrite_rows(folder, records, APPLICATION_COLUMNS, _cells)
    with (folder / PHASES).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(PHASE_COLUMNS)
        for record in records:
            for phase in record.phases:
                seen = (phase.asked_s, phase.begin_s, phase.end_s)
                guess = phase.predicted
                known = ("", "", "") if guess is None else (guess.start_s, guess.duration_s, guess.error_s)
                cells = (
                    f"{value:.6f}" if isinstance(value, float) else value for value in (*seen, phase.nodes, *known)
                )
                writer.writerow((record.job.id, *cells))


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
