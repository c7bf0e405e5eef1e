"""Rows of cells from the lines of a log: between separators, keys with values, objects, parquet."""

from __future__ import annotations

import codecs
import contextlib
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.book import Book, Fate
from spillway.workloads.logs.lines import Block, LogFile, LogHead, shown

Cells = Mapping[str, Any]
_BATCH = 65_536


@dataclass(frozen=True)
class Rows:
    """Some rows of a log.

    Attributes
    ----------
    lines
        Number of each row's line.
    cells
        Cells of all rows by the name of their column, in lower case.
    texts
        The rows as written, by which equal ones are told.
    """

    lines: Sequence[int]
    cells: Cells
    texts: Sequence[Any]


SEPARATORS = "|,;\t"
_OTHER = re.compile(r"\w+([^\w\s\"]+)\w")


def header_of(line: str) -> tuple[str, tuple[str, ...]]:
    """Separator and names of columns, in lower case, of the line above a table.

    The separator is that of :data:`SEPARATORS` that gives the most, else the signs behind the first name.
    """
    found = max(SEPARATORS, key=line.count)
    if found not in line and (other := _OTHER.match(line)):
        found = other[1]
    names = tuple(heading.strip().strip('"').lower() for heading in line.split(found))
    return found, names[:-1] if names and not names[-1] else names


def separated(
    blocks: Iterable[Block], book: Book, is_header: Callable[[tuple[str, ...]], bool], free: Iterable[str]
) -> Iterator[Rows]:
    """Rows of cells between separators below a header, which may come again, also with other columns.

    Parameters
    ----------
    free
        Columns of free text, which may contain separators and line breaks.

    Raises
    ------
    WorkloadError
        There is no header.
    """
    table: _Table | None = None
    for first, lines in blocks:
        for number, line in enumerate(lines, start=first):
            if (table is not None and table.is_row(number, line)) or not line.strip():
                continue
            separator, names = header_of(line.lstrip("\ufeff"))
            if (table is None or table.begun is None) and is_header(names):
                yield from table.rows(last=True) if table is not None else ()
                table = _Table(separator, separator != "|" or '"' in line, names, set(free), book)
            elif table is not None:
                table.take(number, line)
            else:
                book.lines += 1
                book.add(Fate.LEFT_OUT, "line above the header").examples[:] = [f"{number}: {shown(line)}"]
        yield from table.rows() if table is not None else ()
    if table is None:
        raise WorkloadError("expected a header", book.where)
    yield from table.rows(last=True)


