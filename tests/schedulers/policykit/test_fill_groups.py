"""Filling the line of waiting jobs: one job of each request is tried, and the starts are those of trying every job."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Fill, Queue, Timeline
from spillway.schedulers.model.decisions import Start
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine

MACHINE = simple_machine(8, 2, 10 * 10**9)

REQUEST = st.tuples(st.integers(1, 8), st.sampled_from([0, 1, 4]), st.sampled_from([5.0, 20.0]))
"""Few kinds of requests (nodes, GB, s), so that many jobs have the same."""


def jobs_of(requests: list[tuple[int, int, float]]) -> list[Job]:
    """Jobs in order of submission."""
    return [
        Job(f"w!{number}", number, 0.0, wall_s, nodes, size * 10**9)
        for number, (nodes, size, wall_s) in enumerate(requests)
    ]


def timeline_of(running: list[tuple[int, int, float]], reserved: int) -> Timeline:
    """A timeline with some running jobs, and nodes that are reserved from 10 s on."""
    timeline = Timeline(MACHINE, 0.0)
    for job in jobs_of(running):
        allocation = timeline.fit_now(job, job.walltime_s)
        if allocation is not None:
            timeline.reserve(0.0, job.walltime_s, allocation)
    timeline.take(10.0, 30.0, range(reserved))
    return timeline


@settings(max_examples=200)
@given(
    running=st.lists(REQUEST, max_size=3),
    requests=st.lists(REQUEST, min_size=1, max_size=40),
    reserved=st.integers(1, 8),
    first=st.integers(0, 5),
    gone=st.sets(st.integers(0, 39), max_size=15),
)
def test_the_starts_are_those_of_trying_every_job(
    running: list[tuple[int, int, float]],
    requests: list[tuple[int, int, float]],
    reserved: int,
    first: int,
    gone: set[int],
) -> None:
    """Jobs that left the line, and those before the part that is filled, do not start."""
    jobs, queue = jobs_of(requests), Queue()
    for job in jobs:
        queue.add(job)
    for place in gone:
        if place < len(jobs):
            queue.remove(jobs[place].id)
    left = [job for place, job in enumerate(jobs) if place not in gone][first:]
    line, plain = timeline_of(running, reserved), timeline_of(running, reserved)
    expected = []
    for job in left:
        allocation = plain.fit_now(job, job.walltime_s)
        if allocation is not None:
            plain.reserve(0.0, job.walltime_s, allocation)
            expected.append(Start(job, allocation))
    assert list(Fill(line, queue.shown()[first:])) == expected
