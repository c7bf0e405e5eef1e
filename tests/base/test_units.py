"""Quantities: reading and writing numbers with units, common spellings, changes, rounded figures."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base import units


@pytest.mark.parametrize(("scale", "text", "value"), [
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
])  # fmt: skip
def test_parse(scale: units.Scale, text: str, value: float) -> None:
    """SimGrid's units, decimal and binary, bits and bytes; without a unit the base unit."""
    assert scale.parse(text) == value


@pytest.mark.parametrize("text", ["", "GBps", "1 GBps", "1gbps", "-1GBps", "1e400GBps", "nan", "inf", "0x10", "1_0"])
def test_refused(text: str) -> None:
    """Only finite non-negative numbers with a known unit are accepted; the error quotes the text."""
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


@pytest.mark.parametrize(("scale", "text", "value"), [
    (units.SIZE, "200 GB", 2e11),
    (units.SIZE, " 200GB ", 2e11),
    (units.SIZE, "1.5 TiB", 1.5 * 2**40),
    (units.SIZE, "64KB", 64e3),
    (units.SIZE, "0", 0.0),
    (units.BANDWIDTH, "5 GB/s", 5e9),
    (units.BANDWIDTH, "1GiB/s", 2.0**30),
    (units.TIME, "24h", 86_400.0),
    (units.TIME, "30 min", 1800.0),
])  # fmt: skip
def test_what_a_person_writes(scale: units.Scale, text: str, value: float) -> None:
    """A space before the unit, and the units that people write."""
    assert scale.read(text) == value


@pytest.mark.parametrize(("scale", "text", "message"), [
    (units.SIZE, "200", "'200' has no unit: expected one of B, kB, MB, GB, TB, such as '40GB'"),
    (units.SIZE, "1.2", "'1.2' has no unit"),
    (units.BANDWIDTH, "5e9", "'5e9' has no unit: expected one of Bps, kBps, MBps, GBps, TBps, such as '1250MBps'"),
    (units.SIZE, "4 elephants", "unknown unit 'elephants'"),
    (units.SIZE, "GB", "expected a number with a unit such as '40GB', got 'GB'"),
    (units.SIZE, "-1 GB", "must be finite and not negative"),
    (units.TIME, "3 weeks", "unknown unit 'weeks'"),
])  # fmt: skip
def test_a_bare_number_is_no_quantity(scale: units.Scale, text: str, message: str) -> None:
    """A bare 200 hardly means bytes: the error lists the units. SimGrid's files have bare numbers (``parse``)."""
    with pytest.raises(ValueError, match=re.escape(message)):
        scale.read(text)


@pytest.mark.parametrize(("text", "scale", "value"), [
    ("x1.2", units.SIZE, 48e9),
    ("+20%", units.SIZE, 48e9),
    ("-25 %", units.SIZE, 30e9),
    ("200 GB", units.SIZE, 2e11),
    ("x0.5", None, 20e9),
    ("120", None, 120.0),
    ("+40TB", units.SIZE, 40.04e12),
    ("+ 5 GB", units.SIZE, 45e9),
    ("-10GB", units.SIZE, 30e9),
    ("+20", None, 40e9 + 20),
    ("-2", None, 40e9 - 2),
])  # fmt: skip
def test_changes(text: str, scale: units.Scale | None, value: float) -> None:
    """A factor or a percentage of the current value, an amount more or less (was: a new value), or a new value."""
    assert units.changed(text, 40e9, scale) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    ["1.2", "200", "20%", "x", "xx2", "+%", "x0", "-100%", "x-1", "xinf", "xnan", "many", "", "+", "+-5GB", "++5GB"],
)
def test_what_is_no_change(text: str) -> None:
    """The message has all forms."""
    words = "a factor such as x1.2 or +20%, more or less such as +40GB, or a value with its unit such as 40GB, above 0"
    with pytest.raises(ValueError, match=re.escape(words)):
        units.changed(text, 40e9, units.SIZE)


def test_nothing_remains() -> None:
    """The message states the present value."""
    with pytest.raises(ValueError, match="expected a value above 0 to remain of 40GB"):
        units.changed("-41GB", 40e9, units.SIZE)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (1e-6, "0 s"),  # the last digit of Batsim's times
        (5e-6, "0.005 ms"),
        (0.00035, "0.35 ms"),
        (0.99, "990 ms"),
        (4.21, "4.21 s"),
        (59.97, "1 min"),
        (69.76, "1 min 10 s"),
        (758.7, "12 min 39 s"),
        (3599.7, "1 h"),
        (9107.7, "2 h 32 min"),
        (86_399, "1 d"),
        (168_526, "1 d 23 h"),
        (2_744_558.02, "31 d 18 h"),
        (8_640_000 + 7200, "100 d"),
        (86_400 * 12_345, "12,345 d"),
        (-61, "-1 min 1 s"),
        (math.nan, "–"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    """Seconds in readable units; a duration that rounds up to the next unit is written in that unit."""
    assert units.duration(seconds) == words


def test_shares_sizes_and_numbers() -> None:
    """Per cent, bytes, counts and ratios."""
    assert [units.share(value) for value in (0, 0.6407, 1, 0.00035, math.nan)] == [
        "0 %",
        "64.1 %",
        "100 %",
        "0.035 %",
        "–",
    ]
    assert [units.size(value) for value in (0, 480e9, 999.9e9, 125e6, math.nan)] == [
        "0 B",
        "480 GB",
        "1,000 GB",
        "125 MB",
        "–",
    ]
    numbers = (1234567.8, 12, 12.345, 0.123456, 590.2, math.nan)
    assert [units.number(value) for value in numbers] == ["1,234,568", "12", "12.35", "0.123", "590.2", "–"]
