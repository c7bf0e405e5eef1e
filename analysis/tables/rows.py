"""Reader of the CSV files of results: whole lines only, located errors."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.analysis.errors import AnalysisError
from spillway.base.files import open_regular
from spillway.base.limits import InputError, shown

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


def _opened(path: Path, missing: str) -> io.TextIOWrapper:
    try:
        return io.TextIOWrapper(open_regular(path), encoding="utf-8", newline="")
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
    with _opened(path, missing) as text:
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


def read_parts(path: Path, missing: str, rows: int) -> Iterator[list[list[str]]]:
    """Lines of a CSV file in lists: the header alone, then at most ``rows`` lines at a time.

    Raises
    ------
    AnalysisError
        As :func:`read_lines`, which also finds the place of the fault.
    """
    with contextlib.suppress(csv.Error, UnicodeDecodeError), _opened(path, missing) as text:
        reader = csv.reader(text)
        header = next(reader, [])
        yield [header]
        while (part := list(itertools.islice(reader, rows))) and set(map(len, part)) == {len(header)}:
            yield part
        if not part:
            return
    for _ in read_lines(path, missing):
        pass


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
