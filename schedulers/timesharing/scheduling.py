"""Schedule: place waiting jobs first come, first served (Zhang et al. 2003, sections 3.2, 3.3, 3.5, step 3)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence

from schedulers.timesharing.columns import freest
from schedulers.timesharing.matrix import Matrix, Place, Request


class Where(enum.Enum):
    """Where a waiting job may be put."""

    ANYWHERE = "anywhere"
    """On the columns that are free in most rows: plain gang scheduling."""
    FILES = "files"
    """On its file's nodes, or it waits: I/O-aware gang scheduling."""
    FILES_FIRST = "files-first"
    """On its file's nodes if they are free in some row, else anywhere: adaptive."""


Hold = Callable[[Request, int], bool]
"""Takes what a job needs beside cells (a burst buffer) for these columns; false where that is lacking."""


def schedule(
    matrix: Matrix, queue: Iterable[Request], where: Where, closed: int = 0, hold: Hold | None = None
) -> tuple[Matrix, int]:
    """Place waiting jobs in their order until one does not fit.

    Parameters
    ----------
    matrix
        A matrix without replicas.
    queue
        Waiting jobs, the first first.
    where
        Where a job may be put.
    closed
        Mask of columns that take no further jobs (nodes that are not available).
    hold
        What jobs need beside cells; by default nothing.

    Returns
    -------
    tuple
        The matrix with the placed jobs at its end, and how many there are.
    """
    usable = matrix.all_columns & ~closed
    free = [usable & ~mask for mask in matrix.occupied()]
    choose = _CHOICES[where]
    placed: list[Place] = []
    for request in queue:
        found = choose(free, request)
        if found is None:
            break
        row, columns = found
        if hold is not None and not hold(request, columns):
            break
        free[row] &= ~columns
        placed.append(Place(request.job, columns, row, 1 << row, request.files))
    return matrix._replace(places=(*matrix.places, *placed)), len(placed)


def _anywhere(free: Sequence[int], request: Request) -> tuple[int, int] | None:
    """The row with the least free cells that are enough; in it the columns free in most other rows."""
    fitting = [(mask.bit_count(), row) for row, mask in enumerate(free) if mask.bit_count() >= request.size]
    if not fitting:
        return None
    row = min(fitting)[1]
    columns = freest(free[row], [mask for other, mask in enumerate(free) if other != row], request.size)
    assert columns is not None
    return row, columns


def _on_files(free: Sequence[int], request: Request) -> tuple[int, int] | None:
    """The row with the least free cells in which all file nodes are free; a job without files is at home anywhere."""
    files = request.files
    if not files:
        return _anywhere(free, request)
    fitting = [(mask.bit_count(), row) for row, mask in enumerate(free) if not files & ~mask]
    return (min(fitting)[1], files) if fitting else None


def _files_first(free: Sequence[int], request: Request) -> tuple[int, int] | None:
    return _on_files(free, request) or _anywhere(free, request)


_CHOICES: dict[Where, Callable[[Sequence[int], Request], tuple[int, int] | None]] = {
    Where.ANYWHERE: _anywhere,
    Where.FILES: _on_files,
    Where.FILES_FIRST: _files_first,
}
