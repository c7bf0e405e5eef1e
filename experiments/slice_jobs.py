"""Runs in which jobs share nodes in time: from Batsim's rows of their time slices to one row per real job.

In Batsim's registry such a job is rejected, and each piece of it, one or more slices without a break, is a job of a
workload of its own (``w0%15`` for job 15 of ``w0``). The real job starts with its first piece and ends with its last,
in that one's state. Its execution time is what it received: the sum over its pieces, restarts after moves included.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from experiments.io_jobs import BATSIM_JOBS, SEPARATOR

SLICE_COLUMNS = ("time_slices",)
"""After Batsim's: in how many pieces the job ran."""


@dataclass
class _Job:
    """Rows of a real job: its own, and those of its pieces as (start, finish, state, nodes)."""

    row: list[str] = field(default_factory=list)
    pieces: list[tuple[float, float, str, str]] = field(default_factory=list)


def rewrite(folder: Path) -> None:
    """Keep Batsim's ``jobs.csv`` as ``batsim_jobs.csv`` and write the real jobs' rows, by their ends, in its place."""
    raw = folder / BATSIM_JOBS
    (folder / "jobs.csv").rename(raw)
    with raw.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        header = next(reader)
        place = {name: index for index, name in enumerate(header)}
        jobs = _collect(reader, place)
    finish, submission = place["finish_time"], place["submission_time"]
    rows = [_real_row(job, place) for job in jobs]
    rows.sort(key=lambda row: float(row[finish] or row[submission]))
    with (folder / "jobs.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*header, *SLICE_COLUMNS])
        writer.writerows(rows)


def _collect(reader: Iterable[list[str]], place: dict[str, int]) -> list[_Job]:
    jobs: dict[str, _Job] = {}
    for row in reader:
        workload = row[place["workload_name"]]
        if SEPARATOR not in workload:
            jobs.setdefault(f"{workload}!{row[place['job_id']]}", _Job()).row = row
        elif row[place["starting_time"]]:
            start, end, state, nodes = (
                row[place[name]] for name in ("starting_time", "finish_time", "final_state", "allocated_resources")
            )
            job = jobs.setdefault(workload.replace(SEPARATOR, "!", 1), _Job())
            job.pieces.append((float(start), float(end), state, nodes))
    return [job for job in jobs.values() if job.row]


def _real_row(job: _Job, place: dict[str, int]) -> list[str]:
    if not job.pieces:
        return [*job.row, ""]
    pieces = sorted(job.pieces)
    submitted_s, start_s = float(job.row[place["submission_time"]]), pieces[0][0]
    _, finish_s, state, nodes = max(pieces, key=lambda piece: piece[1])
    received_s = sum(end_s - begin_s for begin_s, end_s, *_ in pieces)
    values = {
        "success": str(int(state == "COMPLETED_SUCCESSFULLY")),
        "final_state": state,
        "starting_time": f"{start_s:.6f}",
        "execution_time": f"{received_s:.6f}",
        "finish_time": f"{finish_s:.6f}",
        "waiting_time": f"{start_s - submitted_s:.6f}",
        "turnaround_time": f"{finish_s - submitted_s:.6f}",
        "stretch": f"{(finish_s - submitted_s) / max(received_s, 1e-5):.6f}",
        "allocated_resources": nodes,
        "consumed_energy": "-1.000000",
    }
    row = list(job.row)
    for name, value in values.items():
        row[place[name]] = value
    return [*row, str(len(pieces))]
