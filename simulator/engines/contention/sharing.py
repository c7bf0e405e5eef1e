"""Sharing of the bandwidth of one resource among its children.

References
----------
Herbein et al., HPDC 2016 (DOI 10.1145/2907294.2907316), section 4.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def water_fill(requests: Sequence[float], peak: float, whole: bool = False) -> list[float]:
    """Bandwidth that each child gets: its request, or an equal share of the rest that smaller requests leave.

    ``ActualBW_i = min(ReqBW_i, (PeakBW - sum of ActualBW_j, j < i) / (n - i))``, requests ascending.

    Parameters
    ----------
    requests
        Requests of the children, >= 0, in any order.
    peak
        Bandwidth of the resource, >= 0, in the same unit.
    whole
        Whether shares are cut to whole units, as in one version of the authors' emulator, which counts whole MB/s. The
        remainder goes to the children served last.

    Returns
    -------
    list of float
        In the order of ``requests``.
    """
    if sum(requests) <= peak:
        return list(requests)
    if max(requests) == min(requests):
        return _equal_shares(len(requests), peak, whole)
    actual = [0.0] * len(requests)
    left, waiting = peak, len(requests)
    for index in sorted(range(len(requests)), key=requests.__getitem__):
        share = left // waiting if whole else left / waiting
        actual[index] = min(requests[index], share)
        left -= actual[index]
        waiting -= 1
    return actual


def _equal_shares(count: int, peak: float, whole: bool) -> list[float]:
    """Shares of equal requests that are too large: equal, but for a remainder of whole units (a shortcut)."""
    if not whole:
        return [peak / count] * count
    share, remainder = divmod(math.floor(peak), count)
    return [float(share)] * (count - remainder) + [float(share + 1)] * remainder
