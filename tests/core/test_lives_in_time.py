"""Holdings with lives of their own in the timeline, by hand: stage-in before the nodes, stage-out after them."""

from __future__ import annotations

import math

import pytest

from spillway.core import Resource, Timeline
from spillway.schedulers.model.job import Allocation, Lives
from spillway.schedulers.model.machine import simple_machine
from tests.schedulers.machine_strategies import job

STAGED = Lives(storage_lead_s=60.0, storage_tail_s=200.0)


@pytest.mark.parametrize(
    "wrong", [{"storage_lead_s": -1.0}, {"storage_tail_s": math.inf}, {"bandwidth_tail_s": math.nan}]
)
def test_lives_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    """A lead is no delay, and nothing is held for ever."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Lives(**wrong)


def test_a_refused_part_takes_the_others_back() -> None:
    """The nodes are free, the bytes are not after 700: nothing is booked."""
    timeline = Timeline(simple_machine(2, 1, 10))
    timeline.reserve(700.0, 800.0, Allocation((1,), (0,), 5))
    before = timeline.breakpoints()
    with pytest.raises(ValueError, match="storage s0 has 5 free of 10, 10 requested"):
        timeline.reserve(160.0, 700.0, Allocation((0,), (0,), 10, lives=STAGED))
    assert timeline.breakpoints() == before


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


def test_a_negative_duration_is_refused() -> None:
    """As without lives."""
    timeline = Timeline(simple_machine(1))
    with pytest.raises(ValueError, match="duration must be >= 0"):
        timeline.earliest_fit(job(1, lives=STAGED), -1.0, 0.0)


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
