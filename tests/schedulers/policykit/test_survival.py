"""Predictions by survival: hand cases of groups, quantiles and jobs that outlive them; calibration; the books hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.errors import OptionError
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.survival import KEPT, Survival


def job(user: str = "ann", walltime_s: float = 1000.0, nodes: int = 4, number: int = 0) -> Job:
    """A job of a user."""
    return Job(f"w0!{number}", number, 0.0, walltime_s, nodes, extras={"user": user} if user else {})


def learned(runtimes: list[float], quantile: float = 0.5, **of: object) -> Survival:
    """A predictor after some runtimes of like jobs."""
    known = Survival(quantile)
    for number, runtime_s in enumerate(runtimes):
        known.observe(job(number=number, **of), runtime_s)  # type: ignore[arg-type]
    return known


def test_early_ends_are_expected_until_a_job_survives_them() -> None:
    """Three of five jobs end in their first minute: so is the prediction for the next. After 30 s it is one of the two
    that ran for 900 and 950 s, after 920 s one of 950, after 960 s it takes its walltime."""
    known = learned([10, 20, 25, 900, 950])
    assert known.estimate_s(job()) == 25.0
    assert known.correct_s(job(), 30.0) == 950.0
    assert known.correct_s(job(), 920.0) == 950.0
    assert known.correct_s(job(), 960.0) == 1000.0
    assert learned([10, 20, 25, 900, 950], 0.2).correct_s(job(), 30.0) == 900.0


def test_the_narrowest_group_with_five_jobs_counts() -> None:
    """Other sizes count where a user has too few of one size; other walltimes by their shares; then other users'."""
    known = learned([100.0] * 5)
    for number in range(4):
        known.observe(job(nodes=8, number=number), 500.0)
    assert known.estimate_s(job(nodes=8)) == 100.0
    known.observe(job(nodes=8), 500.0)
    assert known.estimate_s(job(nodes=8)) == 500.0
    assert known.estimate_s(job(walltime_s=2000.0, nodes=1)) == pytest.approx(2000.0 * 0.5)
    assert known.estimate_s(job("bob", nodes=1)) == 500.0
    assert known.estimate_s(job("bob", walltime_s=2000.0)) == 2000.0
    assert known.estimate_s(job("")) == 500.0


def test_without_walltimes_seconds_are_compared() -> None:
    """A job without a limit is compared with the user's others without one; one with a limit is not."""
    known = learned([30.0] * 5, walltime_s=math.inf)
    assert known.estimate_s(job(walltime_s=math.inf)) == 30.0
    assert known.correct_s(job(walltime_s=math.inf), 31.0) == math.inf
    assert known.estimate_s(job(walltime_s=1.0)) == 1.0


@given(
    runtimes=st.lists(st.floats(0.0, 1200.0), max_size=30),
    quantile=st.sampled_from([0.05, 0.5, 0.95]),
    elapsed_s=st.floats(0.0, 999.0),
)
def test_expectations_lie_between_what_has_elapsed_and_the_walltime(
    runtimes: list[float], quantile: float, elapsed_s: float
) -> None:
    """For any observations; a corrected one is above the elapsed time."""
    known = learned(runtimes, quantile)
    assert 1.0 <= known.estimate_s(job()) <= 1000.0
    assert elapsed_s < known.correct_s(job(), elapsed_s) <= 1000.0


def test_only_the_last_jobs_are_remembered() -> None:
    """After that number of others, the first have no effect."""
    known = learned([10.0] * KEPT + [700.0] * KEPT)
    assert known.estimate_s(job()) == 700.0
    assert known.correct_s(job(), 5.0) == 700.0


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.75, 0.9])
def test_quantiles_are_kept(quantile: float) -> None:
    """Of 4,000 jobs of one distribution, 40 % of them ending early, the share that end within their prediction is the
    quantile."""
    rng = np.random.default_rng(3)
    runtimes = np.where(rng.random(4000) < 0.4, rng.uniform(5, 60, 4000), rng.uniform(60, 1000, 4000))
    known, within = Survival(quantile), 0
    for number, runtime_s in enumerate(runtimes.tolist()):
        within += number >= 100 and runtime_s <= known.estimate_s(job(number=number))
        known.observe(job(number=number), runtime_s)
    assert within / 3900 == pytest.approx(quantile, abs=0.03)


def test_a_quantile_lies_between_nothing_and_everything() -> None:
    """1 would never be reached."""
    with pytest.raises(OptionError, match="got 1"):
        Survival(1.0)
