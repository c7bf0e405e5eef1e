"""The arithmetic of slices in whole microseconds: running rows, time received by jobs, instants at which they end.

Slice ``n`` is ``[n quantum, (n + 1) quantum)`` and belongs to row ``n mod level``. A job that runs in ``k`` rows
receives ``k`` quanta per cycle, so both directions (time to service, service to time) need only a division and one
partial cycle. Integers make that exact.
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

    def service_us(self, now_us: int, rows: int) -> int:
        """Time that a job in these rows (a mask, not 0) would have received since time 0."""
        cycles, left = divmod(now_us, self.quantum_us * self.level)
        row, within = divmod(left, self.quantum_us)
        before = (rows & ((1 << row) - 1)).bit_count()
        return (cycles * rows.bit_count() + before) * self.quantum_us + (within if rows >> row & 1 else 0)

    def instant_us(self, service_us: int, rows: int) -> int:
        """The first instant at which :meth:`service_us` is this much (more than 0)."""
        quanta, within = divmod(service_us - 1, self.quantum_us)
        cycles, nth = divmod(quanta, rows.bit_count())
        for _ in range(nth):
            rows &= rows - 1
        row = (rows & -rows).bit_length() - 1
        return (cycles * self.level + row) * self.quantum_us + within + 1

    def end_us(self, now_us: int, need_us: int, rows: int) -> int:
        """Instant at which a job in these rows has received a further ``need_us`` (more than 0)."""
        return self.instant_us(self.service_us(now_us, rows) + need_us, rows)
