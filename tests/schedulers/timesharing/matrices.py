"""Ousterhout matrices as plain values with their invariants, as drawings, and the core's steps on them.

A drawing has a line per row, a letter per cell, ``.`` for a hole; the first row that names a job is its home.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from spillway.core import GangMatrix
from spillway.schedulers.timesharing.bandwidth import Links
from spillway.schedulers.timesharing.columns import columns_of, mask_of
from spillway.schedulers.timesharing.rules import PlacementColumns, Queue, Rules


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


NO_STREAMS = Streams()


class Migrated(NamedTuple):
    """Result of a migration step: the new matrix, the migrated jobs, the number of tasks that changed their node."""

    matrix: Matrix
    jobs: tuple[int, ...]
    tasks: int


class Outcome(NamedTuple):
    """A new matrix, the number of started jobs (its last places), the migrated jobs, the number of moved tasks."""

    matrix: Matrix
    started: int
    migrated: tuple[int, ...]
    tasks: int


def matrix_from(text: str, files: Mapping[str, tuple[int, ...]] | None = None, order: str = "") -> Matrix:
    """Read a drawing; ``order`` is the order of the jobs' starts (default: of the alphabet)."""
    rows = [line.split() for line in text.strip().splitlines()]
    files = files or {}
    names = sorted({name for row in rows for name in row if name != "."}, key=(order or "").find if order else None)
    places = []
    for name in names:
        own = [index for index, row in enumerate(rows) if name in row]
        columns = mask_of(column for column, cell in enumerate(rows[own[0]]) if cell == name)
        for index in own:
            assert columns == mask_of(column for column, cell in enumerate(rows[index]) if cell == name)
        places.append(Place(ord(name), columns, own[0], mask_of(own), mask_of(files.get(name, ()))))
    return Matrix(len(rows), len(rows[0]), tuple(places))


def drawing(matrix: Matrix) -> list[str]:
    """The lines of a matrix."""
    return [" ".join("." if cell is None else chr(cell) for cell in row) for row in matrix.cells()]


def lines(text: str) -> list[str]:
    """The lines of a drawing in the text, to compare with."""
    return [" ".join(line.split()) for line in text.strip().splitlines()]


Hold = Callable[[Request, int], bool]
"""Takes what else a job needs for these columns; false if it is not free."""

_Row = tuple[int, int, int, int]


def of_core(matrix: Matrix, streams: Streams = NO_STREAMS) -> GangMatrix:
    """The same matrix in the core."""
    below = [mask & matrix.all_columns for mask in streams.links.below]
    links = list(zip(below, streams.links.bytes_per_s, strict=True))
    made = GangMatrix(matrix.level, matrix.width, links)
    for place in matrix.places:
        made.add(*place, streams.rate(place.job))
    return made


def plain(matrix: GangMatrix) -> Matrix:
    """The plain matrix of the core's."""
    places = [Place(place.job, place.columns, place.home, place.rows, place.files) for place in matrix.places]
    assert [place.local for place in places] == [place.local for place in matrix.places]
    return Matrix(matrix.level, matrix.width, tuple(places))


def clean(matrix: Matrix, closed: int = 0) -> Matrix:
    """CleanMatrix."""
    made = of_core(matrix)
    made.clean(closed)
    return plain(made)


def migrate(matrix: Matrix, tasks: int, closed: int = 0, streams: Streams = NO_STREAMS) -> Migrated:
    """MigrateMatrix."""
    made = of_core(matrix, streams)
    outcome = made.migrate(tasks, closed)
    return Migrated(plain(made), tuple(outcome.migrated), outcome.tasks)


def compact(matrix: Matrix, closed: int = 0, streams: Streams = NO_STREAMS) -> Matrix:
    """CompactMatrix."""
    made = of_core(matrix, streams)
    made.compact(closed)
    return plain(made)


def schedule(
    matrix: Matrix,
    queue: Iterable[Request],
    where: PlacementColumns,
    closed: int = 0,
    hold: Hold | None = None,
    streams: Streams = NO_STREAMS,
    discipline: Queue = Queue.STOP,
) -> tuple[Matrix, int]:
    """Place waiting jobs."""
    made, waiting = of_core(matrix, streams), list(queue)
    holds = None if hold is None else _holds(waiting, hold)
    placed = made.schedule(_rows(waiting, streams), where.code, discipline is Queue.SCAN, closed, holds)
    return plain(made), len(placed)


def recompute(
    matrix: Matrix,
    queue: Iterable[Request],
    rules: Rules,
    tasks: int = 0,
    closed: int = 0,
    hold: Hold | None = None,
    streams: Streams = NO_STREAMS,
) -> Outcome:
    """All steps; what the core says of changed and started jobs is what the matrices show."""
    made, waiting = of_core(matrix, streams), list(queue)
    holds = None if hold is None else _holds(waiting, hold)
    outcome = made.recompute(_rows(waiting, streams), rules.of_core, tasks, closed, holds)
    after, old = plain(made), len(matrix.places)
    assert [place.job for place in outcome.started] == [place.job for place in after.places[old:]]
    changed = [new for new, before in zip(after.places[:old], matrix.places, strict=True) if new != before]
    assert [place.job for place in outcome.changed] == [place.job for place in changed if _moved(place, matrix)]
    return Outcome(after, len(outcome.started), tuple(outcome.migrated), outcome.tasks)


def _moved(place: Place, before: Matrix) -> bool:
    """Whether a job has other rows or columns."""
    (old,) = [item for item in before.places if item.job == place.job]
    return (place.rows, place.columns) != (old.rows, old.columns)


def _rows(queue: Sequence[Request], streams: Streams) -> list[_Row]:
    return [(job.job, job.size, job.files, streams.rate(job.job)) for job in queue]


def _holds(queue: Sequence[Request], hold: Hold) -> Callable[[int, int], bool]:
    """``hold`` by the number of a job."""
    requests = {job.job: job for job in queue}
    return lambda job, columns: hold(requests[job], columns)
