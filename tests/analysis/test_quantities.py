"""Figures for readers: the largest two units, no digits without meaning."""

from __future__ import annotations

import math

import pytest

from spillway.analysis import quantities


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
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
    """Seconds as a reader would write them; what rounds up to the next unit is in the next unit."""
    assert quantities.duration(seconds) == words


def test_shares_sizes_and_numbers() -> None:
    """Per cent, bytes, counts and ratios."""
    assert [quantities.share(value) for value in (0, 0.6407, 1, 0.00035, math.nan)] == [
        "0 %",
        "64.1 %",
        "100 %",
        "0.035 %",
        "–",
    ]
    assert [quantities.size(value) for value in (0, 480e9, 999.9e9, 125e6, math.nan)] == [
        "0 B",
        "480 GB",
        "1,000 GB",
        "125 MB",
        "–",
    ]
    numbers = (1234567.8, 12, 12.345, 0.123456, 590.2, math.nan)
    assert [quantities.number(value) for value in numbers] == ["1,234,568", "12", "12.35", "0.123", "590.2", "–"]
