"""Sets of columns (nodes) as the bits of a whole number: bit ``c`` stands for column ``c``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


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


def lowest(mask: int, count: int) -> int:
    """The mask of the ``count`` lowest columns of a mask that has at least as many."""
    surplus = mask.bit_count() - count
    if surplus <= count:
        for _ in range(surplus):
            mask ^= 1 << (mask.bit_length() - 1)
        return mask
    chosen = 0
    for _ in range(count):
        low = mask & -mask
        chosen |= low
        mask ^= low
    return chosen


def freest(free: int, others: Iterable[int], count: int) -> int | None:
    """Choose ``count`` columns of ``free``: those in the most of the ``others`` first, then the lowest.

    Parameters
    ----------
    free
        Columns to choose from.
    others
        One mask per other row: its free columns.
    count
        Number of columns to choose, at least 1.

    Returns
    -------
    int or None
        The chosen columns; ``None`` when ``free`` has too few.
    """
    if free.bit_count() < count:
        return None
    chosen = 0
    for mask in by_freedom(free, others):
        fresh = mask & ~chosen
        wanted = count - chosen.bit_count()
        if fresh.bit_count() >= wanted:
            return chosen | lowest(fresh, wanted)
        chosen |= fresh
    raise AssertionError("the last mask is the whole of free")


def by_freedom(free: int, others: Iterable[int]) -> Iterator[int]:
    """The columns of ``free`` that are in all of the ``others``, those in all but one or more, ..., all of ``free``."""
    at_least = [free]  # at_least[k]: columns of ``free`` that are in k of the others or more
    for other in others:
        at_least.append(at_least[-1] & other)
        for k in range(len(at_least) - 2, 0, -1):
            at_least[k] |= at_least[k - 1] & other
    return reversed(at_least)
