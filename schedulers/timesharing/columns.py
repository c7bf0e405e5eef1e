"""Sets of columns (nodes) as the bits of a whole number: bit ``c`` stands for column ``c``."""

from __future__ import annotations

from collections.abc import Iterable


def mask_of(columns: Iterable[int]) -> int:
    """The mask of some columns."""
    mask = 0
    for column in columns:
        mask |= 1 << column
    return mask


def columns_of(mask: int) -> tuple[int, ...]:
    """The columns of a mask, ascending."""
    columns = []
    while mask:
        low = mask & -mask
        columns.append(low.bit_length() - 1)
        mask ^= low
    return tuple(columns)
