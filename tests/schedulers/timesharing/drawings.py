"""Matrices as text: one line per row, one letter per cell, ``.`` for a hole; the first row that names a job is its
home."""

from __future__ import annotations

from collections.abc import Mapping

from spillway.schedulers.timesharing.columns import mask_of
from tests.reference.gang_matrix import Matrix, Place


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
