"""Step functions over time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.analysis.tables import timelines
from spillway.analysis.tables.jobs import JobTable


def test_busy_nodes(table: JobTable) -> None:
    """Two nodes from 0, a third from 50, four from 100 to 110."""
    steps = timelines.busy_nodes(table)
    assert steps.time_s.tolist() == [0, 50, 100, 110]
    assert steps.value.tolist() == [2, 3, 4, 0]
    assert steps.integral(0, 110) == pytest.approx(290)


def test_queue_and_bytes(table: JobTable) -> None:
    """The queue holds one job from 10, two from 20 to 50; bytes are per node times nodes."""
    assert timelines.queue_length(table).at(np.array([0.0, 10, 25, 50, 100])).tolist() == [0, 1, 2, 1, 0]
    assert timelines.held_bytes(table).at(np.array([0.0, 60, 100])).tolist() == [20, 60, 0]


intervals = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=8)


@given(intervals)
def test_steps_against_counting(items: list[tuple[int, int, int]]) -> None:
    """At each time the value is the sum over the intervals that hold it; half-open, so empty ones never count."""
    begin = np.array([min(a, b) for a, b, _ in items], dtype=float)
    end = np.array([max(a, b) for a, b, _ in items], dtype=float)
    weight = np.array([w for _, _, w in items], dtype=float)
    times = np.arange(-1.0, 22.0)
    expected = [float(weight[(begin <= t) & (t < end)].sum()) for t in times]
    steps = timelines.steps(begin, end, weight)
    assert steps.at(times).tolist() == pytest.approx(expected)
    assert steps.integral(-1, 22) == pytest.approx(float(((end - begin) * weight).sum()))
