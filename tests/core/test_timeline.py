"""The timeline by hand: bookings, holdings with lives of their own, and the published rules."""

import math

import numpy as np
import pytest

from spillway.core import Fit, Free, Timeline
from spillway.schedulers.model.job import Allocation, Lives
from spillway.schedulers.model.machine import Link, Machine, Node, Storage, nearest_first, simple_machine
from tests.schedulers.machine_strategies import job


def state(timeline: Timeline) -> list[tuple[float, Free]]:
    """A timeline's state."""
    return timeline.segments()


def test_a_duration_too_short_for_the_clock_looks_at_its_instant() -> None:
    """At 1e9 s a nanosecond is nothing; a busy node is still busy."""
    timeline = Timeline(simple_machine(1), now_s=1e9)
    timeline.reserve(1e9, 2e9, Allocation((0,)))
    assert timeline.fit_now(job(1), 1e-9) is None
    assert timeline.earliest_fit(job(1), 1e-9) == Fit(2e9, Allocation((0,)))


def test_thesis_storages_are_those_of_chassis_group_rest() -> None:
    """Nodes fill the storage of their own chassis, then those of their group by number, then the others."""
    places = [("0", "0"), ("0", "1"), ("1", "0")]
    storages = tuple(Storage(10 + i, f"s{i}", place, 2) for i, place in enumerate(places))
    nodes = tuple(Node(i, f"n{i}", ("0", "1", str(i))) for i in range(5))
    machine = Machine(
        nodes=nodes,
        storages=storages,
        node_link=np.full(5, -1, np.int32),
        nearest_storages=nearest_first(nodes, storages),
    )
    allocation = Timeline(machine).fit_now(job(5, bb_bytes=1), 1.0)
    assert allocation is not None
    assert allocation.storages == (1, 1, 0, 0, 2)


def test_releasing_joins_segments() -> None:
    """A timeline depends on its bookings, not on its history."""
    timeline = Timeline(simple_machine(3))
    empty = state(timeline)
    timeline.reserve(0.0, 20.0, Allocation((0,)))
    timeline.reserve(10.0, 30.0, Allocation((1,)))
    assert timeline.breakpoints() == [0.0, 10.0, 20.0, 30.0]
    timeline.reserve(20.0, 40.0, Allocation((0,)))
    assert timeline.breakpoints() == [0.0, 10.0, 30.0, 40.0]
    timeline.release(0.0, 40.0, Allocation((0,)))
    timeline.release(10.0, 30.0, Allocation((1,)))
    assert state(timeline) == empty


# ---------------------------------------------------------------------------------------------- refusals
def busy_timeline() -> Timeline:
    """Two nodes, one storage, one link; node 1, 6 of 10 bytes and 7 of 10 bytes per second taken over [5, 9)."""
    timeline = Timeline(simple_machine(2, 1, 10, (Link("switch", 10, -1),), (0, 0)))
    timeline.reserve(5.0, 9.0, Allocation((1,), (0,), 6, 7))
    return timeline


@pytest.mark.parametrize(("start", "end", "allocation", "message"), [
    (0.0, 6.0, Allocation((0, 1)), "cannot reserve at 5.0 s: node n1 is not free"),
    (7.0, 99.0, Allocation((0,), (0,), 5), "cannot reserve at 7.0 s: storage s0 has 4 free of 10, 5 requested"),
    (0.0, 6.0, Allocation((0,), (), 0, 4), "cannot reserve at 5.0 s: link switch has 3 free of 10, 4 requested"),
    (0.0, 1.0, Allocation((0, 2)), "node indices must lie between 0 and 2 - 1"),
    (0.0, 1.0, Allocation((0, 0)), "occur once"),
    (0.0, 1.0, Allocation((0,), (1,), 1), "storage indices must lie between 0 and 1 - 1"),
    (0.0, 1.0, Allocation((0, 1), (0,), 1), "one storage per node"),
    (-1.0, 1.0, Allocation((0,)), "must begin at 0.0 s or later"),
    (3.0, 2.0, Allocation((0,)), "not end before"),
    (0.0, 1.0, Allocation((0, 1), (0, 0), 2**62), r"sizes must be >= 0, and fit all storage \(10 bytes\)"),
    (0.0, 1.0, Allocation((0,), (0,), -1), "sizes must be >= 0"),
    (0.0, 1.0, Allocation((0,), (), 0, -1), "sizes must be >= 0"),
    (0.0, 1.0, Allocation((0, 1), (), 0, 2**62), "link switch has 10 free of 10, 22 requested"),
    (math.nan, 2.0, Allocation((0,)), "must begin"),
])  # fmt: skip
def test_refused_reservations(start: float, end: float, allocation: Allocation, message: str) -> None:
    """The error states the resource and the time; nothing is changed."""
    timeline = busy_timeline()
    before = state(timeline)
    with pytest.raises(ValueError, match=message):
        timeline.reserve(start, end, allocation)
    assert state(timeline) == before


