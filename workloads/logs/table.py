"""A log as columns: ten million jobs take about a gigabyte, where a structure per job would take five."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.workloads.logs.book import Book
from spillway.workloads.logs.record import NUMBERS, TEXTS
from spillway.workloads.swf import SwfHeader

Ints = npt.NDArray[np.int64]

CALENDAR_FROM_S = 10**8
"""Seconds since 1970 are above it; times since the start of a log are below."""


@dataclass
class Intake:
    """Findings of a reader besides jobs.

    Attributes
    ----------
    where
        Name of the log in errors.
    header
        Comment lines of a log that has some.
    book
        Fates of its lines, by reason.
    notes
        Omissions and assumptions, one sentence each.
    machine_nodes, machine_processors
        Size of the machine that the log states; 0: not stated.
    unlimited
        Jobs without a time limit.
    tasks
        Whether lines that repeat a job's number are tasks of an array.
    limited_arrays
        Number of tasks that may run at a time, by the number of an array that the site limited.
    parts
        Conditions on partitions by which its jobs were chosen: the machine is then that part, whatever a header states.
    """

    where: str
    header: SwfHeader = field(default_factory=SwfHeader)
    notes: list[str] = field(default_factory=list)
    machine_nodes: int = 0
    machine_processors: int = 0
    unlimited: int = 0
    tasks: bool = False
    limited_arrays: dict[int, int] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    book: Book = field(init=False)

    def __post_init__(self) -> None:
        self.book = Book(self.where)


@dataclass(frozen=True)
class JobTable:
    """The jobs of a log, a column for each field of :mod:`~spillway.workloads.logs.record`, in file order.

    Attributes
    ----------
    columns
        Numbers (-1: not known), as narrow as they fit; names as codes into ``names``.
    names
        The names that the codes of a column stand for.
    intake
        Findings of the reader besides jobs.
    format
        Name of the format that it was read from.
    rows
        Places of the jobs in the columns; ``None``: all. Chosen jobs take no other memory: their values are gathered
        each time that they are asked for.
    """

    columns: Mapping[str, npt.NDArray[Any]]
    names: dict[str, list[Any]]
    intake: Intake
    format: str = "swf"
    rows: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.columns["number"] if self.rows is None else self.rows)

    def __getitem__(self, name: str) -> Ints:
        """A column: numbers as int64, names as codes; loops keep it, as each call gathers it anew."""
        column = self.columns[name]
        kind = column.dtype if name in TEXTS else np.int64
        if column.strides == (0,) and len(column):
            return np.broadcast_to(column[0].astype(kind), len(self))
        return (column if self.rows is None else column[self.rows]).astype(kind, copy=False)

    def known(self, name: str) -> npt.NDArray[np.bool_]:
        """Mask of the jobs with a known value of a field."""
        column = self[name]
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
        if rows.all() if rows.dtype == bool else np.array_equal(rows, np.arange(len(self), dtype=rows.dtype)):
            return self
        places = (np.flatnonzero(rows) if rows.dtype == bool else rows).astype(np.int32)
        return replace(self, rows=places if self.rows is None else self.rows[places])

    def with_column(self, name: str, values: npt.NDArray[Any], names: list[Any] | None = None) -> JobTable:
        """The same jobs with another column of numbers, or of codes for names."""
        columns = self.columns if self.rows is None else {key: self[key] for key in self.columns}
        known = self.names if names is None else self.names | {name: names}
        return replace(self, columns={**columns, name: values}, names=known, rows=None)

    @property
    def clusters(self) -> list[str]:
        """Names of the clusters, where jobs are of several."""
        found = [name for name in self.names["cluster"] if name]
        return found if len(found) > 1 else []

    def label(self, row: int) -> str:
        """Id of a job in the log: its number and its part (``12_3``)."""
        place = row if self.rows is None else self.rows[row]
        return f"{self.columns['number'][place]}{self.names['part'][self.columns['part'][place]]}"


_ZERO_IS_UNKNOWN = {"run_s", "requested_s", "nodes", "requested_processors", "allocated_processors", "memory_bytes"}


class _GrowingColumn:
    """A column that rows are added to: one array with room, as small ones would leave gaps in memory that nothing
    fills; of 32 bits while its numbers fit, and without memory while it is constant."""

    def __init__(self) -> None:
        self._values: npt.NDArray[Any] = np.zeros(0, dtype=np.int32)
        self._is_constant = True
        self._count = 0

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Add some rows, at least one."""
        begin, self._count = self._count, self._count + len(rows)
        if not begin:
            self._values = rows[:1].astype(_kind_of(rows[:1]))
        if self._is_constant:
            if bool((rows == self._values[0]).all()):
                return
            self._is_constant = False
            self._values = np.broadcast_to(self._values, begin)
        kind = np.promote_types(self._values.dtype, _kind_of(rows))
        if self._count > len(self._values) or kind != self._values.dtype:
            grown = np.empty(2 * self._count, dtype=kind)
            grown[:begin] = self._values[:begin]
            self._values = grown
        self._values[begin : self._count] = rows

    def column(self) -> npt.NDArray[Any]:
        """The rows so far."""
        return np.broadcast_to(self._values[:1], self._count) if self._is_constant else self._values[: self._count]


