"""No search finds a plan below the optimum of all orders."""

from __future__ import annotations

import random

import pytest

from spillway.schedulers.model.job import replaced
from tools.benchmarks.plan_load import NOW_S, picture
from tools.benchmarks.small_plans import SEARCHES, over_optimum


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_the_optimum_is_the_least(power: float) -> None:
    """Of five pictures with five jobs, which all 120 orders are planned of."""
    rng = random.Random(5)
    for _ in range(5):
        _, timeline, queue = picture(rng, 5)
        found = over_optimum(timeline, [replaced(job, submit_time_s=NOW_S) for job in queue], power)
        assert found.keys() == SEARCHES.keys()
        assert all(ratio >= 1 - 1e-9 for ratio in found.values())
        assert found["ours"] <= found["starting orders"]
