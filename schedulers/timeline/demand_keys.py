"""Demands as single whole numbers, so that one subtraction compares all their parts.

Each part (nodes, bytes, duration, ...) is replaced by its rank among the values that occur, and the ranks stand side by
side in one word, each below a guard bit. With the guard bits of the one set, subtracting the other clears a guard bit
exactly where its part is larger: no borrow crosses a guard bit.

References
----------
L. Lamport, *Multiple byte processing with full-word instructions*, CACM 18(8), 1975.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_BITS = 63
"""Bits of a key, guard bits included."""

Ints = npt.NDArray[np.int64]


class DemandKeys(NamedTuple):
    """Keys: demand ``k`` requests no more of all than ``j`` if ``~((above[j] | guards) - below[k]) & guards == 0``.

    Attributes
    ----------
    below, above
        Keys of the demands as the smaller and the larger one of a comparison. They are equal unless there are more
        values than bits: then ranks are made coarse, ``below`` upwards and ``above`` downwards, and some pairs no
        longer compare.
    guards
        The guard bits.
    nothing
        A key that is larger in every part than those of all demands, so that it compares below no demand.
    """

    below: Ints
    above: Ints
    guards: int
    nothing: int


def demand_keys(parts: Ints) -> DemandKeys:
    """Make keys of demands; ``parts[p, k]`` is part ``p`` of demand ``k``, and all parts rise with the demand."""
    ranks = [np.unique(part, return_inverse=True)[1].astype(np.int64) for part in parts]
    ranks = [rank for number, rank in enumerate(ranks) if number == 0 or rank.max(initial=0) > 0]
    below, above = list(ranks), list(ranks)
    widths = [_width(rank) for rank in below]
    while sum(widths) + len(widths) > _BITS:
        widest = widths.index(max(widths))
        below[widest], above[widest] = (below[widest] + 1) >> 1, above[widest] >> 1
        widths[widest] = _width(below[widest])
    shift, guards, nothing = 0, 0, 0
    keys = np.zeros((2, parts.shape[1]), np.int64)
    for one, other, width in zip(below, above, widths, strict=True):
        keys[0] |= one << shift
        keys[1] |= other << shift
        nothing |= ((1 << width) - 1) << shift
        shift += width
        guards |= 1 << shift
        shift += 1
    return DemandKeys(keys[0], keys[1], guards, nothing)


def _width(rank: Ints) -> int:
    """Number of bits for the ranks and for one more number, which is above all of them."""
    return int(rank.max(initial=0) + 1).bit_length()
