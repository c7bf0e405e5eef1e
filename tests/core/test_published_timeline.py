"""The published timeline holds nodes a rounding step longer, also those of a job that outlives its expected end."""

from __future__ import annotations

import math

import pytest

from spillway.core import Placement, PublishedTimeline
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.machine import simple_machine

NODES = Allocation((0, 1))


def timeline() -> PublishedTimeline:
    """Two nodes, booked from 0 s to 5 s."""
    made = PublishedTimeline(simple_machine(2), 0.0, Placement())
    made.reserve(0.0, 5.0, NODES)
    return made


def test_a_job_goes_on_from_its_expected_end() -> None:
    """At its walltime and not yet reported as ended: booked on for a moment (failed: node n0 is not free)."""
    made = timeline()
    made.advance(5.0)
    made.reserve(5.0, 5.001, NODES)
    made.check()
    with pytest.raises(ValueError, match="not free"):
        made.reserve(5.0005, 5.0006, NODES)


def test_what_is_booked_in_the_middle_is_refused() -> None:
    """Only the step after the end is the job's own."""
    with pytest.raises(ValueError, match="not free"):
        timeline().reserve(4.0, 6.0, NODES)
    with pytest.raises(ValueError, match="not free"):
        timeline().reserve(math.nextafter(5.0, 0.0), 6.0, NODES)


def test_a_refused_booking_leaves_nothing_behind() -> None:
    """Its nodes were free, its storage node is not."""
    made = PublishedTimeline(simple_machine(2, 1, 10), 0.0, Placement())
    made.reserve(3.0, 5.0, Allocation((0,), (0,), 6))
    before = made.segments()
    with pytest.raises(ValueError, match="storage s0 has 4 free"):
        made.reserve(0.0, 4.0, Allocation((1,), (0,), 5))
    assert made.segments() == before
