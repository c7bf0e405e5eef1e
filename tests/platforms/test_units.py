"""Numbers with units, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.platforms import units


@pytest.mark.parametrize(
    ("scale", "text", "value"),
    [
        (units.SPEED, "1Gf", 1e9),
        (units.SPEED, "2.5gigaflops", 2.5e9),
        (units.SPEED, "100", 100.0),
        (units.BANDWIDTH, "1250MBps", 1.25e9),
        (units.BANDWIDTH, "10Gbps", 1.25e9),
        (units.BANDWIDTH, "1KiBps", 1024.0),
        (units.BANDWIDTH, "8Kibps", 1024.0),
        (units.BANDWIDTH, "1e6kBps", 1e9),
        (units.TIME, "50us", 50 * 1e-6),
        (units.TIME, "2h", 7200.0),
        (units.TIME, "0", 0.0),
        (units.SIZE, "40GB", 40e9),
        (units.SIZE, "1GiB", 1073741824.0),
    ],
)
def test_parse(scale: units.Scale, text: str, value: float) -> None:
    """SimGrid's units, decimal and binary, bits and bytes; without a unit the base unit."""
    assert scale.parse(text) == value


@pytest.mark.parametrize("text", ["", "GBps", "1 GBps", "1gbps", "-1GBps", "1e400GBps", "nan", "inf", "0x10", "1_0"])
def test_refused(text: str) -> None:
    """What is no finite non-negative number with a known unit is refused, saying what came."""
    with pytest.raises(ValueError, match=r"got|unknown unit"):
        units.BANDWIDTH.parse(text)


@pytest.mark.parametrize(
    ("scale", "value", "text"),
    [(units.BANDWIDTH, 1.25e9, "1250MBps"), (units.TIME, 50 * 1e-6, "50us"), (units.SPEED, 0.0, "0")],
)
def test_write_is_short(scale: units.Scale, value: float, text: str) -> None:
    """The shortest exact text is chosen."""
    assert scale.write(value) == text


@given(st.floats(min_value=0, max_value=1e18), st.sampled_from([units.SPEED, units.BANDWIDTH, units.TIME, units.SIZE]))
def test_round_trip(value: float, scale: units.Scale) -> None:
    """Every number reads back exactly as written."""
    assert scale.parse(scale.write(value)) == value
