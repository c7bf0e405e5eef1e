"""CleanMatrix: remove every instance of a job that is not in its home row (Zhang et al. 2003, section 3.2, step 1)."""

from __future__ import annotations

from schedulers.timesharing.matrix import Matrix


def clean(matrix: Matrix) -> Matrix:
    """The matrix without replicas, which opens room for waiting jobs."""
    return matrix._replace(places=tuple([place.within(1 << place.home) for place in matrix.places]))
