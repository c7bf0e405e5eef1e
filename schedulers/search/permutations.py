"""Orders to start a search from, or to try them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt

Order = npt.NDArray[np.int64]


def all_orders(number: int) -> Iterator[Order]:
    """Yield every order of ``number`` things, beginning with the given one; lexicographic."""
    for order in permutations(range(number)):
        yield np.array(order, np.int64)


def sorted_by(columns: Iterable[Sequence[float]]) -> Iterator[Order]:
    """Yield the order by each column of keys, smallest first; equal keys stay in the given order."""
    for column in columns:
        yield np.argsort(np.asarray(column, np.float64), kind="stable")
