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
from spillway.workloads.logs.record import CANCELLED, COMPLETED, FAILED, PIECE, TIMEOUT, LogRecord
from spillway.workloads.logs.table import CALENDAR_FROM_S, Intake, JobTable
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
        values = read_cells(swf_log.AS_WRITTEN, rows.cells, faults, intake)
        for row, (reason, words) in sorted(faults.unreadable.items()):
            intake.book.unreadable(reason, rows.lines[row], words)
        columns = [one.tolist() if isinstance(one := values[name], np.ndarray) else one for name in FIELDS]
        made = (SwfRecord(*fields) for fields in zip(*columns, strict=True))
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
    numbers = _numbers(table)
    users, queues = (
        {name: code for code, name in enumerate(table.names[what], start=1)} for what in ("user", "partition")
    )
    start = int(table["submit_s"].min()) if len(table) else 0
    shift = start if start > CALENDAR_FROM_S else 0
    records = tuple(
        _record(record, number, shift, users, queues) for number, record in zip(numbers, table.records(), strict=True)
    )
    lines = table.intake.header.lines
    if not lines:
        nodes = [f" MaxNodes: {table.intake.machine_nodes}"] if table.intake.machine_nodes else []
        lines = (" Version: 2.2", *nodes, *([f" UnixStartTime: {shift}"] if shift else []))
    return SwfLog(SwfHeader(tuple(lines)), records)


def _numbers(table: JobTable) -> list[int]:
    numbers = table["number"].tolist()
    if all(part == "" for part in table.names["part"]):
        return [int(number) for number in numbers]
    return list(range(1, len(numbers) + 1))


def _record(record: LogRecord, number: int, shift: int, users: dict[Any, int], queues: dict[Any, int]) -> SwfRecord:
    size = max(record.allocated_processors, record.requested_processors, record.nodes, 1)
    per_processor = record.memory_bytes // 1024 // size if record.memory_bytes > 0 else -1
    return SwfRecord(
        number=number,
        submit_s=record.submit_s - shift,
        wait_s=max(record.start_s - record.submit_s, 0) if record.start_s >= 0 else -1,
        run_s=record.run_s,
        processors=record.nodes if record.nodes > 0 else record.allocated_processors,
        requested_processors=record.nodes if record.nodes > 0 else record.requested_processors,
        requested_s=record.requested_s,
        requested_memory_kib=per_processor,
        status=_STATUS.get(record.state, -1),
        user=record.user if isinstance(record.user, int) else users[record.user] if record.user else -1,
        queue=record.partition
        if isinstance(record.partition, int)
        else queues[record.partition]
        if record.partition
        else -1,
    )
