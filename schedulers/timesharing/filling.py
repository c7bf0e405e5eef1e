"""FillMatrix: replicate jobs into rows where their columns are free (Zhang et al. 2003, sections 3.2, 3.5, step 4)."""

from __future__ import annotations

from schedulers.timesharing.columns import columns_of
from schedulers.timesharing.matrix import Matrix


def fill(matrix: Matrix, local_first: bool = False) -> Matrix:
    """Fill holes: jobs in order of their start get one further row each, again and again until nobody fits.

    Parameters
    ----------
    matrix
        A matrix, usually without replicas.
    local_first
        Two queues: remote jobs get what local jobs have left (the adaptive policies).
    """
    free = [matrix.all_columns & ~mask for mask in matrix.occupied()]
    rows = [place.rows for place in matrix.places]
    everyone = range(len(rows))
    if local_first:
        queues = [[index for index in everyone if matrix.places[index].local is local] for local in (True, False)]
    else:
        queues = [list(everyone)]
    for queue in queues:
        while queue:  # whom no row takes now none will take later: rows only fill up
            queue = [index for index in queue if _replicate(matrix, index, rows, free)]
    places = tuple([place.within(mask) for place, mask in zip(matrix.places, rows, strict=True)])
    return matrix._replace(places=places)


def _replicate(matrix: Matrix, index: int, rows: list[int], free: list[int]) -> bool:
    """Give a job the first row that takes it."""
    columns = matrix.places[index].columns
    for row, mask in enumerate(free):
        if not columns & ~mask:
            free[row] = mask ^ columns
            rows[index] |= 1 << row
            return True
    return False


def share_of_cells(matrix: Matrix) -> float:
    """Share of the cells that hold a task, from 0 to 1."""
    used = sum(len(columns_of(place.rows)) * place.columns.bit_count() for place in matrix.places)
    return used / (matrix.level * matrix.width)
