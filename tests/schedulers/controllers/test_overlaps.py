"""Collisions of predicted phases, total and partial, among any number of applications; the arrays against the pairs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.controllers.overlaps import Extent, Fleet, Overlap, overlaps
from spillway.schedulers.controllers.prediction import Phase

PHASES = st.lists(
    st.builds(
        lambda start, length, gap: Phase(float(start), float(length), float(length + gap)),
        st.integers(0, 60),
        st.integers(0, 15),
        st.integers(1, 40),
    ),
    max_size=12,
)


def test_partial_and_total_by_hand() -> None:
    """[0,10) and [8,20) share 2 s; [8,20) holds [9,12) wholly; [20,30) only touches."""
    phases = [Phase(0, 10, 100), Phase(8, 12, 100), Phase(9, 3, 100), Phase(20, 10, 100)]
    assert overlaps(phases) == [
        Overlap(0, 1, 8, 2, Extent.PARTIAL),
        Overlap(0, 2, 9, 1, Extent.PARTIAL),
        Overlap(1, 2, 9, 3, Extent.TOTAL),
    ]


def test_equal_phases_collide_in_total() -> None:
    """Three phases at the same time: three pairs."""
    found = overlaps([Phase(5, 4, 50)] * 3)
    assert [(overlap.first, overlap.second) for overlap in found] == [(0, 1), (0, 2), (1, 2)]
    assert {overlap.extent for overlap in found} == {Extent.TOTAL}


@given(phases=PHASES)
def test_every_pair_is_found(phases: list[Phase]) -> None:
    """Against the definition, for every pair."""
    expected = {
        (i, j)
        for i in range(len(phases))
        for j in range(i + 1, len(phases))
        if min(phases[i].end_s, phases[j].end_s) > max(phases[i].start_s, phases[j].start_s)
    }
    assert {(overlap.first, overlap.second) for overlap in overlaps(phases)} == expected


@given(phases=PHASES, start=st.integers(0, 200), length=st.integers(0, 20))
def test_arrays_agree_with_the_definition(phases: list[Phase], start: int, length: int) -> None:
    """Next phases, and any later phase of the periodic ones."""
    requested, fleet = Phase(float(start), float(length), 1.0), Fleet.of(phases)
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
    fleet = Fleet.of([Phase(30, 5, 90), Phase(12, 5, 90), Phase(80, 5, 90)])
    assert fleet.colliding(Phase(10, 25, 90)).tolist() == [1, 0]
