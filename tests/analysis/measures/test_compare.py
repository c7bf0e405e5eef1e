"""Comparisons of runs with their intervals, and the band of shaken runs."""

import dataclasses
import math

import numpy as np
import pytest

from spillway.analysis.errors import AnalysisError
from spillway.analysis.measures import compare
from spillway.analysis.measures.shakes import band_of, fewest, together
from spillway.analysis.tables.jobs import JobTable


def test_pairs_by_hand() -> None:
    """Half of every value: ratio exactly 0.5, won everywhere except at the tie."""
    baseline = np.array([10.0, 20.0, 30.0, 0.0])
    paired = compare.compare_runs([baseline / 2], [baseline])
    assert paired.ratio.value == 0.5
    assert paired.difference.value == -7.5
    assert (paired.win, paired.loss, paired.pairs) == (0.75, 0.0, 4)
    assert paired.effect == pytest.approx(-7.5 / np.std([5, 10, 15, 0], ddof=1))


def test_pairs_must_match() -> None:
    """Runs of different length, or without jobs, are refused."""
    for policy, baseline in ((np.ones(1), np.ones(2)), (np.ones(0), np.ones(0))):
        with pytest.raises(AnalysisError, match="the same jobs, and at least one"):
            compare.compare_runs([policy], [baseline])


def test_align_by_job(table: JobTable) -> None:
    """Tables written in different orders are matched job by job; jobs missing in one are left out."""
    first, second = compare.align(table, table.take(np.array([3, 2, 0])))
    assert list(first.job_id) == list(second.job_id) == ["a", "c"]
    assert second.start_s.tolist() == [0, 50]


def test_align_refuses_different_workloads(table: JobTable) -> None:
    """Nothing in common is an error, not an empty table."""
    other = dataclasses.replace(table, workload=["w9"] * 4)
    with pytest.raises(AnalysisError, match="same workload"):
        compare.align(table, other)


def test_zero_baseline() -> None:
    """A baseline of zeros has no ratio, but a difference."""
    paired = compare.compare_runs([np.ones(3)], [np.zeros(3)])
    assert np.isnan(paired.ratio.value)
    assert paired.difference.value == 1.0


@pytest.mark.parametrize(("count", "cut"), [(6, 0), (8, 0), (9, 1), (10, 1), (20, 5), (100, 39)])
def test_order_statistics(count: int, cut: int) -> None:
    """So many values at each end are outside (tables of the sign test, 5 % on both sides)."""
    band = band_of([float(value) for value in reversed(range(count))])
    assert (band.low, band.high) == (cut, count - 1 - cut)
    assert band.value == (count - 1) / 2


def test_too_few_or_not_known() -> None:
    """No band below six values, nor with one that is no number; an infinite ratio is one."""
    assert fewest(1) == 6
    assert not band_of([1.0] * 5).is_known
    assert band_of([1.0] * 5).value == 1.0
    assert math.isnan(band_of([math.nan, *[1.0] * 9]).value)
    assert math.isnan(band_of([]).value)
    assert band_of([*[2.0] * 9, math.inf]).high == 2.0


def test_it_holds_the_median_of_a_skewed_law() -> None:
    """Of 4,000 samples of ten at least 95 % hold it, for any distribution."""
    samples = np.random.default_rng(1).exponential(size=(4000, 10))
    held = [band.low <= math.log(2) <= band.high for band in map(band_of, samples.tolist())]
    assert 0.97 < np.mean(held) < 0.985  # 97.85 % by the binomial distribution


@pytest.mark.parametrize(("bands", "shakes"), [(1, 6), (2, 7), (3, 7), (5, 8), (25, 10), (26, 11)])
def test_bands_that_hold_together(bands: int, shakes: int) -> None:
    """The fewest shakes for this many bands; one fewer gives no band. 2 / 2**10 times 25 is below 5 %."""
    assert fewest(bands) == shakes
    assert band_of([1.0] * shakes, together(bands)).is_known
    assert not band_of([1.0] * (shakes - 1), together(bands)).is_known
    values = [float(value) for value in range(10)]
    assert band_of(values, together(3)).low == 0.0
