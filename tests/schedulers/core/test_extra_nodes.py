"""Extra nodes in the timeline: booked until they are expected back, on while they are late, free when they are back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.core.availability import Availability
from spillway.schedulers.core.extra_nodes import ExtraNodes
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.view import Holding
from spillway.schedulers.timeline import Resource, Timeline


def opened() -> tuple[Timeline, Availability, ExtraNodes]:
    """Six nodes at time 0."""
    timeline = Timeline(simple_machine(6))
    availability = Availability(timeline)
    return timeline, availability, ExtraNodes(availability)


def free(timeline: Timeline) -> list[tuple[float, int]]:
    """Free nodes from each breakpoint on."""
    times, rows, _ = timeline.arrays
    return [(float(time), int(row[0])) for time, row in zip(times, rows, strict=True)]


def test_extra_nodes_end_when_they_are_expected_back() -> None:
    """Two nodes for 10 s; late, they are booked for another 10 s; back, they are free at once."""
    timeline, _, extra = opened()
    extra.book("a", Allocation((1, 2)), 0.0, 10.0)
    assert timeline.breakpoints() == [0.0, 10.0]
    timeline.advance(10.0)
    extra.advance(10.0, "")
    assert timeline.breakpoints() == [10.0, 20.0]
    assert timeline.free_nodes_now() == 4
    timeline.advance(12.0)
    extra.give_back("a", (1,), 12.0)
    assert timeline.free_nodes_now() == 5
    assert extra.nodes_of("a") == {2}
    extra.end("a", 12.0)
    assert timeline.free_nodes_now() == 6
    assert timeline.breakpoints() == [12.0]


def test_nodes_that_are_not_extra_are_passed_over() -> None:
    """Of four nodes two are extra; some are given back."""
    _, _, extra = opened()
    extra.book("a", Allocation((3, 4)), 0.0, 5.0)
    extra.give_back("a", (0, 4), 1.0)
    assert extra.holdings("a") == [Holding(Resource.ALL, Allocation((3,)), 0.0, 5.0)]
    assert extra.holdings("b") == []
    extra.check({"a": Allocation((1, 3))})


def test_an_extra_node_that_becomes_unavailable_is_not_free_afterwards() -> None:
    """It goes on being used; given back, it stays away until the machine has it again."""
    timeline, availability, extra = opened()
    extra.book("a", Allocation((3,)), 0.0, 10.0)
    availability.close((3,), ())
    timeline.advance(10.0)
    extra.advance(10.0, "")
    extra.give_back("a", (3,), 10.0)
    assert timeline.free_nodes_now() == 5
    availability.open((3,), (), (), 10.0)
    assert timeline.free_nodes_now() == 6


@given(steps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(1, 9)), max_size=30))
def test_the_timeline_always_says_what_is_extra(steps: list[tuple[int, int, int]]) -> None:
    """Whatever is gained, given back and late in whatever order: free now are the nodes that no job has besides."""
    timeline, _, extra = opened()
    now_s, held = 0.0, dict[int, str]()
    for kind, node, length in steps:
        if kind == 0 and node not in held:
            held[node] = f"job{node % 2}"
            extra.book(held[node], Allocation((node,)), now_s, now_s + length)
        elif kind == 1 and node in held:
            extra.give_back(held.pop(node), (node,), now_s)
        elif kind == 2:
            extra.end(f"job{node % 2}", now_s)
            held = {one: job for one, job in held.items() if job != f"job{node % 2}"}
        else:
            now_s += length
            timeline.advance(now_s)
            extra.advance(now_s, "")
        timeline.check()
        assert timeline.free_nodes_now() == 6 - len(held)
