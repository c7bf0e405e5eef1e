"""FillMatrix: replicate jobs into rows where their columns are free (Zhang et al. 2003, sections 3.2, 3.5, step 4)."""

from __future__ import annotations

from spillway.schedulers.timesharing.bandwidth import NO_STREAMS, Room, Streams
from spillway.schedulers.timesharing.matrix import Matrix


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


def _replicate(columns: int, index: int, rows: list[int], free: list[int], room: Room, rate: int) -> bool:
    """Give a job the first row that takes it."""
    for row, mask in enumerate(free):
        if not columns & ~mask and room.carries(row, columns, rate):
            room.take(row, columns, rate)
            free[row] = mask ^ columns
            rows[index] |= 1 << row
            return True
    return False
