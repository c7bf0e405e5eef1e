"""Sets of nodes over intervals, and the choice of neighbours."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.policykit.nodespace import NodeSpace, Plan, consecutive, mask_of, members


@pytest.mark.parametrize(
    ("free", "count", "chosen"),
    [
        ((1, 4, 5, 6, 7, 8), 4, (4, 5, 6, 7)),  # the only run that suffices
        ((1, 7, 8), 3, (1, 7, 8)),  # none suffices: the longest, then the rest
        ((0, 3, 4, 6, 7, 8), 2, (3, 4)),  # the shortest that suffices
        ((0, 1, 3, 4), 1, (0,)),  # the first of equal ones
        ((0, 1, 3, 4, 5, 9), 4, (3, 4, 5, 9)),  # the longest first, then the shortest that suffices for one
    ],
)
def test_neighbours_are_chosen_as_select_linear_does(
    free: tuple[int, ...], count: int, chosen: tuple[int, ...]
) -> None:
    """The first two are lines of a real controller's log."""
    assert members(consecutive(mask_of(free), count)) == chosen


@given(st.sets(st.integers(0, 40), min_size=1), st.data())
def test_so_many_of_them_are_chosen(free: set[int], data: st.DataObject) -> None:
    """No other nodes, and as many as are asked for."""
    count = data.draw(st.integers(1, len(free)))
    chosen = members(consecutive(mask_of(free), count))
    assert len(set(chosen)) == count
    assert set(chosen) <= free
    assert set(members(mask_of(free))) == free


def test_running_jobs_leave_one_after_another() -> None:
    """Idle now, after the first, after both; never more than there are; a job that is late leaves in a second."""
    space = NodeSpace(100.0, 0b0001, [(300.0, 0b1000), (90.0, 0b0110)])
    assert space.will_run(0b1111, 1) == Plan(100.0, 0b0001)
    assert space.will_run(0b1111, 3) == Plan(101.0, 0b0111)
    assert space.will_run(0b1111, 4) == Plan(300.0, 0b1111)
    assert space.will_run(0b0111, 4) is None


def test_reservations_take_nodes_over_their_intervals() -> None:
    """Also where one begins just when a job is to end; candidates are when nodes come free that nothing else keeps."""
    space = NodeSpace(0.0, 0b11, [])
    space.reserve(60.0, 120.0, 0b01)
    space.reserve(120.0, 180.0, 0b01)
    space.reserve(60.0, 60.0, 0b10)
    assert space.unreserved(0.0, 59.0) == 0b11
    assert space.unreserved(0.0, 60.0) == 0b10
    assert space.overlaps(0.0, 61.0, 0b01)
    assert not space.overlaps(0.0, 60.0, 0b01)
    assert (space.candidate_after(0.0), space.candidate_after(180.0)) == (180.0, math.inf)
    assert space.unreserved(0.0, math.inf) == 0b10
    space.start(0b10, 50.0)
    assert space.will_run(0b10, 1) == Plan(50.0, 0b10)
