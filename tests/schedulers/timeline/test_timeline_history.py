"""The core's timeline against the plain reference, in random histories and dense plans."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from spillway.core import Free
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.machine import Link, Machine, Node, Storage, simple_machine
from spillway.schedulers.timeline import Timeline
from spillway.schedulers.timeline.placement import NodeOrder, Placement, Resource, StorageOrder
from tests.reference.timeline import ReferenceTimeline
from tests.schedulers.machine_strategies import job, jobs, jobs_with_lives, machines, placements

coverings = st.sampled_from([Resource.ALL, Resource.ALL, Resource.ALL, *map(Resource, range(16))])
moments = st.one_of(st.integers(0, 12).map(float), st.floats(0, 12))
quarters = st.integers(0, 48).map(lambda quarter: quarter / 4)
durations = st.one_of(st.integers(0, 8).map(float), st.floats(0, 8), st.just(math.inf), st.just(1e-30))


class TimelineAgainstReference(RuleBasedStateMachine):
    """After the same calls the timeline and the reference give the same answers."""

    @initialize(data=st.data(), machine=machines(), placement=placements, now_s=moments)
    def begin(self, data: Any, machine: Machine, placement: Placement, now_s: float) -> None:
        """Two empty timelines."""
        self.machine = machine
        self.mine = Timeline(machine, now_s, placement)
        self.model = ReferenceTimeline(machine, now_s, placement)
        self.booked: list[tuple[float, float, Allocation, Resource]] = []
        self.saved: list[Any] = []

    @rule(data=st.data(), covering=coverings, after=moments, duration=durations)
    def fit_and_book(self, data: Any, covering: Resource, after: float, duration: float) -> None:
        """The same earliest fit; it can be booked."""
        requested = data.draw(jobs(self.machine))
        fit = self.mine.earliest_fit(requested, duration, after, covering)
        assert fit == self.model.earliest_fit(requested, duration, after, covering)
        if fit is not None:
            self._book(fit.start_s, fit.start_s + duration, fit.allocation, covering)

    @rule(data=st.data(), covering=coverings, duration=durations)
    def fit_now(self, data: Any, covering: Resource, duration: float) -> None:
        """The same fit now, booked half of the time."""
        requested = data.draw(jobs(self.machine))
        allocation = self.mine.fit_now(requested, duration, covering)
        assert allocation == self.model.fit_now(requested, duration, covering)
        if allocation is not None and data.draw(st.booleans()):
            self._book(self.mine.now_s, self.mine.now_s + duration, allocation, covering)

    @rule(data=st.data(), lengths=st.lists(durations, min_size=1, max_size=5))
    def first_of_many_now(self, data: Any, lengths: list[float]) -> None:
        """The first of many jobs that fits now, and its allocation."""
        requested = [data.draw(jobs(self.machine)) for _ in lengths]
        found = [self.model.fit_now(one, length) for one, length in zip(requested, lengths, strict=True)]
        first = next(((requested[at], one, at + 1) for at, one in enumerate(found) if one is not None), None)
        assert self.mine.first_fit_now(requested, np.array(lengths)) == first

    @rule(data=st.data(), covering=coverings, after=quarters, duration=quarters, latest=quarters)
    def fit_and_book_with_lives(
        self, data: Any, covering: Resource, after: float, duration: float, latest: float
    ) -> None:
        """The same earliest fit of a job with lives of its own for storage and bandwidth; it can be booked."""
        requested = data.draw(jobs_with_lives(self.machine))
        last = latest * 4 if data.draw(st.booleans()) else math.inf
        fit = self.mine.earliest_fit(requested, duration, after, covering, last)
        expected = self.model.earliest_fit(requested, duration, after, covering, last)
        assert fit == expected
        assert self.mine.fit_now(requested, duration, covering) == self.model.fit_now(requested, duration, covering)
        if fit is not None:
            self._book(fit.start_s, fit.start_s + duration, fit.allocation, covering)

    @rule(data=st.data(), covering=coverings, start=moments, duration=durations, give=st.booleans())
    def book_anything(self, data: Any, covering: Resource, start: float, duration: float, give: bool) -> None:
        """Any booking or release is accepted by both or refused by both, and a refusal changes nothing."""
        nodes = tuple(sorted(data.draw(st.sets(st.integers(0, len(self.machine.nodes) - 1), max_size=3))))
        storages: tuple[int, ...] = ()
        if self.machine.storages and data.draw(st.booleans()):
            storages = tuple(data.draw(st.integers(0, len(self.machine.storages) - 1)) for _ in nodes)
        allocation = Allocation(nodes, storages, data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9)))
        before = state(self.mine)
        outcomes = []
        for timeline in (self.mine, self.model):
            try:
                (timeline.release if give else timeline.reserve)(start, start + duration, allocation, covering)
                outcomes.append(True)
            except ValueError:
                outcomes.append(False)
        assert outcomes[0] == outcomes[1]
        if outcomes[0]:
            if not give:
                self.booked.append((start, start + duration, allocation, covering))
        else:
            assert state(self.mine) == before

    @precondition(lambda self: self.booked)
    @rule(data=st.data())
    def release_booked(self, data: Any) -> None:
        """Give a booking back, or the rest of it."""
        start, end, allocation, covering = self.booked.pop(data.draw(st.integers(0, len(self.booked) - 1)))
        start = max(start, self.mine.now_s)
        if start <= end:
            refused = []
            for timeline in (self.mine, self.model):
                try:
                    timeline.release(start, end, allocation, covering)
                    refused.append(False)
                except ValueError:  # it may have been released already by another rule
                    refused.append(True)
            assert refused[0] == refused[1]

    @rule(step=st.one_of(st.integers(0, 3).map(float), st.floats(0, 3)))
    def advance(self, step: float) -> None:
        """Time passes."""
        for timeline in (self.mine, self.model):
            timeline.advance(timeline.now_s + step)

    @precondition(lambda self: self.machine.storages)
    @rule(data=st.data(), part=st.sampled_from([0.0, 0.0, 0.3, 0.5, 1.0]))
    def drain(self, data: Any, part: float) -> None:
        """A part of a storage node is drained, independently of its bookings; or it is back."""
        storage = data.draw(st.integers(0, len(self.machine.storages) - 1))
        drained = int(part * self.machine.storages[storage].capacity_bytes)
        for timeline in (self.mine, self.model):
            timeline.drain(storage, drained)

    @rule()
    def save(self) -> None:
        """Keep a state of both."""
        self.saved.append((self.mine.snapshot(), self.model.snapshot(), state(self.mine), list(self.booked)))

    @precondition(lambda self: self.saved)
    @rule(data=st.data())
    def go_back(self, data: Any) -> None:
        """Return to a kept state: the same bytes."""
        mine, model, before, booked = data.draw(st.sampled_from(self.saved))
        self.mine.restore(mine)
        self.model.restore(model)
        self.booked = list(booked)
        assert state(self.mine) == before

    @rule()
    def go_on_with_a_copy(self) -> None:
        """A copy is equal and independent: the original is emptied."""
        original, self.mine = self.mine, self.mine.copy()
        original.restore(Timeline(self.machine).snapshot())

    @invariant()
    def same_state(self) -> None:
        """Same breakpoints, same free resources now, sound invariants."""
        if hasattr(self, "mine"):
            self.mine.check()
            assert self.mine.breakpoints() == self.model.breakpoints()
            assert self.mine.free_nodes_now() == self.model.free_nodes_now()
            assert self.mine.free_storage_now() == self.model.free_storage_now()
            assert self.mine.free_bandwidth_now() == self.model.free_bandwidth_now()

    def _book(self, start: float, end: float, allocation: Allocation, covering: Resource) -> None:
        self.mine.reserve(start, end, allocation, covering)
        self.model.reserve(start, end, allocation, covering)
        self.booked.append((start, end, allocation, covering))


def state(timeline: Timeline) -> list[tuple[float, Free]]:
    """A timeline's state."""
    return timeline.segments()


