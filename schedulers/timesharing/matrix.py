"""The Ousterhout matrix as an immutable value: rows are time slices, columns are nodes, a cell holds a job's task.

References
----------
J. K. Ousterhout, *Scheduling techniques for concurrent systems*, ICDCS 1982; Zhang, Yang, Sivasubramaniam, Moreira,
*Gang scheduling extensions for I/O intensive workloads*, JSSPP 2003, section 3.1 and Figure 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spillway.schedulers.timesharing.columns import columns_of


class Request(NamedTuple):
    """A job that waits for a place.

    Attributes
    ----------
    job
        Its number, unique.
    size
        Tasks, at least 1; each takes a cell of its row.
    files
        Mask of the columns that hold its file's partitions, as many as tasks; 0 for a job without files.
    """

    job: int
    size: int
    files: int = 0


class Place(NamedTuple):
    """The rows and columns of a job in the matrix.

    Attributes
    ----------
    job
        Its number.
    columns
        Mask of its columns, the same in all its rows.
    home
        Row into which it was scheduled, or moved since.
    rows
        Mask of the rows in which it runs: its home, and the rows of its replicas.
    files
        As in :class:`Request`.
    """

    job: int
    columns: int
    home: int
    rows: int
    files: int = 0

    @property
    def local(self) -> bool:
        """Whether every task is on its file's node: one task elsewhere makes the whole job remote (section 2.3)."""
        return self.columns == self.files or not self.files

    def within(self, rows: int) -> Place:
        """The same job in other rows (a mask that includes its home); ``self`` if the rows are the same."""
        return self if rows == self.rows else Place(self.job, self.columns, self.home, rows, self.files)

    def moved(self, row: int, columns: int) -> Place:
        """The same job with another home and columns, without replicas."""
        return Place(self.job, columns, row, 1 << row, self.files)


class Matrix(NamedTuple):
    """The matrix.

    Attributes
    ----------
    level
        Number of rows: the multiprogramming level.
    width
        Number of columns: the nodes.
    places
        The jobs, in order of their start.
    """

    level: int
    width: int
    places: tuple[Place, ...] = ()

    @property
    def all_columns(self) -> int:
        """Mask of all columns."""
        return (1 << self.width) - 1

    def occupied(self) -> list[int]:
        """Mask of the occupied columns per row."""
        rows = [0] * self.level
        for place in self.places:
            left = place.rows
            if not left & (left - 1):
                rows[place.home] |= place.columns
                continue
            while left:
                low = left & -left
                rows[low.bit_length() - 1] |= place.columns
                left ^= low
        return rows

    def row(self, row: int) -> tuple[Place, ...]:
        """The jobs that run in a row."""
        bit = 1 << row
        return tuple(place for place in self.places if place.rows & bit)

    def without(self, jobs: Sequence[int]) -> Matrix:
        """The matrix after jobs have left."""
        gone = frozenset(jobs)
        return self._replace(places=tuple(place for place in self.places if place.job not in gone))

    def cells(self) -> list[list[int | None]]:
        """Contents of the cells, row by row: a job's number or ``None``."""
        table: list[list[int | None]] = [[None] * self.width for _ in range(self.level)]
        for place in self.places:
            for row in columns_of(place.rows):
                for column in columns_of(place.columns):
                    table[row][column] = place.job
        return table

    def check(self) -> None:
        """Check the invariants.

        A job has one place; it has columns, all within the width; its home is one of its rows, all within the level
        (by the definition of a place, its tasks share a row and its replicas the columns); no cell has two jobs.
        """
        seen: set[int] = set()
        occupied = [0] * self.level
        for place in self.places:
            assert place.job not in seen, f"job {place.job} has two places"
            seen.add(place.job)
            assert 0 < place.columns <= self.all_columns, f"job {place.job}: columns outside 0..{self.width - 1}"
            assert 0 < place.rows < 1 << self.level, f"job {place.job}: rows outside 0..{self.level - 1}"
            assert place.rows >> place.home & 1, f"job {place.job} does not run in its home row {place.home}"
            for row in columns_of(place.rows):
                both = columns_of(occupied[row] & place.columns)
                assert not both, f"row {row}, column {both[0]}: job {place.job} and another one"
                occupied[row] |= place.columns
