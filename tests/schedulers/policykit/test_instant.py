"""Free resources from now on."""

from __future__ import annotations

from spillway.core import Timeline, narrow_points
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.machine import Link, simple_machine

MACHINE = simple_machine(70, 2, 100, (Link("pfs", 50, -1),), (0,) * 70)


def booked() -> Timeline:
    """Nodes 0-64 and 65 bytes of storage 0 busy until 10; node 69, 30 bytes of storage 1 and half a link from 20 to
    30."""
    timeline = Timeline(MACHINE, 0.0)
    timeline.reserve(0.0, 10.0, Allocation(tuple(range(65)), (0,) * 65, 1))
    timeline.reserve(20.0, 30.0, Allocation((69,), (1,), 30, 25))
    return timeline


def test_free_until() -> None:
    """A reservation counts only for intervals that reach into it; running jobs count although they end."""
    assert booked().free_until(20.0) == ((65, 66, 67, 68, 69), [35, 100], [50], [])
    assert booked().free_until(20.5) == ((65, 66, 67, 68), [35, 70], [25], [])
    assert booked().free_until(0.0) == ((65, 66, 67, 68, 69), [35, 100], [50], [])


def test_narrow_points() -> None:
    """The present and the beginning of the reservation; not the ends of anything."""
    timeline = booked()
    assert timeline.breakpoints() == [0.0, 10.0, 20.0, 30.0]
    assert narrow_points(timeline) == [0, 2]


def test_wider_later_is_no_narrow_point() -> None:
    """A reservation of resources that are busy before it changes nothing."""
    timeline = Timeline(MACHINE, 0.0)
    timeline.reserve(0.0, 10.0, Allocation((3,)))
    timeline.reserve(10.0, 20.0, Allocation((3,)))
    assert narrow_points(timeline) == [0]
