"""Runs of items are copied as slices are, overlapping or not."""

from __future__ import annotations

import numpy as np
import pytest
from numba import int64, njit, void

from spillway.schedulers.timeline.copying import copy_items
from spillway.schedulers.timeline.kernel_types import ROWS


@njit(void(ROWS, int64, ROWS, int64, int64))
def _copy(target, to, source, begin, count):
    copy_items(target, to, source, begin, count)


@pytest.mark.parametrize(
    ("to", "begin", "count"), [(0, 3, 5), (3, 0, 5), (2, 1, 4), (1, 2, 4), (4, 4, 2), (0, 5, 0), (0, 5, -1)]
)
def test_same_as_slices(to: int, begin: int, count: int) -> None:
    """Within one array, and from one to another; no other item changes."""
    source = np.arange(30, dtype=np.int64).reshape(10, 3)
    within, expected, between = source.copy(), source.copy(), np.zeros_like(source)
    if count > 0:
        expected[to : to + count] = source[begin : begin + count]
    _copy(within, to, within, begin, count)
    assert (within == expected).all()
    _copy(between, to, source, begin, count)
    assert (between[to : to + max(count, 0)] == source[begin : begin + max(count, 0)]).all()
    assert between.sum() == source[begin : begin + max(count, 0)].sum()
