"""Service by closed formulas against walking microsecond by microsecond."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.timesharing.slices import Slices, to_us


def test_rows_and_boundaries() -> None:
    """Slices of 200 of five rows."""
    slices = Slices(5, 200)
    assert [slices.row(t) for t in (0, 199, 200, 999, 1000)] == [0, 0, 1, 4, 0]
    assert [slices.boundary_us(t) for t in (0, 199, 200)] == [200, 200, 400]
    assert slices.number(1400) == 7


def test_a_job_in_one_row_of_five() -> None:
    """500 of service from instant 100 on in row 0: 100 in this slice, 200 in each of the next two cycles."""
    slices = Slices(5, 200)
    assert slices.end_us(100, 500, 0b00001) == 2200
    assert slices.end_us(100, 501, 0b00001) == 3001
    assert slices.end_us(100, 500, 0b11111) == 600


@given(
    level=st.integers(1, 5),
    quantum=st.integers(1, 7),
    rows=st.integers(1, 31),
    now=st.integers(0, 60),
    need=st.integers(1, 60),
)
def test_against_a_walk(level: int, quantum: int, rows: int, now: int, need: int) -> None:
    """Closed form and walk agree, in both directions."""
    rows &= (1 << level) - 1
    if not rows:
        return
    slices = Slices(level, quantum)
    assert slices.service_us(now, rows) == sum(rows >> slices.row(t) & 1 for t in range(now))
    instant, left = now, need
    while left:
        left -= rows >> slices.row(instant) & 1
        instant += 1
    assert slices.end_us(now, need, rows) == instant


@pytest.mark.parametrize(("seconds", "micro"), [(0.0, 0), (1.0000004, 1000000), (583.123457, 583123457)])
def test_seconds_to_microseconds(seconds: float, micro: int) -> None:
    """Batsim's six decimals."""
    assert to_us(seconds) == micro