class _Table:
    """Lines below a header, taken apart."""

    def __init__(self, separator: str, quoted: bool, names: tuple[str, ...], free: set[str], book: Book) -> None:
        self._separator, self._quoted, self._names, self._book = separator, quoted, names, book
        places = [place for place, name in enumerate(names) if name in free]
        last = len(names) - 1
        self._free = last if last in places else places[0] if len(places) == 1 else -1
        self._rows: list[tuple[int, list[str], str]] = []
        self.begun: tuple[int, str] | None = None
        """Line and text of a row that goes on."""

    def is_row(self, number: int, line: str) -> bool:
        """Whether a line is one row, which is then kept."""
        if self.begun is not None or (self._quoted and '"' in line):
            return False
        parts = line.split(self._separator)
        return parts[0].strip().lower() != self._names[0] and self._kept(number, parts, line)

    def _kept(self, number: int, parts: list[str], text: str) -> bool:
        count = len(self._names)
        if len(parts) == count + 1 and not parts[-1]:
            parts.pop()
        if len(parts) == count:
            self._rows.append((number, parts, text))
            self._book.lines += 1
        return len(parts) == count

    def take(self, number: int, line: str) -> None:
        """Take a line that is no plain row: quoted, a piece of one, with separators in a free text, or damaged."""
        if self.begun is not None and self._begins_row(line):
            self._refuse(*self.begun)
            self.begun = None
            if self.is_row(number, line):
                return
        begin, text = (number, line) if self.begun is None else (self.begun[0], f"{self.begun[1]}\n{line}")
        parts = self._cells(text)
        count = len(self._names)
        if parts is None or len(parts) < count:
            if self.begun is None and self._rows and not self._begins_row(line) and self._free == count - 1:
                self._rows[-1][1][-1] += f"\n{line}"  # the last column of the row before had a line break
                return
            self.begun = begin, text
            if len(text) <= 2**20:
                return
        elif len(parts) > count and self._free >= 0 and not (len(parts) == count + 1 and not parts[-1]):
            more = len(parts) - count + 1
            parts[self._free : self._free + more] = [self._separator.join(parts[self._free : self._free + more])]
        self.begun = None
        if parts is None or not self._kept(begin, parts, text):
            self._refuse(begin, text)

    def _begins_row(self, line: str) -> bool:
        """Whether a line has the cells of a row of its own, the first one a number."""
        return line.count(self._separator) >= len(self._names) - 1 and line.lstrip('" ')[:1].isdigit()

    def _cells(self, text: str) -> list[str] | None:
        if '"' not in text or not self._quoted or len(self._separator) > 1:
            return text.split(self._separator)
        try:
            return next(csv.reader([text + "\n"], delimiter=self._separator, strict=True), None)
        except csv.Error:
            return None

    def _refuse(self, number: int, text: str) -> None:
        self._book.lines += 1
        found = self._cells(text)
        words = (
            f"expected {len(self._names)} fields between {self._separator!r} as in the header, "
            f"got {len(found) if found is not None else 'an open quotation'}: {shown(text)}"
        )
        self._book.unreadable("another number of fields than the header", number, words)

    def rows(self, *, last: bool = False) -> Iterator[Rows]:
        """The rows so far; all but the last one, which may go on, unless nothing follows."""
        if last and self.begun is not None:
            self._refuse(*self.begun)
        kept = len(self._rows) if last else len(self._rows) - 1
        if kept > 0:
            numbers, parts, texts = zip(*self._rows[:kept], strict=True)
            del self._rows[:kept]
            yield Rows(numbers, by_name(self._names, list(zip(*parts, strict=True)), self._book.where), texts)


def keyed(
    blocks: Iterable[Block], book: Book, cells_of: Callable[[str], Mapping[str, str] | str], columns: Sequence[str]
) -> Iterator[Rows]:
    """Rows of one line each, from a function that gives the cells of a line by name, or a sentence on its fault."""
    for first, lines in blocks:
        found: list[tuple[int, Mapping[str, str], str]] = []
        for number, line in enumerate(lines, start=first):
            if not line.strip():
                continue
            book.lines += 1
            cells = cells_of(line)
            if isinstance(cells, str):
                book.unreadable("no line of this format", number, cells)
            else:
                found.append((number, cells, line))
        if found:
            numbers, records, texts = zip(*found, strict=True)
            yield Rows(numbers, {name: [record.get(name, "") for record in records] for name in columns}, texts)


def pairs(line: str, key: re.Pattern[str]) -> tuple[str, dict[str, str]]:
    """Text before the first key, and values by key, in lower case: a value may contain anything, also a key."""
    pieces = key.split(line)
    values: dict[str, str] = {}
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        values.setdefault(name.lower(), text.strip())
    return pieces[0].strip(), values


def objects(pieces: Iterable[bytes], book: Book, cells_of: Callable[[Any], Mapping[str, Any]]) -> Iterator[Rows]:
    """Rows of the jobs of a JSON object, which is in memory as a whole.

    Raises
    ------
    WorkloadError
        It is no such object.
    """
    try:
        document = msgspec.json.decode(b"".join(pieces).removeprefix(codecs.BOM_UTF8))
        jobs = document["jobs"]
        found = [cells_of(job) for job in jobs if isinstance(job, dict)]
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError) as error:
        raise WorkloadError(f"expected the object that sacct --json prints, with 'jobs': {error}", book.where) from None
    book.lines += len(jobs)
    for place, job in enumerate(jobs, start=1):
        if not isinstance(job, dict):
            book.unreadable("no object", place, f"expected an object, got {shown(str(job))}")
    names = dict.fromkeys(name for record in found for name in record)
    for first in range(0, len(found), _BATCH):
        batch = found[first : first + _BATCH]
        cells = {name: [record.get(name, "") for record in batch] for name in names}
        yield Rows(range(first + 1, first + 1 + len(batch)), cells, [str(record) for record in batch])


