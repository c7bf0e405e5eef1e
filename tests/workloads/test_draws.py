"""Random numbers: reproducible to the last bit, and from the right distributions."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.workloads.draws import Draws, exp, log, normal_quantile

KNOWN_UNIFORM = ["0x1.89dffcb827193p-1", "0x1.60ffe874abcdep-2"]
KNOWN_NORMAL = ["-0x1.ce900a068f2ffp-3", "-0x1.6efa14bb91a64p-3"]


@given(st.floats(-700, 700))
def test_exp_is_close_to_the_library(x: float) -> None:
    """Within a few units in the last place."""
    assert float(exp([x])[0]) == pytest.approx(math.exp(x), rel=1e-14)


@given(st.floats(1e-300, 1e300))
def test_log_is_close_to_the_library(x: float) -> None:
    """Within a few units in the last place, relative to 1 near log 1 = 0."""
    assert float(log([x])[0]) == pytest.approx(math.log(x), rel=1e-15, abs=1e-16)


@given(st.floats(1e-300, 1.0, exclude_max=True))
def test_normal_quantile_is_close_to_the_library(p: float) -> None:
    """The inverse normal distribution agrees with Python's."""
    assert float(normal_quantile([p])[0]) == pytest.approx(NormalDist().inv_cdf(p), rel=1e-12, abs=1e-15)


def test_known_bits() -> None:
    """The stream is the same as when this was written: workloads of published seeds must not change."""
    draws = Draws(42, "test")
    assert [float(value).hex() for value in draws.uniform(2)] == KNOWN_UNIFORM
    assert [float(value).hex() for value in draws.normal(2)] == KNOWN_NORMAL


def test_moments() -> None:
    """Mean and spread of many draws are those of the distribution (five standard errors)."""
    draws = Draws(1, "moments")
    normal, exponential, uniform = draws.normal(200_000), draws.exponential(200_000), draws.uniform(200_000)
    assert abs(normal.mean()) < 0.012
    assert abs(normal.std() - 1) < 0.01
    assert abs(exponential.mean() - 1) < 0.012
    assert abs(uniform.mean() - 0.5) < 0.004
    assert uniform.min() > 0.0
    assert uniform.max() < 1.0


def test_choice_follows_the_weights() -> None:
    """Entries of weight 0 never come, the others in proportion."""
    chosen = Draws(3, "choice").choose([0, 1, 3, 0], 40_000)
    assert set(chosen.tolist()) == {1, 2}
    assert np.mean(chosen == 2) == pytest.approx(0.75, abs=0.01)


def test_streams_and_seeds_are_independent() -> None:
    """Another name or another seed gives another stream; the same gives the same, in any portions."""
    assert Draws(1, "a").uniform(5).tolist() != Draws(1, "b").uniform(5).tolist()
    assert Draws(1, "a").uniform(5).tolist() != Draws(2, "a").uniform(5).tolist()
    portions = Draws(1, "a")
    assert portions.uniform(2).tolist() + portions.uniform(3).tolist() == Draws(1, "a").uniform(5).tolist()
