"""How much of a deviation is chance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.thesis.chance import draws_of


def test_by_hand() -> None:
    """Two parts, two seeds: variances 2 and 8, so one seed's mean over the parts has a deviation of sqrt(10) / 2."""
    draws = draws_of([[1.0, 3.0], [10.0, 14.0]], [3.0, 11.0])
    assert draws is not None
    assert draws.means == (5.5, 8.5)
    assert draws.published == 7.0
    assert draws.mean == 7.0
    assert draws.deviation == pytest.approx(math.sqrt(10.0) / 2.0)
    assert draws.distance == 0.0


def test_one_seed_says_nothing() -> None:
    """Without a second seed, or without parts, there is nothing to say."""
    assert draws_of([[1.0], [2.0]], [1.0, 2.0]) is None
    assert draws_of([], []) is None


def test_seeds_that_agree_leave_no_room_for_chance() -> None:
    """A schedule that is not random at all has no distance."""
    draws = draws_of([[2.0, 2.0]], [3.0])
    assert draws is not None
    assert draws.deviation == 0.0
    assert math.isnan(draws.distance)


def test_draws_of_one_distribution_lie_within_two_standard_errors() -> None:
    """What is published comes from the same distribution here: about one in twenty lies further away."""
    rng = np.random.default_rng(1)
    levels = np.linspace(1000.0, 9000.0, 16)
    far = 0
    for _ in range(400):
        drawn = levels[:, None] * (1.0 + 0.1 * rng.standard_normal((16, 4)))
        draws = draws_of(drawn[:, :3].tolist(), drawn[:, 3].tolist())
        assert draws is not None
        far += abs(draws.distance) > 2.0
    assert 8 <= far <= 36
