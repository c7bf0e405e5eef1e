"""Reader of the CSV files of results: whole lines only, located errors."""

from __future__ import annotations

import contextlib
import csv
import io
import math
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from spillway.analysis.errors import AnalysisError
from spillway.base.files import open_regular
from spillway.base.limits import InputError, shown
from spillway.core import TableColumns

csv.field_size_limit(2**31 - 1)  # a job may depend on 100,000 others; the file's size is limited

MISSING = "expected the results of a run"
"""Hint in errors about a table of a run that cannot be read."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table.

    Attributes
    ----------
    path, line
        File, and number of the line from 1.
    cells
        Texts by column.
    """

    path: Path
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def number(self, column: str) -> float:
        """A cell as a number, NaN where it is empty; raise :class:`AnalysisError` where it is something else."""
        try:
            return float(self.cells[column] or math.nan)
        except ValueError:
            text = shown(self.cells[column])
            raise AnalysisError(
                f"{self.path}, line {self.line}: column {column!r} must hold numbers, got {text}"
            ) from None


def _opened(path: Path, missing: str) -> IO[bytes]:
    try:
        return open_regular(path)
    except InputError as error:
        raise AnalysisError(f"{path}: {error}; {missing}") from None


def read_lines(path: Path, missing: str) -> Iterator[tuple[int, list[str]]]:
    """Lines of a CSV file with their numbers, the header first.

    Parameters
    ----------
    missing
        Hint that is added to the error where the file cannot be read.

    Raises
    ------
    AnalysisError
        The file cannot be read, is no text, or has a line that is no CSV or of another length than the header.
    """
    with io.TextIOWrapper(_opened(path, missing), encoding="utf-8", newline="") as text:
        reader = csv.reader(text)
        columns = 0
        try:
            for cells in reader:
                columns = columns or len(cells)
                if len(cells) != columns:
                    raise AnalysisError(f"{path}, line {reader.line_num}: expected {columns} fields, got {len(cells)}")
                yield reader.line_num, cells
        except (csv.Error, UnicodeDecodeError) as error:
            raise AnalysisError(f"{path}, line {max(reader.line_num, 1)}: no line of a table: {error}") from None


def read_columns(path: Path, texts: Sequence[int], numbers: Sequence[int], missing: str) -> TableColumns:
    """Columns of a CSV file, by their places: of texts, and of numbers (NaN where empty).

    Raises
    ------
    AnalysisError
        As :func:`read_lines`, and where a cell of a column of numbers holds something else.
    """
    header = header_of(path, missing)
    columns, text_of = TableColumns(len(header), texts, numbers), getincrementaldecoder("utf-8")()
    with contextlib.suppress(UnicodeDecodeError), _opened(path, missing) as stream:
        parts = iter(partial(stream.read, _PART_BYTES), b"")
        if all(columns.feed(part) for part in parts if text_of.decode(part) is not None):
            text_of.decode(b"", final=True)
            if columns.finish():
                return columns
    for row in read_rows(path, (), missing):
        for place in numbers:
            row.number(header[place])
    raise AssertionError("unreachable: one of the rows has a fault")


_PART_BYTES = 2**20


def header_of(path: Path, missing: str) -> list[str]:
    """Names of the columns of a CSV file; none where it is empty. :class:`AnalysisError` as in :func:`read_lines`."""
    return next(read_lines(path, missing), (1, []))[1]


def run_rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Rows of a table of a run, none where it does not exist: most are written only where something happened."""
    return read_rows(path, columns, MISSING) if path.is_file() else iter(())


def read_rows(path: Path, columns: Sequence[str], missing: str) -> Iterator[Row]:
    """Rows of a table that has at least these columns; raises as :func:`read_lines`, and where one is missing."""
    lines = read_lines(path, missing)
    _, header = next(lines, (1, []))
    for column in columns:
        if column not in header:
            found = shown(", ".join(header) or "nothing", 200)
            raise AnalysisError(f"{path}, line 1: no column {column!r}; found {found}")
    for line, cells in lines:
        yield Row(path, line, dict(zip(header, cells, strict=True)))
