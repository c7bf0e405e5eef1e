"""The steps of a scheduling event on the plain matrix, one function each: the definition for the tests of the core's.

References
----------
Zhang et al. 2003, sections 3.1 to 3.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from spillway.schedulers.timesharing.columns import columns_of
from spillway.schedulers.timesharing.rules import Queue, Rules, Target, Where
from tests.reference.gang_matrix import NO_STREAMS, Matrix, Place, Request, RoomForChoice, Streams, by_freedom, freest


def clean(matrix: Matrix, closed: int = 0) -> Matrix:
    """The matrix without replicas, which frees cells for waiting jobs.

    Jobs on a column of the mask ``closed`` stay as they are: they could not run in another row.
    """
    places = [place if place.columns & closed else place.within(1 << place.home) for place in matrix.places]
    return matrix._replace(places=tuple(places))


class Migrated(NamedTuple):
    """Result of a migration step: the new matrix, the migrated jobs, the number of tasks that changed their node."""

    matrix: Matrix
    jobs: tuple[int, ...]
    tasks: int


def migrate(
    matrix: Matrix, tasks: int, target: Target = Target.FIRST, closed: int = 0, streams: Streams = NO_STREAMS
) -> Migrated:
    """Move remote jobs to their files' nodes, in order of their start, until nothing changes.

    Parameters
    ----------
    matrix
        A matrix without replicas.
    tasks
        Most tasks that may change their node (the rest of the slice's limit Q); a job that needs more is skipped.
    target
        Choice among several rows.
    closed
        Mask of columns that take no further jobs, and whose jobs stay where they are.
    streams
        Bandwidth that jobs stream: no row takes more than its links carry.
    """
    room = streams.room(matrix)
    places = list(matrix.places)
    usable = matrix.all_columns & ~closed
    free = [usable & ~mask for mask in matrix.occupied()]
    moved: list[int] = []
    left = tasks
    changed = True
    while changed:
        changed = False
        somewhere = 0
        for mask in free:
            somewhere |= mask
        for index, place in enumerate(places):
            away = place.files & ~place.columns
            if not away or away & ~somewhere or place.columns & closed:
                continue  # local already, or a file's node is free in no row, or it cannot be moved
            need = away.bit_count()
            if need > left:
                continue
            rate = streams.rate(place.job)
            room.give(place.home, place.columns, rate)
            row = _row(free, place, target, usable, room, rate)
            if row is None:
                room.take(place.home, place.columns, rate)
                continue
            room.take(row, place.files, rate)
            free[place.home] |= place.columns & usable
            somewhere |= place.columns & usable
            free[row] &= ~place.files
            places[index] = place.moved(row, place.files)
            moved.append(place.job)
            left -= need
            changed = True
    return Migrated(matrix._replace(places=tuple(places)), tuple(moved), tasks - left)


def _row(free: Sequence[int], place: Place, target: Target, usable: int, room: RoomForChoice, rate: int) -> int | None:
    """A row in which the file's nodes are free and whose links carry the job; its own row is considered without it."""
    own = place.columns & usable
    fitting = [
        row
        for row, mask in enumerate(free)
        if not place.files & ~(mask | own if row == place.home else mask) and room.carries(row, place.files, rate)
    ]
    if not fitting:
        return None
    return fitting[0] if target is Target.FIRST else min(fitting, key=lambda row: free[row].bit_count())


def compact(matrix: Matrix, closed: int = 0, streams: Streams = NO_STREAMS) -> Matrix:
    """Move jobs to new home rows, in the same columns, so that few rows hold many jobs.

    As in the paper, rows are visited from the least to the most populated, and for each the possible targets from the
    most to the least populated; one job moves, then the next target is tried; this repeats until nothing changes.
    A row with fewer tasks than a job's own row is no target: otherwise jobs would move back and forth for ever.

    Parameters
    ----------
    matrix
        A matrix without replicas, except of jobs on closed columns.
    closed
        Mask of columns whose jobs stay where they are.
    streams
        Bandwidth that jobs stream: no row takes more than its links carry.
    """
    room = streams.room(matrix)
    places = list(matrix.places)
    rows = range(matrix.level)
    occupied = [0] * matrix.level
    homes: list[list[int]] = [[] for _ in rows]
    for index, place in enumerate(places):
        if place.columns & closed:
            for row in columns_of(place.rows):
                occupied[row] |= place.columns
            continue
        homes[place.home].append(index)
        occupied[place.home] |= place.columns
    tasks = [mask.bit_count() for mask in occupied]
    changed = True
    while changed:
        changed = False
        order = sorted(rows, key=tasks.__getitem__)
        for position, source in enumerate(order):
            for target in reversed(order[position + 1 :]):
                taken = occupied[target]
                if tasks[target] < tasks[source] or taken == matrix.all_columns:
                    continue
                for index in homes[source]:
                    place = places[index]
                    if place.columns & taken:
                        continue
                    rate = streams.rate(place.job)
                    if room.carries(target, place.columns, rate):
                        room.give(source, place.columns, rate)
                        room.take(target, place.columns, rate)
                        homes[source].remove(index)
                        homes[target].append(index)
                        occupied[source] ^= place.columns
                        occupied[target] |= place.columns
                        size = place.columns.bit_count()
                        tasks[source] -= size
                        tasks[target] += size
                        places[index] = place.moved(target, place.columns)
                        changed = True
                        break
    return matrix._replace(places=tuple(places))


Hold = Callable[[Request, int], bool]
"""Takes the resources that a job needs besides cells (a burst buffer) for these columns; false if they are not free."""


def schedule(
    matrix: Matrix,
    queue: Iterable[Request],
    where: Where,
    closed: int = 0,
    hold: Hold | None = None,
    streams: Streams = NO_STREAMS,
    discipline: Queue = Queue.STOP,
) -> tuple[Matrix, int]:
    """Place waiting jobs in their order: until one does not fit, or all that fit.

    Parameters
    ----------
    matrix
        A matrix without replicas.
    queue
        Waiting jobs in their order.
    where
        Columns on which a job may be placed.
    closed
        Mask of columns that take no further jobs (nodes that are not available).
    hold
        Takes the resources that jobs need besides cells; by default they need only cells.
    streams
        Bandwidth that jobs stream: no row takes more than its links carry.
    discipline
        Whether a job that does not fit ends the step.

    Returns
    -------
    tuple
        The matrix with the placed jobs at its end, and their number.
    """
    usable = matrix.all_columns & ~closed
    free = [usable & ~mask for mask in matrix.occupied()]
    choose, room, scan = _CHOICES[where], streams.room(matrix), discipline is Queue.SCAN
    placed: list[Place] = []
    widest = max(mask.bit_count() for mask in free)
    for request in queue:
        if request.size > widest:
            if scan:
                continue
            break
        rate = streams.rate(request.job)
        found = choose(free, request, room, rate)
        if found is None or (hold is not None and not hold(request, found[1])):
            if scan:
                continue
            break
        row, columns = found
        free[row] &= ~columns
        widest = max(mask.bit_count() for mask in free)
        room.take(row, columns, rate)
        placed.append(Place(request.job, columns, row, 1 << row, request.files))
    return matrix._replace(places=(*matrix.places, *placed)), len(placed)


Chosen = tuple[int, int] | None
"""Row and columns."""


def _anywhere(free: Sequence[int], request: Request, room: RoomForChoice, rate: int) -> Chosen:
    """The row with the fewest free cells that suffice; in it the columns that are free in most other rows.

    For a job that streams, the row's links must carry all chosen columns together.
    """
    fitting = [(mask.bit_count(), row) for row, mask in enumerate(free) if mask.bit_count() >= request.size]
    if rate:
        return _carried(free, [row for _, row in sorted(fitting)], request, room, rate)
    if not fitting:
        return None
    row = min(fitting)[1]
    columns = freest(free[row], _others(free, row), request.size)
    assert columns is not None
    return row, columns


def _carried(free: Sequence[int], rows: Iterable[int], request: Request, room: RoomForChoice, rate: int) -> Chosen:
    """The first row whose links carry the job on free columns."""
    for row in rows:
        columns = room.choose(row, by_freedom(free[row], _others(free, row)), request.size, rate)
        if columns is not None:
            return row, columns
    return None


def _others(free: Sequence[int], row: int) -> list[int]:
    return [mask for other, mask in enumerate(free) if other != row]


def _on_files(free: Sequence[int], request: Request, room: RoomForChoice, rate: int) -> Chosen:
    """The row with the fewest free cells in which all file nodes are free; a job without files is local anywhere."""
    files = request.files
    if not files:
        return _anywhere(free, request, room, rate)
    fitting = [
        (mask.bit_count(), row) for row, mask in enumerate(free) if not files & ~mask and room.carries(row, files, rate)
    ]
    return (min(fitting)[1], files) if fitting else None


def _files_first(free: Sequence[int], request: Request, room: RoomForChoice, rate: int) -> Chosen:
    return _on_files(free, request, room, rate) or _anywhere(free, request, room, rate)


_CHOICES: dict[Where, Callable[[Sequence[int], Request, RoomForChoice, int], Chosen]] = {
    Where.ANYWHERE: _anywhere,
    Where.FILES: _on_files,
    Where.FILES_FIRST: _files_first,
}


def fill(matrix: Matrix, local_first: bool = False, closed: int = 0, streams: Streams = NO_STREAMS) -> Matrix:
    """Fill free cells: jobs get one further row each, in order of their start, repeatedly until no job fits.

    Parameters
    ----------
    matrix
        A matrix, usually without replicas.
    local_first
        Two queues: remote jobs get the cells that local jobs leave free (the adaptive policies).
    closed
        Mask of columns that take no further replicas.
    streams
        Bandwidth that jobs stream: no row takes more than its links carry.
    """
    room = streams.room(matrix)
    usable = matrix.all_columns & ~closed
    free = [usable & ~mask for mask in matrix.occupied()]
    rows = [place.rows for place in matrix.places]
    somewhere = 0
    for mask in free:
        somewhere |= mask
    # a job with a column that is free in no row, or that fits into no row now, will not fit later: rows only fill up
    queue = [index for index, place in enumerate(matrix.places) if not place.columns & ~somewhere]
    queues = [queue]
    rates = [streams.rate(place.job) for place in matrix.places]
    if local_first:
        local = [matrix.places[index].local for index in queue]
        queues = [
            [index for index, mine in zip(queue, local, strict=True) if mine is wanted] for wanted in (True, False)
        ]
    for queue in queues:
        while queue:
            queue = [
                index
                for index in queue
                if _replicate(matrix.places[index].columns, index, rows, free, room, rates[index])
            ]
    places = tuple([place.within(mask) for place, mask in zip(matrix.places, rows, strict=True)])
    return matrix._replace(places=places)


def _replicate(columns: int, index: int, rows: list[int], free: list[int], room: RoomForChoice, rate: int) -> bool:
    """Give a job the first row that takes it."""
    for row, mask in enumerate(free):
        if not columns & ~mask and room.carries(row, columns, rate):
            room.take(row, columns, rate)
            free[row] = mask ^ columns
            rows[index] |= 1 << row
            return True
    return False


class Outcome(NamedTuple):
    """A new matrix, the number of started jobs (its last places), the migrated jobs, the number of moved tasks."""

    matrix: Matrix
    started: int
    migrated: tuple[int, ...]
    tasks: int


def recompute(
    matrix: Matrix,
    queue: Iterable[Request],
    rules: Rules,
    tasks: int = 0,
    closed: int = 0,
    hold: Hold | None = None,
    streams: Streams = NO_STREAMS,
) -> Outcome:
    """Compute the matrix of a scheduling event (an arrival or a departure).

    Parameters
    ----------
    matrix
        The last matrix, without the jobs that left.
    queue
        Waiting jobs in order of arrival.
    rules
        The policy.
    tasks
        Most tasks that may migrate now.
    closed
        Mask of columns that are out: they take no further jobs, and their jobs stay in their cells.
    hold
        Takes the resources that waiting jobs need besides cells; by default they need only cells.
    streams
        Bandwidth that the jobs in the matrix and the waiting ones stream; by default 0.

    References
    ----------
    Zhang et al. 2003, sections 3.1 to 3.6.
    """
    laid = clean(matrix, closed)
    migrated: tuple[int, ...] = ()
    used = 0
    if rules.migrate and tasks:
        laid, migrated, used = migrate(laid, tasks, rules.target, closed, streams)
    if rules.compaction:
        laid = compact(laid, closed, streams)
    laid, started = schedule(laid, queue, rules.where, closed, hold, streams, rules.queue)
    return Outcome(fill(laid, rules.local_first, closed, streams), started, migrated, used)
