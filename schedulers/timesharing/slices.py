"""The arithmetic of slices in whole microseconds: their numbers, rows and beginnings.

Slice ``n`` is ``[n quantum, (n + 1) quantum)`` and belongs to row ``n mod level``.
"""

from __future__ import annotations

from typing import NamedTuple

MICRO = 1_000_000
"""Microseconds in a second: Batsim's clock has six decimals."""


def to_us(seconds: float) -> int:
    """Seconds as whole microseconds."""
    return round(seconds * MICRO)


class Slices(NamedTuple):
    """The division of time.

    Attributes
    ----------
    level
        Number of rows.
    quantum_us
        Length of a slice in microseconds.
    """

    level: int
    quantum_us: int

    def number(self, now_us: int) -> int:
        """Number of the slice at an instant."""
        return now_us // self.quantum_us

    def row(self, now_us: int) -> int:
        """Row that runs at an instant."""
        return now_us // self.quantum_us % self.level

    def boundary_us(self, now_us: int) -> int:
        """The next beginning of a slice after an instant."""
        return (now_us // self.quantum_us + 1) * self.quantum_us

    def begin_us(self, now_us: int) -> int:
        """The first beginning of a slice that is not before an instant."""
        return -(-now_us // self.quantum_us) * self.quantum_us
