"""CleanMatrix: remove every instance of a job that is not in its home row (Zhang et al. 2003, section 3.2, step 1)."""

from __future__ import annotations

from spillway.schedulers.timesharing.matrix import Matrix


def clean(matrix: Matrix, closed: int = 0) -> Matrix:
    """The matrix without replicas, which frees cells for waiting jobs.

    Jobs on a column of the mask ``closed`` stay as they are: they could not run in another row.
    """
    places = [place if place.columns & closed else place.within(1 << place.home) for place in matrix.places]
    return matrix._replace(places=tuple(places))