def is_parquet(head: LogHead) -> bool:
    """Whether it is a parquet file."""
    return head.start.startswith(b"PAR1")


def parquet_columns(log: LogFile) -> tuple[str, ...]:
    """Names of a parquet file's columns, in lower case."""
    with _parquet(log) as file:
        return tuple(name.lower() for name in file.schema_arrow.names)


def parquet(log: LogFile, book: Book, wanted: Iterable[str]) -> Iterator[Rows]:
    """Rows of a parquet file, a batch at a time: times as seconds since 1970 (without a zone: as UTC).

    Raises
    ------
    WorkloadError
        pyarrow is missing, or the file is damaged or packed.
    """
    with _parquet(log) as file:
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [name for name in file.schema_arrow.names if name.lower() in wanted]
        for batch in file.iter_batches(batch_size=_BATCH, columns=names):
            columns: list[Sequence[Any]] = []
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if pa.types.is_nested(column.type):
                    what = f"column {name!r} must hold a value in each row, got the type {column.type}"
                    raise WorkloadError(what, log.where)
                is_duration = pa.types.is_duration(column.type)
                if is_duration or pa.types.is_timestamp(column.type):
                    kind = pa.duration("s") if is_duration else pa.timestamp("s", tz=column.type.tz)
                    column = pc.cast(pc.cast(column, kind, safe=False), pa.int64())
                elif pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
                    column = pc.cast(column, pa.large_string())
                cells = column.to_pylist()
                columns.append([*map(spelled, cells)] if is_duration else cells)
            named = by_name([name.lower() for name in batch.schema.names], columns, log.where)
            first = book.lines + 1
            book.lines += batch.num_rows
            yield Rows(range(first, first + batch.num_rows), named, list(zip(*named.values(), strict=True)))


def by_name(names: Sequence[str], columns: Sequence[Sequence[Any]], where: str) -> dict[str, Sequence[Any]]:
    """Columns by their names.

    Raises
    ------
    WorkloadError
        Two columns of one name have other values.
    """
    cells: dict[str, Sequence[Any]] = {}
    for name, column in zip(names, columns, strict=True):
        if name and name in cells and list(cells[name]) != list(column):
            row = next(at for at, (one, other) in enumerate(zip(cells[name], column, strict=True)) if one != other)
            raise WorkloadError(
                f"two columns are called {name!r}, with other values ({shown(str(cells[name][row]))} and "
                f"{shown(str(column[row]))}): leave out one",
                where,
            )
        cells[name] = column
    return cells


def spelled(seconds: int | None) -> str:
    """A duration as Slurm spells it (``1-02:00:00``)."""
    if seconds is None:
        return ""
    days, rest = divmod(seconds, 86_400)
    return f"{days}-{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"


@contextlib.contextmanager
def _parquet(log: LogFile) -> Iterator[Any]:
    """A parquet file; faults inside the block are those of the file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise WorkloadError(
            "parquet files need pyarrow, which the extra 'parquet' installs: pip install 'spillway[parquet]'", log.where
        ) from None
    if log.data is not None or log.path.suffix in (".gz", ".xz"):
        raise WorkloadError("parquet files are read from a plain file: unpack it", log.where)
    try:
        yield pyarrow.parquet.ParquetFile(str(log.path))
    except (pyarrow.ArrowException, OSError, OverflowError) as error:
        reason = str(error).split("\n")[0][:120]
        raise WorkloadError(f"cannot be read as parquet: {reason}", log.where) from None
