"""The band of shaken plays: what it is made of, and how often it holds the median."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spillway.analysis.shakes import FEWEST, band_of


@pytest.mark.parametrize(("count", "cut"), [(6, 0), (8, 0), (9, 1), (10, 1), (20, 5), (100, 39)])
def test_order_statistics(count: int, cut: int) -> None:
    """So many values at each end are outside (tables of the sign test, 5 % on both sides)."""
    band = band_of([float(value) for value in reversed(range(count))])
    assert (band.low, band.high) == (cut, count - 1 - cut)
    assert band.value == (count - 1) / 2


def test_too_few_or_not_known() -> None:
    """No band below six values, nor with one that is no number; an infinite ratio is one."""
    assert not band_of([1.0] * (FEWEST - 1)).is_known
    assert band_of([1.0] * (FEWEST - 1)).value == 1.0
    assert math.isnan(band_of([math.nan, *[1.0] * 9]).value)
    assert math.isnan(band_of([]).value)
    assert band_of([*[2.0] * 9, math.inf]).high == 2.0


def test_it_holds_the_median_of_a_skewed_law() -> None:
    """Of 4,000 samples of ten at least 95 % hold it, whatever the law."""
    samples = np.random.default_rng(1).exponential(size=(4000, 10))
    held = [band.low <= math.log(2) <= band.high for band in map(band_of, samples.tolist())]
    assert 0.97 < np.mean(held) < 0.985  # 97.85 % by the binomial law
