"""Slices: their rows and beginnings, and microseconds."""

import pytest

from spillway.schedulers.timesharing.slices import Slices, to_us


def test_rows_and_boundaries() -> None:
    """Slices of 200 of five rows."""
    slices = Slices(5, 200)
    assert [slices.row(t) for t in (0, 199, 200, 999, 1000)] == [0, 0, 1, 4, 0]
    assert [slices.boundary_us(t) for t in (0, 199, 200)] == [200, 200, 400]
    assert slices.number(1400) == 7


@pytest.mark.parametrize(("seconds", "micro"), [(0.0, 0), (1.0000004, 1000000), (583.123457, 583123457)])
def test_seconds_to_microseconds(seconds: float, micro: int) -> None:
    """Batsim's six decimals."""
    assert to_us(seconds) == micro
