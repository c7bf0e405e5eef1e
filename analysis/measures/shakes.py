"""A figure with a distribution-free band from runs with shaken input.

The k-th smallest and the k-th largest of n independent values enclose the median of their distribution with probability
1 - 2 P(B < k), where B is the number of heads of n coins; k is the largest value with enough probability. With ten
shakes the second smallest and the second largest enclose it with 97.9 %, the smallest and the largest with 99.8 %:
enough for 25 bands that hold together with 95 % (Bonferroni's correction).

References
----------
David, Nagaraja, *Order statistics*, 3rd edition, 2003, section 7.1 (distribution-free intervals of quantiles).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from spillway.analysis.measures.compare import CONFIDENCE, Interval


def together(bands: int) -> float:
    """Confidence of each of ``bands`` bands that hold together with 95 %."""
    return 1.0 - (1.0 - CONFIDENCE) / max(bands, 1)


def fewest(bands: int) -> int:
    """Fewest shakes that give ``bands`` bands that hold together with 95 %."""
    return 1 + math.ceil(-math.log2(1.0 - together(bands)) - 1e-9)


def band_of(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Median of some values with its band; both ends NaN where the values are too few, or one is NaN."""
    if not values or any(map(math.isnan, values)):
        return Interval(math.nan, math.nan, math.nan)
    ordered = sorted(values)
    cut = _cut(len(ordered), confidence)
    middle = float(np.median(ordered)) if math.isfinite(ordered[-1]) else ordered[len(ordered) // 2]
    if cut == 0:
        return Interval(middle, math.nan, math.nan)
    return Interval(middle, ordered[cut - 1], ordered[-cut])


def around(value: float, values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """A figure of the log as it is, with the band of its shakes, widened to hold it: pages state one figure."""
    band = band_of(values, confidence)
    if not band.is_known or math.isnan(value):
        return Interval(value, math.nan, math.nan)
    return Interval(value, min(band.low, value), max(band.high, value))


def _cut(count: int, confidence: float) -> int:
    """Rank, from either end, of the two values that enclose the median; 0 where no two values do."""
    below, cut = 0.0, 0
    while cut < count // 2:
        below += math.comb(count, cut) / 2.0**count
        if 2.0 * below > 1.0 - confidence:
            break
        cut += 1
    return cut
