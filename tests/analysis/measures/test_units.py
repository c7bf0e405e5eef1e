"""Independent units, and the coverage of intervals over them."""

import numpy as np
import pytest

from spillway.analysis.measures.compare import compare_runs, mean_interval
from spillway.analysis.measures.units import PERIODS, student, units_of
from tools.coverage import long_runs, queue, short_runs


@pytest.mark.parametrize(("degrees", "table"), [(4, 2.7764), (9, 2.2622), (15, 2.1314), (120, 1.9799)])
def test_student(degrees: int, table: float) -> None:
    """The values of the printed tables."""
    assert student(degrees) == pytest.approx(table, abs=1e-3)


@pytest.mark.parametrize(("degrees", "confidence", "table"), [
    (1, 0.99, 63.657),
    (2, 0.99, 9.9248),
    (4, 0.99, 4.6041),
    (4, 0.999, 8.6103),
    (5, 0.999, 6.8688),
    (9, 0.99, 3.2498),
])  # fmt: skip
def test_student_far_out(degrees: int, confidence: float, table: float) -> None:
    """The values of the printed tables, for comparisons that are to hold together."""
    assert student(degrees, confidence) == pytest.approx(table, rel=1e-4)


def test_an_interval_of_a_stated_confidence() -> None:
    """Ratios exp(0.1) to exp(0.5) of five runs: exp(0.3 +- 4.6041 x 0.15811 / sqrt(5)) with 99 %."""
    base = [np.full(10, 100.0)] * 5
    policy = [run * np.exp(0.1 * place) for place, run in enumerate(base, start=1)]
    reach = 4.6041 * 0.158114 / np.sqrt(5)
    ratio = compare_runs(policy, base, confidence=0.99).ratio
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx(
        tuple(np.exp([0.3 - reach, 0.3, 0.3 + reach])), rel=1e-4
    )
    assert compare_runs(policy, base).ratio.low > ratio.low


def test_runs_are_units() -> None:
    """Five runs, means 1 to 5: 3 times or over exp(2.776 x sqrt(2.5 / 5) / 3), symmetric in the logarithm."""
    interval = mean_interval([np.full(10, float(mean)) for mean in (1, 2, 3, 4, 5)])
    assert interval.value == 3
    factor = np.exp(2.776 * np.sqrt(2.5 / 5) / 3)
    assert (interval.low, interval.high) == pytest.approx((3 / factor, 3 * factor), rel=1e-3)


def test_the_long_tail_is_reached_further() -> None:
    """Skewness of (1, 1, 1, 1, 6) is sqrt(5): above, t e and Johnson's e sqrt(5) / sqrt(5) (1/6 + t^2/3) more."""
    interval = mean_interval([np.full(10, float(mean)) for mean in (1, 1, 1, 1, 6)])
    student_t, error = 2.776, 1.0
    longer = error * (1 / 6 + student_t**2 / 3)
    assert interval.value == 2
    assert (interval.low, interval.high) == pytest.approx(
        (2 / np.exp(student_t / 2), 2 * np.exp((student_t + longer) / 2)), rel=5e-3
    )


def test_a_short_busy_run_gives_no_interval() -> None:
    """1,000 jobs of a busy queue are at most one excursion: there is nothing to resample."""
    first, second = queue(np.random.default_rng(3), 0.9, 1000)
    assert not mean_interval([first]).is_known
    paired = compare_runs([second], [first])
    assert (paired.ratio.is_known, paired.over) == (False, "")
    assert paired.ratio.value == pytest.approx(second.mean() / first.mean())


def test_a_long_run_is_cut_into_periods() -> None:
    """Independent values: periods of equally many, and an interval of about the width of one over the values."""
    values = np.random.default_rng(4).exponential(10.0, 60_000)
    units = units_of([values[:, None]])
    assert units is not None
    assert (len(units.counts), units.words) == (PERIODS, "8 periods of the run")
    interval = mean_interval([values])
    assert interval.low < 10 < interval.high
    assert interval.high - interval.low == pytest.approx(4 * 10 / np.sqrt(60_000), rel=0.6)


def test_chosen_jobs_count_in_the_period_they_are_in() -> None:
    """Half of the jobs wait twice as long, the others half: each class has its own ratio."""
    base = np.random.default_rng(5).exponential(10.0, 60_000)
    wide = np.arange(base.size) % 2 == 0
    other = base * np.where(wide, 2.0, 0.5)
    for mask, ratio in ((wide, 2.0), (~wide, 0.5)):
        paired = compare_runs([other], [base], [mask])
        assert (paired.ratio.low, paired.ratio.value, paired.ratio.high) == pytest.approx((ratio, ratio, ratio))
        assert paired.pairs == 30_000


def test_coverage_of_several_runs() -> None:
    """Five runs of a busy queue: nominal 95 %; the whole table is printed by ``python -m tools.coverage``."""
    found = short_runs(0.7, 300, 5, 200)
    assert found.mean_given == found.ratio_given == 200
    assert 0.88 <= found.mean_held / 200 <= 0.99
    assert 0.90 <= found.ratio_held / 200 <= 0.99


def test_coverage_of_one_long_run() -> None:
    """100,000 jobs at a load of 0.7: most workloads get an interval, and it holds."""
    found = long_runs(0.7, 100_000, 70)
    assert found.ratio_given >= 40
    assert found.ratio_held / found.ratio_given >= 0.88
