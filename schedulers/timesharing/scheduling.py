"""Schedule: place waiting jobs in order of arrival (Zhang et al. 2003, sections 3.1, 3.2, 3.3, 3.5, step 3)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence

from spillway.schedulers.timesharing.bandwidth import NO_STREAMS, Room, Streams
from spillway.schedulers.timesharing.columns import by_freedom, freest
from spillway.schedulers.timesharing.matrix import Matrix, Place, Request


class Where(enum.Enum):
    """Columns on which a waiting job may be placed."""

    ANYWHERE = "anywhere"
    """On the columns that are free in most rows: plain gang scheduling."""
    FILES = "files"
    """On its file's nodes, or it waits: I/O-aware gang scheduling."""
    FILES_FIRST = "files-first"
    """On its file's nodes if they are free in some row, else anywhere: adaptive."""


class Queue(enum.Enum):
    """Treatment of the jobs behind a waiting job that does not fit."""

    STOP = "stop"
    """They wait, too (sections 3.2 and 3.3: no job after the first that cannot be placed)."""
    SCAN = "scan"
    """They are tried in their order (section 3.1: as long as any job fits)."""


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


def _anywhere(free: Sequence[int], request: Request, room: Room, rate: int) -> Chosen:
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


def _carried(free: Sequence[int], rows: Iterable[int], request: Request, room: Room, rate: int) -> Chosen:
    """The first row whose links carry the job on free columns."""
    for row in rows:
        columns = room.choose(row, by_freedom(free[row], _others(free, row)), request.size, rate)
        if columns is not None:
            return row, columns
    return None


def _others(free: Sequence[int], row: int) -> list[int]:
    return [mask for other, mask in enumerate(free) if other != row]


def _on_files(free: Sequence[int], request: Request, room: Room, rate: int) -> Chosen:
    """The row with the fewest free cells in which all file nodes are free; a job without files is local anywhere."""
    files = request.files
    if not files:
        return _anywhere(free, request, room, rate)
    fitting = [
        (mask.bit_count(), row) for row, mask in enumerate(free) if not files & ~mask and room.carries(row, files, rate)
    ]
    return (min(fitting)[1], files) if fitting else None


def _files_first(free: Sequence[int], request: Request, room: Room, rate: int) -> Chosen:
    return _on_files(free, request, room, rate) or _anywhere(free, request, room, rate)


_CHOICES: dict[Where, Callable[[Sequence[int], Request, Room, int], Chosen]] = {
    Where.ANYWHERE: _anywhere,
    Where.FILES: _on_files,
    Where.FILES_FIRST: _files_first,
}
