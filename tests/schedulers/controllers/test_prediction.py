"""Monitoring and prediction: averages, scaling to another size, agreed changes, uncertainty."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.applications.application import Application, read_application
from spillway.schedulers.controllers.observations import Mean, Observations
from spillway.schedulers.controllers.prediction import Step, predict


def application(**changes: object) -> Application:
    """100 iterations of 60/n s, I/O after every 20, control points every 5, reconfigurations of 2 s."""
    description = {
        "iterations": 100, "io_every": 20, "control_every": 5, "minimum": 1, "maximum": 60, "overhead": 2.0,
        "model": {"work": 60.0, "io_fixed": 7.0},
    }  # fmt: skip
    return read_application(description | changes, 10)


@given(values=st.lists(st.floats(-100.0, 100.0), min_size=2, max_size=30))
def test_mean_is_the_mean(values: list[float]) -> None:
    """Running sums give the same mean and variance as the definition."""
    mean = Mean()
    for value in values:
        mean = mean.add(value)
    average = sum(values) / len(values)
    variance = sum((value - average) ** 2 for value in values) / (len(values) - 1)
    assert mean.mean == pytest.approx(average, abs=1e-9)
    assert mean.squares / (len(values) - 1) == pytest.approx(variance, abs=1e-6)


def test_extrapolates_what_was_observed() -> None:
    """Intervals of 5 iterations took 40 and 44 s (8.4 s per iteration), I/O 8 s: the next phase comes after 168 s."""
    seen = Observations().interval(10, 5, 40.0).interval(10, 5, 44.0).io_phase(8.0)
    phase = predict(application(), seen, iteration=20, since_s=1000.0, nodes=10)
    assert phase is not None
    assert phase.start_s == pytest.approx(1168.0)
    assert phase.duration_s == 8.0
    assert phase.period_s == pytest.approx(176.0)
    # deviation of an interval: sqrt(8) = 2.83 s; of a sum of 4: sqrt(4 x 8 + (4^2 x 8) / 2) = 9.8 s
    assert phase.error_s == pytest.approx(96**0.5)


def test_new_size_scales_the_last_observation() -> None:
    """Observed 8 s on 10 nodes (the model said 6); on 20 nodes half of it is expected until it has been observed."""
    seen = Observations().interval(10, 5, 40.0)
    phase = predict(application(), seen, iteration=5, since_s=0.0, nodes=20)
    assert phase is not None
    assert phase.start_s == pytest.approx(15 * 4.0)
    seen = seen.interval(20, 5, 25.0)
    phase = predict(application(), seen, iteration=10, since_s=0.0, nodes=20)
    assert phase is not None
    assert phase.start_s == pytest.approx(10 * 5.0)


def test_agreed_changes_are_taken_into_account() -> None:
    """5 iterations on 10 nodes (6 s each), 2 s, 10 on 20 nodes (3 s), 2 s, 5 on 10 nodes: 30+2+30+2+30 s."""
    steps = (Step(5, 10), Step(15, -10))
    phase = predict(application(), Observations(), iteration=0, since_s=100.0, nodes=10, steps=steps)
    assert phase is not None
    assert phase.start_s == pytest.approx(194.0)
    assert phase.period_s == pytest.approx(127.0)


def test_no_phase_is_left() -> None:
    """After the last I/O phase there is nothing to predict; nor without I/O."""
    assert predict(application(), Observations(), iteration=100, since_s=0.0, nodes=10) is None
    without = application(io_every=0)
    assert predict(without, Observations(), iteration=0, since_s=0.0, nodes=10) is None
