"""Holdings with lives of their own: the compiled search against the plain one, in crowded timelines."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import Machine, simple_machine
from spillway.schedulers.timeline import Timeline
from spillway.schedulers.timeline.placement import Placement, Resource
from tests.reference.lives import find
from tests.schedulers.machine_strategies import job, machines, placements

KINDS = [Resource.ALL, Resource.ALL, Resource.ALL, *map(Resource, range(8))]


def crowded(rng: random.Random, machine: Machine, placement: Placement) -> Timeline:
    """A timeline with many bookings of jobs of all kinds, each at a time when it fits."""
    timeline = Timeline(machine, rng.uniform(0.0, 9.0), placement)
    for _ in range(rng.choice([3, 12, 30])):
        requested, duration_s = any_job(rng, machine), rng.choice([0.0, rng.uniform(0.0, 20.0), math.inf])
        fit = timeline.earliest_fit(requested, duration_s, rng.uniform(0.0, 90.0), rng.choice(KINDS))
        if fit is not None:
            covering = rng.choice([Resource.NODES, Resource.BURST_BUFFERS, Resource.ALL])
            try:
                timeline.reserve(fit.start_s, fit.start_s + duration_s, fit.allocation, covering)
            except ValueError:  # not all that is booked was looked for
                continue
    return timeline


def any_job(rng: random.Random, machine: Machine) -> Job:
    """A job of a few nodes or of most, with or without storage (also striped), bandwidth and lives; any durations."""
    nodes = rng.choice([1, 2, 3, len(machine.nodes) // 2 + 1, len(machine.nodes) + 1])
    bb_bytes = rng.choice([0, 1, 3, 7, 20])
    apart = Lives(
        storage_lead_s=rng.choice([0.0, 0.5, rng.uniform(0.0, 30.0)]),
        storage_tail_s=rng.choice([0.0, -1.0, rng.uniform(-5.0, 30.0)]),
        bandwidth_tail_s=rng.choice([0.0, rng.uniform(-5.0, 9.0)]),
    )
    stripes = rng.choice([0, 0, 1, 2, 4]) if bb_bytes else 0
    return job(nodes, bb_bytes, rng.choice([0, 0, 1, 5, 9]), rng.choice([None, apart, apart]), stripes)


@settings(max_examples=25)
@given(machine=machines(), placement=placements, rng=st.randoms(use_true_random=False))
def test_a_search_is_that_of_the_plain_form(machine: Machine, placement: Placement, rng: random.Random) -> None:
    """The same start and allocation, also where the search ends early, and where only some kinds are looked at."""
    timeline = crowded(rng, machine, placement)
    for _ in range(4):
        requested, covering = any_job(rng, machine), rng.choice(KINDS)
        duration_s = rng.choice([0.0, 1e-30, rng.uniform(0.0, 60.0), math.inf])
        first_s = rng.choice([timeline.now_s, timeline.now_s + rng.uniform(0.0, 60.0)])
        latest_s = rng.choice([math.inf, first_s, first_s + rng.uniform(-1.0, 60.0)])
        fit = timeline.earliest_fit(requested, duration_s, first_s, covering, latest_s)
        assert fit == find(timeline, requested, duration_s, first_s, latest_s, covering)


@settings(max_examples=25)
@given(machine=machines(), placement=placements, rng=st.randoms(use_true_random=False), drains=st.booleans())
def test_a_booking_from_some_time_on_is_the_first_that_is_not_refused(
    machine: Machine, placement: Placement, rng: random.Random, drains: bool
) -> None:
    """An allocation from another timeline, here: of all starts at which a part begins with a segment, the first."""
    other, timeline = crowded(rng, machine, placement), crowded(rng, machine, placement)
    if drains and machine.storages:
        timeline.drain(0, machine.storages[0].capacity_bytes // 2)
    for _ in range(4):
        requested, duration_s = any_job(rng, machine), rng.choice([0.0, rng.uniform(0.0, 60.0), math.inf])
        fit = other.earliest_fit(requested, duration_s)
        if fit is None:
            continue
        lead_s = 0.0 if requested.lives is None else requested.lives.storage_lead_s
        first_s = timeline.now_s + rng.choice([0.0, rng.uniform(0.0, 60.0)])
        times = {
            *timeline.snapshot().breakpoints(),
        }
        starts = {first_s, *times, *(led_by(time_s, lead_s) for time_s in times)}
        expected = timeline.copy()
        start_s = next(
            (
                start_s
                for start_s in sorted(starts)
                if start_s >= first_s and booked(expected, start_s, duration_s, fit.allocation)
            ),
            math.inf,
        )
        assert timeline.reserve_from(first_s, duration_s, fit.allocation) == start_s
        timeline.check()
        assert timeline.segments() == expected.segments()


def led_by(begin_s: float, lead_s: float) -> float:
    """The first start with a lead that does not end before a time."""
    start_s = begin_s - lead_s
    while start_s + lead_s < begin_s:
        start_s = math.nextafter(start_s, math.inf)
    return start_s


def booked(timeline: Timeline, start_s: float, duration_s: float, allocation: Allocation) -> bool:
    """Whether an allocation could be booked from this start on; then it is."""
    try:
        timeline.reserve(start_s, start_s + duration_s, allocation)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("pieces", "start_s"), [(Resource.NODES, 150.75), (Resource.BURST_BUFFERS, 151.0)])
def test_nodes_and_bytes_have_gaps_at_different_times(pieces: Resource, start_s: float) -> None:
    """One is taken in every other second, the other up to 150: bytes for 0.25 s, both for 0.5 s, bytes for 0.25 s."""
    timeline = Timeline(simple_machine(1, 1, 10))
    everything = Allocation((0,), (0,), 10)
    for piece in range(100):
        timeline.reserve(2.0 * piece, 2.0 * piece + 1.0, everything, pieces)
    timeline.reserve(0.0, 150.0, everything, ~pieces)
    fit = timeline.earliest_fit(job(1, 10, lives=Lives(storage_lead_s=0.25, storage_tail_s=0.25)), 0.5)
    assert fit is not None
    assert fit.start_s == start_s
