"""Predictions from a user's history with a margin per user: hand cases, and the share of jobs that end in time."""

from __future__ import annotations

import math
from random import Random

import pytest

from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.estimates import UserHistory


def job(user: str = "ann", walltime_s: float = 1000.0) -> Job:
    """A job of a user."""
    return Job("w0!0", 0, 0.0, walltime_s, 1, extras={"user": user})


def test_the_margin_is_the_least_that_was_enough_as_often_as_is_wanted() -> None:
    """One runtime predicts the next: 100, 100, 180, 100 s. Over the prediction by 0, 80 and -80 s of 1,000.

    In two thirds of the cases no margin is needed, in all of them 10 % of the walltime is.
    """
    for wanted, expected_s in ((0.0, 100.0), (0.6, 100.0), (0.9, 200.0)):
        known = UserHistory(last=1, margin=wanted)
        for runtime_s in (100.0, 100.0, 180.0, 100.0):
            known.observe(job(), runtime_s)
        assert known.estimate_s(job()) == expected_s
        assert known.estimate_s(job("bob")) == 1000.0  # nothing is known of this user


def test_a_prediction_with_its_margin_never_exceeds_the_walltime() -> None:
    """100 and 900 s in turn: only the whole walltime is enough. Without a walltime there is nothing to add."""
    known = UserHistory(last=1, margin=1.0)
    for runtime_s in (100.0, 900.0, 100.0):
        known.observe(job(), runtime_s)
        known.observe(job("bob", math.inf), runtime_s)
    assert known.estimate_s(job()) == 1000.0
    assert known.estimate_s(job("bob", math.inf)) == 100.0


@pytest.mark.parametrize("wanted", [0.5, 0.75, 0.9])
def test_jobs_end_in_time_about_as_often_as_is_wanted(wanted: float) -> None:
    """Three users with different scatter of runtimes: at least the share, as margins are coarse."""
    rng, known, within = Random(7), UserHistory(margin=wanted), 0
    for _ in range(3000):
        user, spread = rng.choice([("ann", 0.02), ("bob", 0.2), ("cem", 0.8)])
        runtime_s = 1000.0 * rng.uniform(0.1, 0.1 + spread)
        within += runtime_s <= known.estimate_s(job(user))
        known.observe(job(user), runtime_s)
    assert within / 3000 >= wanted - 0.02
