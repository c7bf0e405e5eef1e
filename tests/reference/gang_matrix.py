"""The Ousterhout matrix as an immutable value in plain Python: the definition for the tests of the core's matrix.

References
----------
J. K. Ousterhout, *Scheduling techniques for concurrent systems*, ICDCS 1982; Zhang, Yang, Sivasubramaniam, Moreira,
*Gang scheduling extensions for I/O intensive workloads*, JSSPP 2003, section 3.1 and Figure 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from spillway.schedulers.timesharing.bandwidth import Links, Room
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


class RoomForChoice(Room):
    """Bytes per second left on each link in each row, and the choice of columns that the links carry."""

    def choose(self, row: int, preferred: Iterable[int], count: int, rate: int) -> int | None:
        """Choose columns that the links carry together.

        Parameters
        ----------
        row
            Row in which the links are used.
        preferred
            Columns to choose from, as masks; those of the first mask first, in each the lowest.
        count
            Number of columns.
        rate
            Bytes per second of each column.

        Returns
        -------
        int or None
            Their mask; ``None`` where fewer can be carried.
        """
        left, chosen = list(self._left[row]), 0
        for mask in preferred:
            for column in columns_of(mask & ~chosen):
                if chosen.bit_count() == count:
                    return chosen
                above = [link for link, below in enumerate(self._below) if below >> column & 1]
                if all(left[link] >= rate for link in above):
                    chosen |= 1 << column
                    for link in above:
                        left[link] -= rate
        return chosen if chosen.bit_count() == count else None


class Streams(NamedTuple):
    """Bandwidth that jobs stream, and the links that carry it.

    Attributes
    ----------
    links
        The links.
    rates
        Bytes per second of each task, by the number of the job; jobs that stream nothing may be missing.
    """

    links: Links = Links()
    rates: Mapping[int, int] = {}

    def rate(self, job: int) -> int:
        """Bytes per second of each task of a job."""
        return self.rates.get(job, 0)

    def room(self, matrix: Matrix) -> RoomForChoice:
        """Bandwidth that the jobs of a matrix leave on each link in each row."""
        room = RoomForChoice(self.links, matrix.level)
        for place in matrix.places if self.rates else ():
            rate = self.rate(place.job)
            if rate:
                for row in columns_of(place.rows):
                    room.take(row, place.columns, rate)
        return room


NO_STREAMS = Streams()


def lowest(mask: int, count: int) -> int:
    """The mask of the ``count`` lowest columns of a mask that has at least as many."""
    surplus = mask.bit_count() - count
    if surplus <= count:
        for _ in range(surplus):
            mask ^= 1 << (mask.bit_length() - 1)
        return mask
    chosen = 0
    for _ in range(count):
        low = mask & -mask
        chosen |= low
        mask ^= low
    return chosen


def freest(free: int, others: Iterable[int], count: int) -> int | None:
    """Choose ``count`` columns of ``free``: those in the most of the ``others`` first, then the lowest.

    Parameters
    ----------
    free
        Columns to choose from.
    others
        One mask per other row: its free columns.
    count
        Number of columns to choose, at least 1.

    Returns
    -------
    int or None
        The chosen columns; ``None`` when ``free`` has too few.
    """
    if free.bit_count() < count:
        return None
    chosen = 0
    for mask in by_freedom(free, others):
        fresh = mask & ~chosen
        wanted = count - chosen.bit_count()
        if fresh.bit_count() >= wanted:
            return chosen | lowest(fresh, wanted)
        chosen |= fresh
    raise AssertionError("the last mask is the whole of free")


def by_freedom(free: int, others: Iterable[int]) -> Iterator[int]:
    """The columns of ``free`` that are in all of the ``others``, those in all but one or more, ..., all of ``free``."""
    at_least = [free]  # at_least[k]: columns of ``free`` that are in k of the others or more
    for other in others:
        at_least.append(at_least[-1] & other)
        for k in range(len(at_least) - 2, 0, -1):
            at_least[k] |= at_least[k - 1] & other
    return reversed(at_least)
