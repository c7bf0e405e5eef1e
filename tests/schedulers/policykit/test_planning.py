"""Plan scoring against a plain re-plan, and annealing's promises."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Placement, PublishedTimeline, StorageOrder, Timeline
from spillway.schedulers.model.job import Job, Lives, replaced
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
    running=st.lists(REQUESTS, max_size=6),
    waiting=st.lists(REQUESTS, min_size=1, max_size=9),
    stride=st.integers(1, 4),
    alpha=st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]),
    beta=st.sampled_from([0.0, 0.5]),
    latest=st.booleans(),
    guard=st.sampled_from([math.inf, 20.0]),
    data=st.data(),
)
def test_scores_equal_a_plain_replan(
    running: list[tuple[int, int, int, int, int]],
    waiting: list[tuple[int, int, int, int, int]],
    stride: int,
    alpha: float,
    beta: float,
    latest: bool,
    guard: float,
    data: st.DataObject,
) -> None:
    """Starts are the timeline's, the score is the objective's definition, and no plan is below the bound."""
    jobs = make_jobs(waiting)
    timeline = loaded(MACHINE, make_jobs(running))
    objective = Objective(alpha, beta, latest, guard)
    planner = Planner(timeline, jobs, walltime, objective, stride)
    order = data.draw(st.permutations(range(len(jobs))))
    score = planner.score(np.array(order, np.int32))
    starts = plain_starts(timeline, jobs, order)
    assert planner.starts_s.tolist() == starts
    assert score == pytest.approx(plain_score(objective, jobs, starts), rel=1e-12, abs=1e-12)
    assert planner.least <= score * (1 + 1e-12)


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


def test_exhaustive_search_finds_the_best_of_a_hand_computed_case() -> None:
    """Two nodes; one job long, one wide, one short: in order of submission the wide one waits for 100 s."""
    machine = simple_machine(2)
    jobs = [Job(f"w0!{i}", i, 0.0, wall, nodes) for i, (nodes, wall) in enumerate([(1, 100.0), (2, 10.0), (1, 5.0)])]
    planner = Planner(Timeline(machine), jobs, walltime, Objective(1.0))
    assert planner.score(np.array([0, 2, 1], np.int32)) == 100.0
    order, score = planner.exhaust()
    assert score == 20.0, "wide at 0 and both others at 10; or short at 0, wide at 5, long at 15"
    assert math.isclose(planner.score(order), 20.0)


def test_jobs_that_cannot_run_are_left_out_of_the_score() -> None:
    """A job wider than the remaining machine (nodes taken for ever) has no start and adds nothing."""
    timeline = Timeline(simple_machine(2))
    allocation = timeline.fit_now(Job("w0!9", 9, 0.0, 1.0, 1), 1.0)
    assert allocation is not None
    timeline.reserve(0.0, math.inf, allocation)
    jobs = [Job("w0!0", 0, 0.0, 5.0, 2), Job("w0!1", 1, 0.0, 5.0, 1)]
    planner = Planner(timeline, jobs, walltime, Objective(1.0))
    assert planner.score(np.array([0, 1], np.int32)) == 0.0
    assert planner.starts_s.tolist() == [math.inf, 0.0]


LIVES = st.builds(
    Lives,
    storage_lead_s=st.sampled_from([0.0, 0.3, 7.0, 30.0]),
    storage_tail_s=st.sampled_from([-3.0, 0.0, 11.0]),
    bandwidth_tail_s=st.sampled_from([-2.0, 0.0, 4.0]),
)


@settings(max_examples=80)
@given(
    running=st.lists(REQUESTS, max_size=6),
    waiting=st.lists(st.tuples(REQUESTS, st.none() | LIVES), min_size=1, max_size=9),
    stride=st.integers(1, 4),
    placement=st.sampled_from([None, Placement(storage_order=StorageOrder.FULLEST_AT_END)]),
    published=st.booleans(),
    data=st.data(),
)
def test_plans_book_a_buffer_and_its_nodes_over_their_own_intervals(
    running: list[tuple[int, int, int, int, int]],
    waiting: list[tuple[tuple[int, int, int, int, int], Lives | None]],
    stride: int,
    placement: Placement | None,
    published: bool,
    data: st.DataObject,
) -> None:
    """Starts are those of the timeline's plain form, for jobs with and without lives side by side; a job waits until it
    gets its nodes. The published timeline holds nodes one rounding step longer, and plans hold them as long.
    """
    timeline: Timeline = (PublishedTimeline if published else Timeline)(MACHINE, 50.0, placement or Placement())
    for job in make_jobs(running):
        allocation = timeline.fit_now(job, job.walltime_s)
        if allocation is not None:
            timeline.reserve(50.0, 50.0 + job.walltime_s, allocation)
    plain = make_jobs([request for request, _ in waiting])
    jobs = [
        replaced(job, lives=lives if job.bb_bytes and not published else None)
        for job, (_, lives) in zip(plain, waiting, strict=True)
    ]
    planner = Planner(timeline, jobs, walltime, Objective(2.0), stride)
    for _ in range(3):
        order = data.draw(st.permutations(range(len(jobs))))
        expected = plain_starts(timeline, jobs, list(order))
        score = planner.score(np.array(order, np.int32))
        assert planner.starts_s.tolist() == expected
        leads = [job.lives.storage_lead_s if job.lives is not None else 0.0 for job in jobs]
        waits = [
            start_s + lead_s - job.submit_time_s for job, start_s, lead_s in zip(jobs, expected, leads, strict=True)
        ]
        assert score == pytest.approx(sum(wait * wait for wait in waits))
    annealed, best = planner.anneal(np.array(order, np.int32), score, Annealing(40, 10.0, swaps_only=False), 7)
    assert best <= score
    assert planner.score(annealed) == pytest.approx(best)
