"""Keys of demands compare as the demands do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spillway.core import demand_keys

PARTS = st.integers(1, 6).flatmap(
    lambda parts: st.lists(
        st.lists(st.integers(-3, 6) | st.integers(-(2**62), 2**62), min_size=parts, max_size=parts), min_size=1
    )
)


class DemandKeys(NamedTuple):
    """Keys as the smaller and the larger one of a comparison, the guard bits, and a key that is below no demand."""

    below: list[int]
    above: list[int]
    guards: int
    nothing: int


def no_more(keys: DemandKeys, one: int, other: int) -> bool:
    """Whether one demand compares as one that requests no more of anything than another."""
    left = (keys.above[other] | keys.guards) - one
    return ~left & keys.guards == 0


@given(PARTS)
def test_keys_compare_as_all_parts_do(demands: list[list[int]]) -> None:
    """Every pair, and the key that is below no other."""
    keys = DemandKeys(*demand_keys([list(part) for part in zip(*demands, strict=True)]))
    for k, mine in enumerate(demands):
        for j, theirs in enumerate(demands):
            expected = all(a <= b for a, b in zip(mine, theirs, strict=True))
            assert no_more(keys, keys.below[k], j) == expected
        assert not no_more(keys, keys.nothing, k)


def test_with_more_values_than_bits_no_pair_compares_wrongly() -> None:
    """Six parts of 5,000 values need 84 bits: some pairs no longer compare, but no pair compares wrongly."""
    rng = np.random.default_rng(5)
    parts = rng.permuted(np.tile(np.arange(5000), (6, 1)), axis=1)
    parts[:, 1] = parts[:, 0] + 100  # one that is above another by more than ranks are made coarse
    keys = DemandKeys(*demand_keys(parts.tolist()))
    below = np.array(keys.below, np.int64)
    assert keys.guards.bit_length() <= 63
    assert no_more(keys, keys.below[0], 1)
    for j in range(200):
        left = (keys.above[j] | keys.guards) - below
        compared = (~left & keys.guards) == 0
        assert not (compared & (parts > parts[:, j : j + 1]).any(axis=0)).any()
