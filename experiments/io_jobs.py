"""IO-Aware runs: from Batsim's rows of sub-jobs to one row per real job, with Batsim's columns.

In Batsim's books a phased job is rejected, and its phases are jobs of a workload of its own (``w0%15`` for job 15 of
``w0``). The real job starts with its first sub-job and ends with its last one, drains included.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from experiments.errors import RunFailed
from schedulers.execution.phased import PhaseRecord, Stage
from schedulers.protocol.messages import JobState

BATSIM_JOBS = "batsim_jobs.csv"
"""Batsim's own file, sub-jobs and all."""

SEPARATOR = "%"
PHASE_COLUMNS = (
    "job_id",
    "workload_name",
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


def rewrite(folder: Path, records: dict[str, PhaseRecord]) -> None:
    """Keep Batsim's ``jobs.csv`` as ``batsim_jobs.csv`` and write the real jobs' rows in its place.

    Rows are in the order of the ends; rejected jobs keep theirs. ``phases.csv`` says where each job's time went.

    Parameters
    ----------
    folder
        The run's folder.
    records
        What the scheduler saw of each real job, by full id (``w0!15``).

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
    for order, (job_id, row) in enumerate(statics.items()):
        if job_id not in spans:
            rows.append((float(row[place["submission_time"]]), order, row))
            continue
        if job_id not in records:
            raise RunFailed(f"job {job_id} has sub-jobs but never came to its end")
        span = spans[job_id]
        rows.append((span.finish_s, order, _real_row(row, place, span, records[job_id], nodes[job_id])))
    rows.sort(key=lambda entry: entry[:2])
    _write(folder / "jobs.csv", header, [row for _, _, row in rows])
    _write(folder / "phases.csv", list(PHASE_COLUMNS), [_phase_row(record) for record in records.values()])


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


def _phase_row(record: PhaseRecord) -> list[str]:
    name = record.job.name
    seconds = [f"{record.seconds[stage]:.6f}" for stage in Stage if stage is not Stage.ENDING]
    sizes = [str(record.moved_bytes[stage]) for stage in Stage if stage not in (Stage.ENDING, Stage.COMPUTE)]
    return [name, record.job.workload, str(record.phases), str(record.sub_jobs), *seconds, *sizes]


def _write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
