"""The order of EASY's starts among the starting orders of a plan."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Timeline, easy_starts
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.planning import Planner

NODES, GB, ROOM_GB = 8, 10**9, 10
MACHINE = simple_machine(NODES, 1, ROOM_GB * GB)
"""All nodes share one storage node: totals are all that counts."""

JOB = st.tuples(st.integers(1, NODES), st.integers(0, ROOM_GB), st.integers(1, 20).map(float))
RUNNING = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(1, 20).map(float)), max_size=4)


def world(running: list[tuple[int, int, float]], waiting: list[tuple[int, int, float]]) -> tuple[Timeline, list[Job]]:
    """A timeline on which some jobs run, and jobs that wait; a request of bytes is one of a single node's job."""
    timeline = Timeline(MACHINE, 0.0)
    for number, (nodes, size, wall_s) in enumerate(running):
        job = Job(f"r!{number}", number, 0.0, wall_s, nodes, size * GB // nodes)
        allocation = timeline.fit_now(job, wall_s)
        if allocation is not None:
            timeline.reserve(0.0, wall_s, allocation)
    jobs = [
        Job(f"w!{number}", number, 0.0, wall_s, nodes, size * GB // nodes)
        for number, (nodes, size, wall_s) in enumerate(waiting)
    ]
    return timeline, jobs


def starts_of(timeline: Timeline, jobs: list[Job]) -> list[float]:
    """Starts by the core, in order of submission."""
    times = timeline.breakpoints()
    demands = [(job.nodes, job.nodes * job.bb_bytes) for job in jobs]
    durations_s = [job.walltime_s for job in jobs]
    return easy_starts(times, timeline.totals_at(times), list(range(len(jobs))), demands, durations_s)


@settings(max_examples=60)
@given(running=RUNNING, waiting=st.lists(JOB, min_size=2, max_size=8))
def test_a_plan_of_its_order_starts_nothing_later(
    running: list[tuple[int, int, float]], waiting: list[tuple[int, int, float]]
) -> None:
    """Placing jobs in the order of EASY's starts is never later than EASY, job by job."""
    timeline, jobs = world(running, waiting)
    planner = Planner(timeline, jobs, lambda job: job.walltime_s, Objective())
    order = planner.backfilled(np.arange(len(jobs), dtype=np.int32))
    assert sorted(order.tolist()) == list(range(len(jobs)))
    planner.score(order)
    assert all(planner.starts_s[job] <= start_s for job, start_s in enumerate(starts_of(timeline, jobs)))
