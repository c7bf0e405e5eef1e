"""Other tools' formats: Batsim's ``jobs.csv`` (which evalys reads) and logs in the Standard Workload Format."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from spillway.analysis.errors import AnalysisError
from spillway.analysis.metrics import SHORTEST_EXECUTION_S
from spillway.analysis.tables import JobTable
from spillway.base import durable

BATSIM_COLUMNS = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)
"""Columns of Batsim 4, in its order."""

_SWF_STATUS = {"COMPLETED_SUCCESSFULLY": 1, "COMPLETED_FAILED": 0}


def batsim_csv(table: JobTable) -> str:
    """Text of a ``jobs.csv`` with Batsim's columns. What a table does not have (profile, energy) is empty or -1."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(BATSIM_COLUMNS)
    for row in range(len(table)):
        limit = table.walltime_s[row]
        head = [
            table.job_id[row],
            table.workload[row],
            "",
            f"{table.submit_s[row]:.6f}",
            int(table.nodes[row]),
            f"{limit if math.isfinite(limit) else -1:.6f}",
            int(table.state[row] == "COMPLETED_SUCCESSFULLY"),
            table.state[row],
        ]
        writer.writerow([*head, *_times(table, row), table.allocated[row], "-1.000000", ""])
    return text.getvalue()


def swf(table: JobTable, comment: str = "") -> str:
    """Text of a log of the schedule: what was submitted, and when it really started and ended.

    Jobs that never ran have status 5 (cancelled) and no times. Job ids that are no numbers become their place in the
    table, users are numbered in order of first occurrence. Seconds are rounded to whole ones.

    References
    ----------
    Feitelson, *The Standard Workload Format*, Parallel Workloads Archive, version 2.2.
    """
    users: dict[str, int] = {}
    lines = [f"; {line}" for line in comment.splitlines()]
    if table.machine.nodes:
        lines.append(f"; MaxProcs: {len(table.machine.nodes)}")
    numbers = [job if job.isdecimal() else "" for job in table.job_id]
    unique = all(numbers) and len(set(numbers)) == len(numbers)
    for row in table.submit_s.argsort(kind="stable").tolist():
        ran = bool(table.executed[row])
        fields = [-1] * 18
        fields[0] = int(numbers[row]) if unique else row + 1
        fields[1] = round(table.submit_s[row])
        fields[2] = round(table.wait_s[row]) if ran else -1
        fields[3] = round(table.execution_s[row]) if ran else -1
        if ran and table.turns is not None:  # SWF's run time is end minus start; what was received is processor time
            fields[3], fields[5] = round(table.finish_s[row] - table.start_s[row]), fields[3]
        fields[4] = int(table.nodes[row]) if ran else -1
        fields[7] = int(table.nodes[row])
        fields[8] = round(table.walltime_s[row]) if math.isfinite(table.walltime_s[row]) else -1
        fields[10] = _SWF_STATUS.get(table.state[row], 5)
        if table.user[row]:
            fields[11] = users.setdefault(table.user[row], len(users) + 1)
        lines.append(" ".join(map(str, fields)))
    return "\n".join(lines) + "\n"


FORMATS = {"csv": batsim_csv, "swf": swf}
"""Writers by the suffix of the file."""


def export(table: JobTable, path: Path) -> None:
    """Write a table in the format that the file's suffix names (``.csv``, ``.swf``).

    Raises
    ------
    AnalysisError
        For another suffix, or where the file cannot be written.
    """
    write = FORMATS.get(path.suffix.removeprefix("."))
    if write is None:
        raise AnalysisError(f"{path}: expected a file ending in {' or '.join('.' + name for name in FORMATS)}")
    try:
        durable.write_text(path, write(table))
    except OSError as error:
        raise AnalysisError(str(error)) from None


def _times(table: JobTable, row: int) -> list[str]:
    if not table.executed[row]:
        return [""] * 6
    run_s, turnaround_s = table.execution_s[row], table.turnaround_s[row]
    stretch = turnaround_s / max(run_s, SHORTEST_EXECUTION_S)
    values = (table.start_s[row], run_s, table.finish_s[row], table.wait_s[row], turnaround_s, stretch)
    return [f"{value:.6f}" for value in values]