TestTimelineAgainstReference = TimelineAgainstReference.TestCase
TestTimelineAgainstReference.settings = settings(max_examples=100, stateful_step_count=30)


# ---------------------------------------------------------------------------------------------- dense plans

CAPACITIES = ((), (12, 9, 11), (30,), (10, 10, 10, 10))
"""Storages of the machines for dense plans: no storage, unequal, one, equal."""


def tight_machine(rng: random.Random) -> Machine:
    """A few nodes, in shuffled order, under a small tree with links of equal bandwidth."""
    count = rng.choice([4, 7, 12, 66])
    capacities = rng.choice(CAPACITIES)
    wide = rng.choice([10, 14])
    links = (Link("root", 2 * wide, -1), Link("a", wide, 0), Link("b", wide, 0), Link("c", wide, 2))
    orders = [rng.sample(range(len(capacities)), len(capacities)) for _ in range(count)]
    return Machine(
        nodes=tuple(Node(i, f"n{i}", ()) for i in range(count)),
        storages=tuple(Storage(count + i, f"s{i}", (), size) for i, size in enumerate(capacities)),
        links=links,
        node_link=np.array([rng.choice([-1, 0, 1, 2, 3, 3, 2, 1]) for _ in range(count)], np.int32),
        nearest_storages=np.array(orders, np.int32).reshape(count, len(capacities)),
    )


