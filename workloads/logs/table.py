"""A log as columns: ten million jobs take about a gigabyte, where a structure per job would take five."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.record import NUMBERS, TEXTS, LogRecord
from spillway.workloads.swf import SwfHeader

Ints = npt.NDArray[np.int64]

_BATCH = 65_536

CALENDAR_FROM_S = 10**8
"""Seconds since 1970 are above it; times since the start of a log are below."""


class Repeated(enum.Enum):
    """Meaning of several lines with the same job number."""

    REFUSED = enum.auto()
    """A mistake in the log."""

    REQUEUED = enum.auto()
    """Attempts at one job: the last one is used."""

    TASKS = enum.auto()
    """Tasks of an array, which share its number: jobs of their own."""


@dataclass
class Intake:
    """Findings of a reader besides jobs.

    Attributes
    ----------
    where
        Name of the log in errors.
    header
        Comment lines of a log that has some.
    dropped
        Lines that are no jobs of their own or cannot be used, by reason.
    notes
        Omissions and assumptions, one sentence each.
    machine_nodes, machine_processors
        Size of the machine that the log states; 0: not stated.
    repeated
        Meaning of several lines with the same job number.
    limited_arrays
        Number of tasks that may run at a time, by the number of an array that the site limited.
    parts
        Conditions on partitions by which its jobs were chosen: the machine is then that part, whatever a header states.
    """

    where: str
    header: SwfHeader = field(default_factory=SwfHeader)
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    machine_nodes: int = 0
    machine_processors: int = 0
    repeated: Repeated = Repeated.REFUSED
    limited_arrays: dict[int, int] = field(default_factory=dict)
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobTable:
    """The jobs of a log, a column for each field of :class:`~spillway.workloads.logs.record.LogRecord`, in file order.

    Attributes
    ----------
    columns
        Numbers as int64 (-1: not known); names as codes into ``names``.
    names
        The names that the codes of a column stand for.
    intake
        Findings of the reader besides jobs.
    format
        Name of the format that it was read from.
    """

    columns: dict[str, npt.NDArray[Any]]
    names: dict[str, list[Any]]
    intake: Intake
    format: str = "swf"

    def __len__(self) -> int:
        return len(self.columns["number"])

    def __getitem__(self, name: str) -> Ints:
        return self.columns[name]

    def known(self, name: str) -> npt.NDArray[np.bool_]:
        """Mask of the jobs with a known value of a field."""
        column = self.columns[name]
        if name in TEXTS:
            names = self.names[name]
            unknown = [code for code, text in enumerate(names) if text in ("", -1)]
            return ~np.isin(column, unknown) if unknown else np.ones(len(column), dtype=bool)
        return np.asarray(column >= (1 if name in _ZERO_IS_UNKNOWN else 0))

    def code(self, name: str, text: Any) -> int:
        """Code of a name in a column; -1 where it does not occur."""
        return self.names[name].index(text) if text in self.names[name] else -1

    def chosen(self, rows: npt.NDArray[Any]) -> JobTable:
        """Some of the jobs, by a mask or by their places."""
        return replace(self, columns={name: _taken(column, rows) for name, column in self.columns.items()})

    def with_column(self, name: str, values: Ints) -> JobTable:
        """The same jobs with another column of numbers."""
        return replace(self, columns=self.columns | {name: values})

    def records(self) -> Iterator[LogRecord]:
        """The jobs one by one."""
        for first in range(0, len(self), _BATCH):
            piece = {name: column[first : first + _BATCH].tolist() for name, column in self.columns.items()}
            for name in TEXTS:
                piece[name] = list(map(self.names[name].__getitem__, piece[name]))
            yield from (LogRecord(*row) for row in zip(*(piece[name] for name in (*NUMBERS, *TEXTS)), strict=True))

    def label(self, row: int) -> str:
        """Id of a job in the log: its number and its part (``12_3``)."""
        return f"{self.columns['number'][row]}{self.names['part'][self.columns['part'][row]]}"


_ZERO_IS_UNKNOWN = {"run_s", "requested_s", "nodes", "requested_processors", "allocated_processors", "memory_bytes"}


def table_of(records: Iterable[LogRecord], intake: Intake, format: str = "swf") -> JobTable:
    """Collect jobs into columns.

    Raises
    ------
    WorkloadError
        From the reader, or where a number does not fit 63 bits.
    """
    pieces: dict[str, list[npt.NDArray[Any] | int]] = {name: [] for name in (*NUMBERS, *TEXTS)}
    codes: dict[str, dict[Any, int]] = {name: {} for name in TEXTS}
    source = iter(records)
    while batch := list(islice(source, _BATCH)):
        rows = zip(*map(msgspec.structs.astuple, batch), strict=True)
        for name, values in zip((*NUMBERS, *TEXTS), rows, strict=True):
            first = values[0]
            if name in TEXTS:
                known = codes[name]
                if values.count(first) == len(values):
                    pieces[name].append(np.broadcast_to(np.int32(known.setdefault(first, len(known))), len(values)))
                    continue
                found = [known.setdefault(value, len(known)) for value in values]
                pieces[name].append(np.array(found, dtype=np.int32))
            elif values.count(first) == len(values):
                pieces[name].append(np.broadcast_to(_fitting(name, values[:1], batch)[0], len(values)))
            else:
                pieces[name].append(_fitting(name, values, batch))
    columns = {name: _joined(pieces.pop(name)) for name in (*NUMBERS, *TEXTS)}
    table = JobTable(columns, {name: list(known) or [""] for name, known in codes.items()}, intake, format)
    return _without_repeats(_without_unrecorded_buffers(table))


def _fitting(name: str, values: tuple[int, ...], batch: list[LogRecord]) -> Ints:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        record = next(r for r, value in zip(batch, values, strict=False) if not -(2**63) <= value < 2**63)
        raise WorkloadError(
            f"job {record.number}: {name} must be a number of at most 63 bits, got {str(getattr(record, name))[:40]}"
        ) from None


def _joined(pieces: list[Any]) -> npt.NDArray[Any]:
    """One column from its pieces; a constant column takes no memory."""
    if not pieces:
        return np.zeros(0, dtype=np.int64)
    first = pieces[0]
    constant = all(piece.strides == (0,) and piece[0] == first[0] for piece in pieces)
    if constant:
        return np.broadcast_to(first[0], sum(map(len, pieces)))
    joined: npt.NDArray[Any] = np.concatenate(pieces)
    return joined


def _taken(column: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if column.strides == (0,) and len(column):
        return np.broadcast_to(column[0], int(rows.sum()) if rows.dtype == bool else len(rows))
    taken: npt.NDArray[Any] = column[rows]
    return taken


def _without_unrecorded_buffers(table: JobTable) -> JobTable:
    """The table with burst buffers not known where no job requests one: such a log does not record them."""
    buffers = table["burst_buffer_bytes"]
    if len(buffers) and buffers.max() > 0:
        return table
    return table.with_column("burst_buffer_bytes", np.broadcast_to(np.int64(-1), len(buffers)))


def _without_repeats(table: JobTable) -> JobTable:
    """The table with each job once: the last of its attempts, or tasks of an array with a part of their own."""
    if table.intake.repeated is Repeated.REFUSED or not len(table):
        return table
    keys = identities(table)
    order = np.argsort(keys, kind="stable")
    fresh = np.concatenate(([True], np.diff(keys[order]) != 0))
    if fresh.all():
        return table
    if table.intake.repeated is Repeated.REQUEUED:
        table.intake.dropped["earlier line of a requeued job (its last one is used)"] += int((~fresh).sum())
        return table.chosen(np.sort(order[np.append(fresh[1:], True)]))
    starts = np.flatnonzero(fresh)
    nth = np.empty(len(keys), dtype=np.int64)
    nth[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    table.intake.notes.append(
        f"{int((~fresh).sum()):,} lines repeat a job's number: taken as tasks of an array, jobs of their own"
    )
    parts = ["", *(f"_{task}" for task in range(1, int(nth.max()) + 1))]
    return replace(
        table,
        columns=table.columns | {"part": nth.astype(np.int32)},
        names=table.names | {"part": parts},
    )


def identities(table: JobTable) -> Ints:
    """A number for each job, equal where job number and part are equal."""
    return np.asarray(table["number"] * np.int64(len(table.names["part"])) + table["part"], dtype=np.int64)


Reader = Callable[..., Iterator[LogRecord]]
"""A generator of the jobs of a log; fills the :class:`Intake` meanwhile."""
