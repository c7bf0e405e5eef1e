"""Ratios of two means in words: ``25 % less``, ``5 % lower to 3 % higher``, ``2.5 times as long``."""

from __future__ import annotations

import math
from dataclasses import dataclass

_MANIFOLD = 2.0
"""From this ratio on, a change is stated as a multiple, not in per cent."""


@dataclass(frozen=True)
class Wording:
    """The words for a ratio below 1, above 1, and far above it."""

    less: str
    more: str
    times: str

    def change(self, ratio: float, than: str) -> str:
        """``25 % less than without it``, ``4.0 times as long as without it``.

        Parameters
        ----------
        than
            The reference (``without it``), which follows ``than`` or the words for a multiple.
        """
        if ratio >= _MANIFOLD:
            return f"{_times(ratio)} {self.times} {than}"
        return f"{' '.join(self._amount(ratio))} than {than}"

    def span(self, low: float, high: float) -> str:
        """``10 to 25 % less``, ``5 % less to 3 % more``, ``2.5 to 4.5 times``: the smaller change first."""
        if high >= _MANIFOLD:
            return f"{_times(low)} to {_times(high)} times"
        if high < 1:
            low, high = high, low
        (ours, unit), (theirs, other) = self._amount(low), self._amount(high)
        return (
            f"{ours.removesuffix(' %')} to {theirs} {other}" if unit == other else f"{ours} {unit} to {theirs} {other}"
        )

    def _amount(self, ratio: float) -> tuple[str, str]:
        return per_cent(ratio), self.less if ratio < 1 else self.more


def per_cent(ratio: float) -> str:
    """Difference of a ratio from 1: ``25 %``, with one more digit near 0 and near 100 %."""
    amount = abs(100 * (ratio - 1))
    digits = 1 if 0.05 <= amount < 1 or 99 < amount < 100 else 0
    return f"{amount:.{digits}f} %"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if math.isfinite(ratio) else "infinitely many"
