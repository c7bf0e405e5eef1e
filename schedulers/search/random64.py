"""A small generator of pseudo-random numbers that compiled and plain code can share, number by number.

SplitMix64: G. L. Steele, D. Lea, C. H. Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
The state is one 64-bit word in an array of one element, so that a compiled function can move it on.
"""

from __future__ import annotations

import numpy as np

from spillway.base.kernel_cache import njit

_STATE = "uint64[::1]"


@njit(f"uint64({_STATE})", cache=True)
def next_word(state):
    """Next 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(f"float64({_STATE})", cache=True)
def uniform(state):
    """Next number in (0, 1): never 0, so that its logarithm is finite."""
    return (np.float64(next_word(state) >> np.uint64(12)) + 0.5) * 2.0**-52


@njit(f"int64({_STATE}, int64)", cache=True)
def below(state, limit):
    """Next whole number from 0 to ``limit - 1`` (``limit`` below 2^31; the bias is under 2^-33)."""
    return np.int64(((next_word(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))
