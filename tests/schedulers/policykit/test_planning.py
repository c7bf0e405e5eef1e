"""Plan scoring against a plain re-plan, and annealing's promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Timeline
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Link, Machine, simple_machine
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.planning import Annealing, Order, Planner

GB = 10**9
MACHINE = simple_machine(
    12,
    3,
    8 * GB,
    (Link("pfs", 100, -1), Link("a", 60, 0), Link("b", 60, 0)),
    tuple(1 + i // 6 for i in range(12)),
)

REQUESTS = st.tuples(
    st.integers(1, 12), st.integers(0, 3), st.sampled_from([0, 0, 5, 10]), st.integers(1, 50), st.integers(0, 40)
)


def plain_score(objective: Objective, jobs: Sequence[Job], starts_s: Sequence[float]) -> float:
    """Score of a plan by its definition."""
    if objective.latest:
        return max(starts_s, default=0.0)
    weights = objective.weights([job.walltime_s for job in jobs])
    waits_s = [start_s - job.submit_time_s for job, start_s in zip(jobs, starts_s, strict=True)]
    return float(
        sum(
            weight * wait_s**objective.alpha * (1.0 + (wait_s / objective.guard_s) ** objective.guard_power)
            for weight, wait_s in zip(weights, waits_s, strict=True)
        )
    )


def make_jobs(requests: list[tuple[int, int, int, int, int]]) -> list[Job]:
    """Jobs submitted before t = 50 that an empty machine can hold."""
    jobs: list[Job] = []
    for nodes, bb, rate, wall, submit in requests:
        if bb and 3 * (8 // bb) < nodes:
            bb = 0
        if rate and min(100 // rate, 2 * min(6, 60 // rate)) < nodes:
            rate = 0
        jobs.append(Job(f"w0!{len(jobs)}", len(jobs), float(submit), float(wall), nodes, bb * GB, rate))
    return jobs


def loaded(machine: Machine, jobs: list[Job]) -> Timeline:
    """A timeline at t = 50 with those of these jobs running that fit."""
    timeline = Timeline(machine, 50.0)
    for job in jobs:
        allocation = timeline.fit_now(job, job.walltime_s)
        if allocation is not None:
            timeline.reserve(50.0, 50.0 + job.walltime_s, allocation)
    return timeline


def plain_starts(timeline: Timeline, jobs: list[Job], order: list[int]) -> list[float]:
    """Planned starts by the timeline's own methods."""
    timeline = timeline.copy()
    starts = [0.0] * len(jobs)
    for index in order:
        fit = timeline.earliest_fit(jobs[index], jobs[index].walltime_s)
        assert fit is not None
        timeline.reserve(fit.start_s, fit.start_s + jobs[index].walltime_s, fit.allocation)
        starts[index] = fit.start_s
    return starts


def walltime(job: Job) -> float:
    """The estimate used here."""
    return job.walltime_s


@settings(max_examples=60)
@given(
    running=st.lists(REQUESTS, max_size=5),
    waiting=st.lists(REQUESTS, min_size=2, max_size=12),
    stride=st.integers(1, 5),
    seed=st.integers(0, 2**63),
    swaps=st.booleans(),
    delayed=st.booleans(),
)
def test_annealing_returns_what_it_says(
    running: list[tuple[int, int, int, int, int]],
    waiting: list[tuple[int, int, int, int, int]],
    stride: int,
    seed: int,
    swaps: bool,
    delayed: bool,
) -> None:
    """The result is an order, never worse than the start; its incremental score is that of a plain re-plan; same seed,
    same order, for any distance of the checkpoints."""
    jobs = make_jobs(waiting)
    timeline = loaded(MACHINE, make_jobs(running))
    how = Annealing(60, 50.0, 0.95, 3, 0.1, swaps, delayed)
    results: list[tuple[Order, float]] = []
    for step in (stride, stride, 3):
        planner = Planner(timeline, jobs, walltime, Objective(1.5), step)
        start = np.arange(len(jobs), dtype=np.int32)
        first = planner.score(start)
        best, score = planner.anneal(start, first, how, seed)
        assert score <= first
        assert sorted(best.tolist()) == list(range(len(jobs)))
        assert score == pytest.approx(
            plain_score(Objective(1.5), jobs, plain_starts(timeline, jobs, best.tolist())), rel=1e-9
        )
        results.append((best, score))
    assert results[0][0].tolist() == results[1][0].tolist() == results[2][0].tolist()
