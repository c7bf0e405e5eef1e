"""Correlation of ranks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def rank_correlation(first: Floats, second: Floats) -> float:
    """Spearman's rank correlation, ties by their mean rank; 0 where one of the two does not vary."""
    one, two = _ranks(first), _ranks(second)
    one, two = one - one.mean(), two - two.mean()
    scale = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / scale if scale > 0 else 0.0


def _ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Floats = ends - 0.5 * (counts - 1)
    return middle[inverse]
