"""The timeline's kernels against the plain reference, in random histories and dense plans."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from schedulers.job import Allocation
from schedulers.machine import Machine
from schedulers.placement import Placement, Resource
from schedulers.timeline import Timeline
from schedulers.timeline_reference import ReferenceTimeline
from tests.schedulers.machine_strategies import jobs, machines, placements

coverings = st.sampled_from([Resource.ALL, Resource.ALL, Resource.ALL, *map(Resource, range(8))])
moments = st.one_of(st.integers(0, 12).map(float), st.floats(0, 12))
durations = st.one_of(st.integers(0, 8).map(float), st.floats(0, 8), st.just(math.inf), st.just(1e-30))


class TimelineAgainstReference(RuleBasedStateMachine):
    """Whatever is done to both, the timeline and the reference answer alike."""

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
        asked = data.draw(jobs(self.machine))
        fit = self.mine.earliest_fit(asked, duration, after, covering)
        assert fit == self.model.earliest_fit(asked, duration, after, covering)
        if fit is not None:
            self._book(fit.start_s, fit.start_s + duration, fit.allocation, covering)

    @rule(data=st.data(), covering=coverings, duration=durations)
    def fit_now(self, data: Any, covering: Resource, duration: float) -> None:
        """The same fit now, booked half of the time."""
        asked = data.draw(jobs(self.machine))
        allocation = self.mine.fit_now(asked, duration, covering)
        assert allocation == self.model.fit_now(asked, duration, covering)
        if allocation is not None and data.draw(st.booleans()):
            self._book(self.mine.now_s, self.mine.now_s + duration, allocation, covering)

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
        """Give back what was booked, or the rest of it."""
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
        """Time goes on."""
        for timeline in (self.mine, self.model):
            timeline.advance(timeline.now_s + step)

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


def state(timeline: Timeline) -> tuple[bytes, bytes]:
    """A timeline's state, byte for byte."""
    snapshot = timeline.snapshot()
    return snapshot.times.tobytes(), snapshot.rows.tobytes()


TestTimelineAgainstReference = TimelineAgainstReference.TestCase
TestTimelineAgainstReference.settings = settings(max_examples=100, stateful_step_count=30)



@settings(max_examples=40)
@given(data=st.data(), machine=machines(), placement=placements)
def test_a_plan_of_many_jobs_is_the_same(data: Any, machine: Machine, placement: Placement) -> None:
    """Jobs placed one after the other at their earliest start get the same plan from kernels and reference.

    Long queues on few nodes: windows over many segments that shrink and grow back.
    """
    mine, model = Timeline(machine, 0.0, placement), ReferenceTimeline(machine, 0.0, placement)
    queue = data.draw(st.lists(st.tuples(jobs(machine), st.integers(1, 30)), min_size=5, max_size=14))
    for asked, length in queue:
        fit = mine.earliest_fit(asked, length)
        assert fit == model.earliest_fit(asked, length)
        if fit is not None:
            mine.reserve(fit.start_s, fit.start_s + length, fit.allocation)
            model.reserve(fit.start_s, fit.start_s + length, fit.allocation)
    mine.check()
