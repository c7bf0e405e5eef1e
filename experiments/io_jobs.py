"""IO-Aware runs: from Batsim's rows of sub-jobs to one row per real job, with Batsim's columns.

In Batsim's books a phased job is rejected, and its phases are jobs of a workload of its own (``w0%15`` for job 15 of
``w0``). The real job starts with its first sub-job and ends with its last one, drains included.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.errors import RunFailed
from schedulers.jobmodels.phased import PhaseRecord, Stage
from schedulers.wire.messages import JobState

BATSIM_JOBS = "batsim_jobs.csv"
"""Batsim's own file, sub-jobs and all."""

SEPARATOR = "%"
PHASE_COLUMNS = (
    "phases",
    "sub_jobs",
    *(f"{stage.value}_s" for stage in Stage if stage is not Stage.ENDING),
    *(f"{stage.value}_bytes" for stage in Stage if stage not in (Stage.ENDING, Stage.COMPUTE)),
)


@dataclass
class _Span:
    """From the first sub-job's start to the last one's end, and what the rows say of it."""

    start_s: float
    finish_s: float


ALONE_COLUMNS = ("uncontended_s", "contention_slowdown")


def rewrite(folder: Path, records: Mapping[str, PhaseRecord], alone_s: Mapping[str, float] | None = None) -> None:
    """Keep Batsim's ``jobs.csv`` as ``batsim_jobs.csv`` and write the real jobs' rows in its place.

    Rows are in the order of the ends; rejected jobs keep theirs. After Batsim's columns come :data:`PHASE_COLUMNS`,
    where each job's time went, and :data:`ALONE_COLUMNS`; they are empty for jobs that did not run.

    Parameters
    ----------
    folder
        The run's folder.
    records
        What the scheduler saw of each real job, by full id (``w0!15``).
    alone_s
        How long each would have taken with nobody beside it (s); ``None`` leaves :data:`ALONE_COLUMNS` out.

    Raises
    ------
    RunFailed
        A job ran whose record or rows are missing.
    """
    raw = folder / BATSIM_JOBS
    (folder / "jobs.csv").rename(raw)
    spans, statics, header = _read(raw)
    nodes = _allocations(folder / "allocations.csv")
    rows: list[tuple[float, int, list[str]]] = []
    place = {name: index for index, name in enumerate(header)}
    columns = [*header, *PHASE_COLUMNS, *(ALONE_COLUMNS if alone_s is not None else ())]
    for order, (job_id, row) in enumerate(statics.items()):
        if job_id not in spans:
            rows.append((float(row[place["submission_time"]]), order, [*row, *[""] * (len(columns) - len(header))]))
            continue
        if job_id not in records:
            raise RunFailed(f"job {job_id} has sub-jobs but never came to its end")
        span = spans[job_id]
        record = records[job_id]
        real = [*_real_row(row, place, span, record, nodes[job_id]), *_phase_cells(record)]
        if alone_s is not None:
            real += _alone_cells(record, alone_s[job_id])
        rows.append((span.finish_s, order, real))
    rows.sort(key=lambda entry: entry[:2])
    _write(folder / "jobs.csv", columns, [row for _, _, row in rows])


def _read(path: Path) -> tuple[dict[str, _Span], dict[str, list[str]], list[str]]:
    spans: dict[str, _Span] = {}
    statics: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        header = next(reader)
        names = ("workload_name", "job_id", "starting_time", "finish_time")
        workload, job, start, finish = (header.index(name) for name in names)
        for row in reader:
            if SEPARATOR not in row[workload]:
                statics[f"{row[workload]}!{row[job]}"] = row
                continue
            job_id = row[workload].replace(SEPARATOR, "!", 1)
            if not row[start]:
                continue
            start_s, finish_s = float(row[start]), float(row[finish])
            span = spans.setdefault(job_id, _Span(start_s, finish_s))
            span.start_s = min(span.start_s, start_s)
            span.finish_s = max(span.finish_s, finish_s)
    return spans, statics, header


def _allocations(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream)
        return {f"{row['workload_name']}!{row['job_id']}": row["allocated_resources"] for row in rows}


def _real_row(row: list[str], place: dict[str, int], span: _Span, record: PhaseRecord, allocated: str) -> list[str]:
    submitted_s = float(row[place["submission_time"]])
    run_s = span.finish_s - span.start_s
    turnaround_s = span.finish_s - submitted_s
    values = {
        "success": str(int(record.state is JobState.COMPLETED_SUCCESSFULLY)),
        "final_state": record.state.value,
        "starting_time": f"{span.start_s:.6f}",
        "execution_time": f"{run_s:.6f}",
        "finish_time": f"{span.finish_s:.6f}",
        "waiting_time": f"{span.start_s - submitted_s:.6f}",
        "turnaround_time": f"{turnaround_s:.6f}",
        "stretch": f"{turnaround_s / max(run_s, 1e-5):.6f}",
        "allocated_resources": allocated,
        "consumed_energy": "-1.000000",
    }
    real = list(row)
    for name, value in values.items():
        real[place[name]] = value
    return real


def _phase_cells(record: PhaseRecord) -> list[str]:
    seconds = [f"{record.seconds[stage]:.6f}" for stage in Stage if stage is not Stage.ENDING]
    sizes = [str(record.moved_bytes[stage]) for stage in Stage if stage not in (Stage.ENDING, Stage.COMPUTE)]
    return [str(record.phases), str(record.sub_jobs), *seconds, *sizes]


def _alone_cells(record: PhaseRecord, alone_s: float) -> list[str]:
    slowdown = (record.end_s - record.start_s) / alone_s if alone_s > 0 else 1.0
    return [f"{alone_s:.6f}", f"{slowdown:.6f}"]


def _write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
