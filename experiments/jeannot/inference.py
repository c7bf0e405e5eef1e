"""Tests without assumptions on distributions: sign flips of paired differences, bootstrap intervals, Holm's correction.

Everything random is drawn with a fixed seed: the same data give the same figures.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

EXACT = 14
"""Up to so many values all sign patterns are tried; beyond, :data:`FLIPS` random ones."""
FLIPS = 10_000
RESAMPLES = 2_000
SEED = 20230518


class Tested(NamedTuple):
    """A sample of values that a claim states to be positive.

    Attributes
    ----------
    size
        Number of values.
    mean, low, high
        Mean and its 95 % interval (percentile bootstrap).
    above, below
        One-sided p-values of the sign-flip permutation test: that the mean is above, or below, 0 by chance alone.
    """

    size: int
    mean: float
    low: float
    high: float
    above: float
    below: float


def sign_flip(values: Sequence[float] | Floats) -> Tested:
    """Test whether the mean of paired differences is above or below 0.

    If nothing distinguishes the two of a pair, each difference is as likely with the other sign. The p-value is the
    share of sign patterns whose mean is at least as far on that side.
    """
    sample = np.asarray(values, np.float64)
    if not len(sample):
        return Tested(0, np.nan, np.nan, np.nan, 1.0, 1.0)
    mean = float(sample.mean())
    low, high = interval(sample)
    means = _flipped(sample)
    tolerance = 1e-12 * float(np.abs(sample).max())
    above = float(np.mean(means >= mean - tolerance))
    below = float(np.mean(means <= mean + tolerance))
    return Tested(len(sample), mean, low, high, above, below)


def interval(values: Sequence[float] | Floats) -> tuple[float, float]:
    """95 % interval of the mean (percentile bootstrap)."""
    sample = np.asarray(values, np.float64)
    low, high = np.percentile(_resamples(len(sample)) @ sample, [2.5, 97.5])
    return float(low), float(high)


def _flipped(sample: Floats) -> Floats:
    return np.asarray(_signs(len(sample)) @ sample / len(sample), np.float64)


@lru_cache(maxsize=8)
def _signs(size: int) -> Floats:
    """Sign patterns, one per row: all of them, or many random ones."""
    if size <= EXACT:
        return np.array(list(itertools.product((1.0, -1.0), repeat=size)))
    rng = np.random.Generator(np.random.PCG64(SEED))
    flips = rng.integers(0, 2, (FLIPS, size), np.int8) * 2.0 - 1.0
    flips[0] = 1.0  # the observed pattern is one of them: no p-value is 0
    return np.asarray(flips, np.float64)


@lru_cache(maxsize=8)
def _resamples(size: int) -> Floats:
    """Weights of the values in bootstrap samples, one per row."""
    picks = np.random.Generator(np.random.PCG64(SEED)).integers(0, size, (RESAMPLES, size))
    rows = np.repeat(np.arange(RESAMPLES), size)
    counts = np.bincount(rows * size + picks.ravel(), minlength=RESAMPLES * size)
    return np.asarray(counts.reshape(RESAMPLES, size) / size, np.float64)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values for their number (Holm 1979): the chance of a single false alarm among all stays below each."""
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_value))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}


def rank_correlation(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float:
    """Spearman's rank correlation, ties by their mean rank; 0 where one of the two does not vary."""
    one, two = _ranks(np.asarray(first, np.float64)), _ranks(np.asarray(second, np.float64))
    one, two = one - one.mean(), two - two.mean()
    scale = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / scale if scale > 0 else 0.0


def _ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Floats = ends - 0.5 * (counts - 1)
    return middle[inverse]


def slope(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float:
    """Slope of the least-squares line; 0 where ``x`` does not vary."""
    first, second = np.asarray(x, np.float64), np.asarray(y, np.float64)
    first = first - first.mean()
    spread = float(first @ first)
    return float(first @ second) / spread if spread > 0 else 0.0