@pytest.mark.parametrize(
    ("end", "allocation", "message"),
    [
        (10.0, Allocation((1,)), "cannot release at 9.0 s: node n1 is free already"),
        (9.0, Allocation((1,), (0,), 7), "cannot release at 5.0 s: storage s0 has 4 free of 10, 7 more is too much"),
        (9.0, Allocation((1,), (), 0, 8), "cannot release at 5.0 s: link switch has 3 free of 10, 8 more is too much"),
    ],
)
def test_refused_releases(end: float, allocation: Allocation, message: str) -> None:
    """Resources that were not taken cannot be given back."""
    timeline = busy_timeline()
    before = state(timeline)
    with pytest.raises(ValueError, match=message):
        timeline.release(5.0, end, allocation)
    assert state(timeline) == before


def test_refused_questions() -> None:
    """Time does not run backwards, durations are not negative; impossible jobs never fit."""
    timeline = busy_timeline()
    timeline.advance(6.0)
    with pytest.raises(ValueError, match=r"already begins at 6\.0 s"):
        timeline.advance(5.0)
    with pytest.raises(ValueError, match="duration must be >= 0"):
        timeline.earliest_fit(job(1), -1.0)
    with pytest.raises(ValueError, match="duration must be >= 0"):
        timeline.fit_now(job(1), math.nan)
    too_much = (job(1, bb_bytes=11), job(2, bb_bytes=6), job(2, io_rate=6), job(1, io_rate=2**62))
    for impossible in (job(0), job(3), *too_much):
        assert timeline.earliest_fit(impossible, 1.0) is None
    assert timeline.earliest_fit(job(1), 1.0, math.inf) is None


@pytest.mark.parametrize(
    "machine",
    [
        simple_machine(1, 1, 2**53),
        simple_machine(4, 0, 0, (Link("wide", 2**61, -1),), (0, 0, 0, 0)),
    ],
)
def test_sizes_beyond_64_bits_are_refused(machine: Machine) -> None:
    """Sums over such a machine would not be exact."""
    with pytest.raises(ValueError, match=r"2\^"):
        Timeline(machine)


@pytest.mark.parametrize(
    "wrong", [{"storage_lead_s": -1.0}, {"storage_tail_s": math.inf}, {"bandwidth_tail_s": math.nan}]
)
def test_lives_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    """A lead is no delay, and nothing is held for ever."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Lives(**wrong)


def test_rounding_never_makes_a_lead_end_too_early() -> None:
    """6.8 - 1.1 + 1.1 is less than 6.8 in doubles: the start is the first without this error."""
    lead_s, free_s = 1.1, 6.8
    assert free_s - lead_s + lead_s < free_s
    timeline = Timeline(simple_machine(1, 1, 10))
    timeline.reserve(0.0, free_s, Allocation((0,)))
    requested = job(1, 10, lives=Lives(storage_lead_s=lead_s))
    fit = timeline.earliest_fit(requested, 1.0)
    assert fit is not None
    assert fit.start_s + lead_s >= free_s > math.nextafter(fit.start_s, 0.0) + lead_s
    timeline.reserve(fit.start_s, fit.start_s + 1.0, fit.allocation)