def _kind_of(rows: npt.NDArray[Any]) -> type[np.signedinteger[Any]]:
    return np.int32 if rows.min() >= -(2**31) and rows.max() < 2**31 else np.int64


class Builder:
    """Collects the columns of a table, some rows at a time; a constant column takes no memory."""

    def __init__(self) -> None:
        self._columns = {name: _GrowingColumn() for name in (*NUMBERS, *TEXTS)}
        self._codes: dict[str, dict[Any, int]] = {name: {} for name in TEXTS}
        self._hashes: list[npt.NDArray[np.int32]] = []
        self.count = 0

    def add(self, made: Mapping[str, Any], kept: npt.NDArray[np.bool_], texts: Sequence[Any]) -> None:
        """Add the chosen rows; ``texts``: these as written, where equal ones are to be told."""
        every, count = bool(kept.all()), int(kept.sum())
        self.count += count
        for name in NUMBERS if count else ():
            column = np.asarray(made[name], dtype=np.int64)
            self._columns[name].add(column if every else column[kept])
        for name in TEXTS if count else ():
            values = made[name].tolist() if isinstance(made[name], np.ndarray) else made[name]
            known = self._codes[name]
            if values.count(values[0]) == len(values):
                self._columns[name].add(np.broadcast_to(np.int32(known.setdefault(values[0], len(known))), count))
                continue
            codes = np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int32)
            self._columns[name].add(codes if every else codes[kept])
        if len(texts):
            hashes = np.fromiter(map(hash, texts), dtype=np.int64, count=len(texts))
            self._hashes.append((hashes if every else hashes[kept]).astype(np.int32))  # one of few compared rows

    @property
    def hashes(self) -> npt.NDArray[np.int32]:
        """A number of each row, equal where rows are written alike; empty where that is not asked for."""
        return np.concatenate(self._hashes) if self._hashes else np.zeros(0, dtype=np.int32)

    def table(self, intake: Intake, format: str) -> JobTable:
        """The table of all rows."""
        columns = {name: column.column() for name, column in self._columns.items()}
        names = {name: list(known) or [""] for name, known in self._codes.items()}
        return _without_unrecorded_buffers(JobTable(columns, names, intake, format))


def coded(values: Sequence[Any]) -> tuple[npt.NDArray[np.int32], list[Any]]:
    """Names as codes, and the names that they stand for."""
    known: dict[Any, int] = {}
    codes = np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int32)
    return codes, list(known) or [""]


def _without_unrecorded_buffers(table: JobTable) -> JobTable:
    """The table with burst buffers not known where no job requests one: such a log does not record them."""
    buffers = table["burst_buffer_bytes"]
    if len(buffers) and buffers.max() > 0:
        return table
    return table.with_column("burst_buffer_bytes", np.broadcast_to(np.int64(-1), len(buffers)))
