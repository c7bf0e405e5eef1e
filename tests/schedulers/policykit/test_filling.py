"""Orders scored by filling: the compiled form against the timeline's own methods, and compiled hill climbing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import NodeOrder, Placement, StorageOrder, Timeline
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Link, simple_machine
from spillway.schedulers.policykit.filling import Filling
from tests.reference.filling import plain_score

MACHINE = simple_machine(
    70,
    3,
    20,
    (Link("pfs", 100, -1), Link("a", 70, 0), Link("b", 60, 0)),
    tuple(1 + i // 35 for i in range(70)),
)
REQUESTS = st.tuples(
    st.sampled_from([1, 1, 2, 3, 5, 20, 33]),
    st.sampled_from([0, 0, 1, 3, 6]),
    st.sampled_from([0, 0, 2, 9]),
    st.sampled_from([1.0, 5.0, 8.0, 20.0, 40.0]),
)
PLACEMENTS = st.builds(Placement, st.sampled_from(NodeOrder), st.sampled_from(StorageOrder))


def make_jobs(requests: Sequence[tuple[int, int, int, float]]) -> list[Job]:
    """Jobs submitted one second after the other, before 100 s."""
    return [Job(f"w0!{i}", i, float(i), wall, nodes, bb, rate) for i, (nodes, bb, rate, wall) in enumerate(requests)]


def scene(jobs: Sequence[Job], reserved: Sequence[Job], placement: Placement) -> Timeline:
    """A timeline at 100 s with running jobs and reservations of others, each at its first fit."""
    timeline = Timeline(MACHINE, 100.0, placement)
    for job in jobs:
        allocation = timeline.fit_now(job, job.walltime_s)
        if allocation is not None:
            timeline.reserve(100.0, 100.0 + job.walltime_s, allocation)
    for job in reserved:
        fit = timeline.earliest_fit(job, job.walltime_s)
        if fit is not None:
            timeline.reserve(fit.start_s, fit.start_s + job.walltime_s, fit.allocation)
    return timeline


def walltime(job: Job) -> float:
    """Estimate by walltime."""
    return job.walltime_s


@settings(max_examples=200)
@given(st.lists(REQUESTS, max_size=24), st.integers(0, 8), st.integers(0, 4), PLACEMENTS, st.booleans(), st.randoms())
def test_score_is_the_timelines(
    requests: list[tuple[int, int, int, float]],
    busy: int,
    reserved: int,
    placement: Placement,
    nodes_first: bool,
    rng: object,
) -> None:
    """By identity of nodes, every storage node and every link, with reservations in the future."""
    jobs = make_jobs(requests)
    timeline = scene(jobs[:busy], jobs[busy : busy + reserved], placement)
    waiting = jobs[busy + reserved :]
    filling = Filling(timeline, waiting, walltime, nodes_first)
    order = np.arange(len(waiting))
    rng.shuffle(order)  # type: ignore[attr-defined]
    for one in (order, order[::-1].copy()):
        assert filling.score(one) == plain_score(timeline, waiting, one.tolist(), walltime, nodes_first)
    alone = [plain_score(timeline, waiting, [i], walltime, nodes_first)[1] == 0 for i in range(len(waiting))]
    assert filling.anything_starts is any(alone)


def test_best_of_takes_the_first_of_equals() -> None:
    """Two orders that start the same jobs: the first one; no order: an error."""
    jobs = make_jobs([(2, 0, 0, 5.0), (3, 0, 0, 5.0)])
    filling = Filling(Timeline(MACHINE, 100.0), jobs, walltime, True)
    first, second = np.array([1, 0]), np.array([0, 1])
    assert filling.best_of([first, second])[0] is first
    with pytest.raises(ValueError, match="at least one order"):
        filling.best_of([])


def test_huge_requests_are_hopeless() -> None:
    """Requests beyond any machine neither start nor overflow."""
    jobs = [Job("w0!0", 0, 0.0, 5.0, 4, 2**61), Job("w0!1", 1, 0.0, 5.0, 4, 0, 2**61), Job("w0!2", 2, 0.0, 5.0, 2**40)]
    filling = Filling(Timeline(MACHINE, 100.0), jobs, walltime, True)
    assert not filling.anything_starts
    assert filling.score(np.arange(3)) == ((0, 0, 0.0), -1)