@pytest.mark.parametrize("seed", range(60))
def test_a_dense_plan_is_the_same(seed: int) -> None:
    """Jobs placed one after the other, each at its earliest start, up to a latest one: the same plan, and it adds up.

    Windows over many segments that shrink at the front and are grown backwards, storages and links nearly full. Long
    reservations of nodes alone keep the other resources from following the nodes.
    """
    rng = random.Random(seed)
    machine = tight_machine(rng)
    placement = Placement(rng.choice(list(NodeOrder)), rng.choice(list(StorageOrder)))
    mine, model = Timeline(machine, 0.0, placement), ReferenceTimeline(machine, 0.0, placement)
    for _ in range(25):
        nodes = rng.choice([1, 1, 2, 3, 5])
        bb_bytes = rng.choice([0, 2, 3, 5, 7]) if machine.storages else 0
        stripes = rng.choice([0, 0, 1, 2, 3]) if bb_bytes else 0
        requested = job(nodes, bb_bytes, rng.choice([0, 1, 2, 3, 5]), stripes=stripes)
        length, after, latest = rng.choice([1, 2, 5, 11, 23]), rng.randrange(10), rng.choice([math.inf, 20, 35])
        covering = rng.choice([Resource.ALL, Resource.ALL, Resource.NODES])
        fit = mine.earliest_fit(requested, length, after, covering, latest)
        assert fit == model.earliest_fit(requested, length, after, covering, latest)
        if fit is not None:
            mine.reserve(fit.start_s, fit.start_s + length, fit.allocation, covering)
            model.reserve(fit.start_s, fit.start_s + length, fit.allocation, covering)
    mine.check()
    assert mine.breakpoints() == model.breakpoints()


@pytest.mark.parametrize("seed", [1, 2, 4, 7, 8, 9])
def test_long_jobs_among_many_short_ones(seed: int) -> None:
    """Windows over many segments, decided by burst buffers: every answer is the reference's."""
    rng = random.Random(seed)
    machine = simple_machine(6, 2, 10)
    mine, model = Timeline(machine), ReferenceTimeline(machine)
    for _ in range(14):
        requested, duration_s = job(rng.randint(1, 2), rng.choice((0, 1, 3, 5))), float(rng.randint(1, 4))
        after_s = float(rng.randint(0, 16))
        fit = mine.earliest_fit(requested, duration_s, after_s)
        assert fit == model.earliest_fit(requested, duration_s, after_s)
        if fit is not None:
            for timeline in (mine, model):
                timeline.reserve(fit.start_s, fit.start_s + duration_s, fit.allocation)
    for nodes, size, duration_s in itertools.product(range(1, 6), (0, 2, 4), (3.0, 6.0, 9.0)):
        assert mine.earliest_fit(job(nodes, size), duration_s) == model.earliest_fit(job(nodes, size), duration_s)
