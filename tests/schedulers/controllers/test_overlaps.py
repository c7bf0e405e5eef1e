"""Collisions of predicted phases among any number of applications: the arrays against the definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.controllers.prediction import Phase
from tests.schedulers.controllers.scenes import fleet_of

PHASES = st.lists(
    st.builds(
        lambda start, length, gap: Phase(float(start), float(length), float(length + gap)),
        st.integers(0, 60),
        st.integers(0, 15),
        st.integers(1, 40),
    ),
    max_size=12,
)


@given(phases=PHASES, start=st.integers(0, 200), length=st.integers(0, 20))
def test_arrays_agree_with_the_definition(phases: list[Phase], start: int, length: int) -> None:
    """Next phases, and any later phase of the periodic ones."""
    requested, fleet = Phase(float(start), float(length), 1.0), fleet_of(phases)
    one = [i for i, p in enumerate(phases) if min(p.end_s, requested.end_s) > max(p.start_s, requested.start_s)]
    assert sorted(fleet.colliding(requested).tolist()) == one
    many = [
        i
        for i, p in enumerate(phases)
        if any(
            min(p.end_s, requested.end_s - m * p.period_s) > max(p.start_s, requested.start_s - m * p.period_s)
            for m in range(300)
        )
    ]
    assert fleet.periodically_colliding(requested).tolist() == many


def test_earliest_collision_comes_first() -> None:
    """The application that is in the way first is named first."""
    fleet = fleet_of([Phase(30, 5, 90), Phase(12, 5, 90), Phase(80, 5, 90)])
    assert fleet.colliding(Phase(10, 25, 90)).tolist() == [1, 0]
