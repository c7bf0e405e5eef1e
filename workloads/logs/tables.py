"""Between logs of the Standard Workload Format in memory and tables of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import astuple

from spillway.workloads.logs import swf_log
from spillway.workloads.logs.book import UNREADABLE
from spillway.workloads.logs.columns import Faults, read_cells
from spillway.workloads.logs.formats import table_of
from spillway.workloads.logs.layouts import Rows
from spillway.workloads.logs.lines import LogFile
from spillway.workloads.logs.reading import STRICT
from spillway.workloads.logs.record import CANCELLED, COMPLETED, FAILED, PIECE, TIMEOUT
from spillway.workloads.logs.table import CALENDAR_FROM_S, Intake, Ints, JobTable
from spillway.workloads.swf import FIELDS, SwfHeader, SwfLog, SwfRecord

_BATCH = 65_536
_STATUS = {COMPLETED: 1, FAILED: 0, TIMEOUT: 0, CANCELLED: 5, PIECE: 3}


def read_swf(path: Path | str) -> SwfLog:
    """Read a log of the Standard Workload Format with all its fields (``.swf``, ``.swf.xz``, ``.swf.gz``).

    Raises
    ------
    WorkloadError
        More than a hundredth of the lines cannot be read; the message states the first three.
    """
    return _swf(LogFile.of(path))


def parse_swf(data: bytes | str, where: str = "<text>") -> SwfLog:
    """Read a log from its text; ``where`` names it in errors."""
    return _swf(LogFile(where, Path("log.swf"), data.encode() if isinstance(data, str) else data))


def _swf(log: LogFile) -> SwfLog:
    intake, records = Intake(log.where), list[SwfRecord]()
    for rows in swf_log.rows(log.blocks(), intake, STRICT):
        faults = Faults(rows.lines, lenient=False)
        values = read_cells(swf_log.AS_WRITTEN, rows.cells, faults)
        for row, (reason, words) in sorted(faults.unreadable.items()):
            intake.book.unreadable(reason, rows.lines[row], words)
        made = map(SwfRecord, *(np.asarray(values[name], dtype=object).tolist() for name in FIELDS))
        records += [record for row, record in enumerate(made) if row not in faults.unreadable]
    intake.book.settle(UNREADABLE, "")
    return SwfLog(intake.header, tuple(records))


def as_table(log: SwfLog | JobTable) -> JobTable:
    """The table of a log."""
    if isinstance(log, JobTable):
        return log
    intake = Intake("the log", log.header, machine_processors=log.header.max_procs or 0)
    return table_of(_rows(log, intake), intake)


def _rows(log: SwfLog, intake: Intake) -> Iterator[Rows]:
    """The records of a log in memory as rows."""
    for first in range(0, len(log.records), _BATCH):
        records = [astuple(record) for record in log.records[first : first + _BATCH]]
        intake.book.lines += len(records)
        lines = range(first + 1, first + 1 + len(records))
        yield Rows(lines, dict(zip(FIELDS, zip(*records, strict=True), strict=True)), records)


def as_swf(table: JobTable) -> SwfLog:
    """The jobs of a table as a log in the Standard Workload Format, for callers that take no other.

    Names of users and partitions become numbers; times are counted from the first submission where they are those of
    a calendar. Where the id of a job has a second part (a task of an array), all jobs are numbered anew, from 1.
    """
    submit, start, nodes, memory = (table[name] for name in ("submit_s", "start_s", "nodes", "memory_bytes"))
    got, asked = table["allocated_processors"], table["requested_processors"]
    begin = int(submit.min()) if len(table) else 0
    shift = begin if begin > CALENDAR_FROM_S else 0
    size = np.maximum(np.maximum(got, asked), np.maximum(nodes, 1))
    fields: dict[str, Ints] = {
        "number": np.arange(1, len(table) + 1) if any(table.names["part"]) else table["number"],
        "submit_s": submit - shift,
        "wait_s": np.where(start >= 0, np.maximum(start - submit, 0), -1),
        "run_s": table["run_s"],
        "processors": np.where(nodes > 0, nodes, got),
        "requested_processors": np.where(nodes > 0, nodes, asked),
        "requested_s": table["requested_s"],
        "requested_memory_kib": np.where(memory > 0, memory // 1024 // size, -1),
        "status": np.array([_STATUS.get(state, -1) for state in table.names["state"]])[table["state"]],
        "user": _numbered(table.names["user"])[table["user"]],
        "queue": _numbered(table.names["partition"])[table["partition"]],
    }
    rows = zip(*(column.tolist() for column in fields.values()), strict=True)
    records = tuple(SwfRecord(**dict(zip(fields, row, strict=True))) for row in rows)
    lines = table.intake.header.lines
    if not lines:
        size_of_machine = [f" MaxNodes: {table.intake.machine_nodes}"] if table.intake.machine_nodes else []
        lines = (" Version: 2.2", *size_of_machine, *([f" UnixStartTime: {shift}"] if shift else []))
    return SwfLog(SwfHeader(tuple(lines)), records)


def _numbered(names: list[Any]) -> Ints:
    """Numbers for names: those that they are, else their places from 1; -1 for "" (not known)."""
    return np.array(
        [name if isinstance(name, int) else place if name else -1 for place, name in enumerate(names, start=1)]
    )
