"""Transfers of IO-Aware runs (staging, drains, checkpoints): bytes, times, and their stretch by contention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spillway.analysis.errors import AnalysisError
from spillway.analysis.tables.jobs import Floats
from spillway.analysis.tables.rows import Row, read_rows
from spillway.analysis.tables.timelines import Steps, steps

KINDS = {
    "data_staging_profile_0": ("stage_in_bytes", "stage_out_bytes"),
    "data_staging_profile_1": ("drain_bytes",),
    "parallel_homogeneous_pfs_profile_0": ("checkpoint_bytes",),
}
"""Profiles of the sub-jobs that move data, and the columns of ``jobs.csv`` with the sums of their bytes."""

FILE_SYSTEM = ("data_staging_profile_0", "data_staging_profile_1")
"""Profiles that cross the file system's link; checkpoints only go to the burst buffers."""


@dataclass(frozen=True)
class Transfers:
    """Finished transfers of one kind as parallel columns: start, end (s), bytes."""

    start_s: Floats
    finish_s: Floats
    size: Floats

    @property
    def duration_s(self) -> Floats:
        """Duration of each transfer in seconds."""
        return self.finish_s - self.start_s

    def stretch(self) -> Floats:
        """Time per byte of each transfer over that of the fastest one of its kind in this run."""
        moved = self.size > 0
        per_byte = self.duration_s[moved] / self.size[moved]
        return per_byte / per_byte.min() if per_byte.size else per_byte


@dataclass(frozen=True)
class _IoTimes:
    """Times of the phases of jobs: sums over jobs in seconds, and the share of I/O that held computing up."""

    stage_in_s: float
    compute_s: float
    checkpoint_s: float
    drain_s: float
    stage_out_s: float

    @property
    def io_share(self) -> float:
        """Share of stage-in, checkpoints and stage-out in the jobs' time (drains run beside computing), in [0, 1]."""
        io_s = self.stage_in_s + self.checkpoint_s + self.stage_out_s
        return io_s / (io_s + self.compute_s) if io_s + self.compute_s > 0 else float("nan")


def read_transfers(folder: Path) -> dict[str, Transfers]:
    """Read the transfers of an IO-Aware run, by kind (:data:`KINDS`).

    Raises
    ------
    AnalysisError
        The run is not of the IO-Aware model: it has no ``batsim_jobs.csv``, or ``jobs.csv`` lacks the phases.
    """
    phases = {f"{row['workload_name']}%{row['job_id']}": row for row in _phases(folder)}
    rows = [row for row in _rows(folder / "batsim_jobs.csv") if row["profile"] in KINDS and row["starting_time"]]
    counts = Counter((row["workload_name"], row["profile"]) for row in rows)
    columns: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in KINDS}
    for row in rows:
        job, kind = row["workload_name"], row["profile"]
        if job not in phases:
            continue
        together = sum(float(phases[job][name]) for name in KINDS[kind])
        entry = (row.number("starting_time"), row.number("finish_time"), together / counts[job, kind])
        columns[kind].append(entry)
    return {
        kind: Transfers(*(np.array(column, dtype=np.float64) for column in zip(*entries, strict=True)))
        if entries
        else Transfers(np.zeros(0), np.zeros(0), np.zeros(0))
        for kind, entries in columns.items()
    }


def file_system_rate(transfers: dict[str, Transfers]) -> Steps:
    """Bytes per second that cross the file system's link, each transfer at its average rate."""
    chosen = [transfers[kind] for kind in FILE_SYSTEM]
    start = np.concatenate([part.start_s for part in chosen])
    finish = np.concatenate([part.finish_s for part in chosen])
    size = np.concatenate([part.size for part in chosen])
    lasting = finish > start
    return steps(start[lasting], finish[lasting], size[lasting] / (finish - start)[lasting])


def read_io_times(folder: Path) -> _IoTimes:
    """Sum up the times of the phases of jobs; :class:`AnalysisError` where ``jobs.csv`` lacks them."""
    rows = _phases(folder)
    names = ("stage_in_s", "compute_s", "checkpoint_s", "drain_s", "stage_out_s")
    return _IoTimes(*(sum(row.number(name) for row in rows) for name in names))


def _phases(folder: Path) -> list[Row]:
    """Rows of the jobs that ran in phases."""
    path = folder / "jobs.csv"
    found = []
    for row in _rows(path):
        if "stage_in_s" not in row.cells:
            raise AnalysisError(f"{path}: no column 'stage_in_s'; only IO-Aware runs have it")
        if row["stage_in_s"]:
            found.append(row)
    return found


def _rows(path: Path) -> Iterator[Row]:
    return read_rows(path, (), "only IO-Aware runs have it")
