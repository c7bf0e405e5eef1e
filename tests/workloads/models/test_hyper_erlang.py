"""The hyper-Erlang distribution: moments there and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.workloads.draws import Draws
from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.hyper_erlang import HyperErlang, fit_hyper_erlang


def test_moments_by_hand() -> None:
    """An exponential distribution of mean 2 has the moments 2, 8 and 48; two stages of mean 1 have 2, 6 and 24."""
    assert [HyperErlang(1, 1.0, 2.0, 9.0).moment(power) for power in (1, 2, 3)] == [2.0, 8.0, 48.0]
    assert [HyperErlang(2, 1.0, 1.0, 9.0).moment(power) for power in (1, 2, 3)] == [2.0, 6.0, 24.0]


@given(values=st.lists(st.integers(0, 10_000), min_size=3, max_size=30))
def test_the_fit_has_the_moments_of_the_sample(values: list[int]) -> None:
    """For every sample with such a distribution; the others are refused."""
    sample = np.array(values, float)
    try:
        law = fit_hyper_erlang(sample)
    except WorkloadError:
        return
    for power in (1, 2, 3):
        assert law.moment(power) == pytest.approx(float(np.mean(sample**power)), rel=1e-6)


def test_the_least_order_is_taken() -> None:
    """A mixture of exponential times needs one stage, regular times need several."""
    spread = HyperErlang(1, 0.9, 1.0, 20.0).draw(Draws(0, "test"), 2000)
    assert fit_hyper_erlang(spread).order == 1
    assert fit_hyper_erlang([8, 9, 10, 11, 13]).order > 5


def test_draws_have_the_mean() -> None:
    """And are the same for the same seed."""
    law = HyperErlang(3, 0.25, 100.0, 2.0)
    drawn = law.draw(Draws(1, "test"), 40_000)
    assert float(drawn.mean()) == pytest.approx(law.mean, rel=0.03)
    assert float((drawn**2).mean()) == pytest.approx(law.moment(2), rel=0.05)
    assert (drawn == law.draw(Draws(1, "test"), 40_000)).all()


@pytest.mark.parametrize("values", [[], [1, 2], [0, 0, 0], [1, -1, 3], [5, 5, 5, 5]])
def test_nothing_to_fit(values: list[float]) -> None:
    """Too few values, no mean, no spread."""
    with pytest.raises(WorkloadError):
        fit_hyper_erlang(values)
