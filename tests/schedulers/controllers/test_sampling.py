"""The on-line predictor: hand cases of its measurements, and estimates for the sizes in between."""

import pytest

from spillway.schedulers.applications.application import read_application
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.sampling import learned
from tests.schedulers.controllers.played import application, play

CURVE = {"nodes": [1, 2, 3, 4], "cpu": [40.0, 20.0, 19.0, 10.0]}
"""Seconds per iteration; three nodes are hardly faster than two."""


def test_an_application_is_measured_on_larger_sizes_first() -> None:
    """2 iterations of 20 s on 2 nodes, 3 s, 4 of 10 s on all 4, 3 s, and 2 nodes again: with a single size."""
    job = {"nodes": 2, "malleable": application(iterations=12)}
    seen = play({"a": job}, predictor="online", sampled_sizes=1)
    assert seen.sizes["a"] == [(0, 2), (43, 4), (86, 2)]
    assert seen.ends["a"][0] == pytest.approx(86 + 6 * 20, abs=0.02)


def test_sizes_in_between_are_interpolated_and_the_description_is_not_looked_at() -> None:
    """Measured 20 s on 2 nodes and 10 s on 4: 40 node-seconds each, so 13.3 s on 3, where 19 s are described."""
    described = read_application(application(model=CURVE), 2)
    observed = Observations().interval(2, 2, 40.0).interval(4, 2, 20.0)
    known = learned(described, observed).model
    assert [known.iteration_s(nodes) for nodes in (1, 2, 3, 4)] == pytest.approx([40.0, 20.0, 40 / 3, 10.0])
    assert described.model.iteration_s(3) == 19.0
