"""Plan-based scheduling: hand-computed passes, the use of a reservation depth, and the thesis's starting orders."""

from dataclasses import replace

import pytest

from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.plan import SEARCHES, Plan
from spillway.schedulers.policykit.history import FinishedJob, FinishedJobs, RecentWaits, Usage
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.ordering import ordered
from spillway.schedulers.policykit.planning import Planner
from tests.schedulers.policies.scenes import GB, job, numbers, started, view

MACHINE = simple_machine(10, 2, 10 * GB)


@pytest.mark.parametrize(("ended", "starts"), [(19, [1]), (20, [0])])
def test_a_guard_at_a_quantile_of_recent_waits(ended: int, starts: list[int]) -> None:
    """Power 1 as above, but waits beyond 500 s, twice what most of the last jobs waited, weigh (wait / 500 s)^4 more.

    Old first: 1000 x 17 + 101; new first: 1090 x 23.6 + 1. With fewer than 20 jobs that have ended there is no guard.
    """
    past = FinishedJobs([
        FinishedJob(f"w1!{i}", "", 0.0, 250.0, 600.0, 100.0, 1, "COMPLETED_SUCCESSFULLY", Usage()) for i in range(ended)
    ])  # fmt: skip
    seen = view(MACHINE, [job(0, 10, 100.0, submit_s=0.0), job(1, 10, 90.0, submit_s=999.0)], now_s=1000.0)
    seen.finished = past
    assert numbers(started(Plan(alpha=1.0, guard_quantile=0.5), seen)) == starts


def test_recent_waits_are_those_of_the_last_thousand() -> None:
    """Waits of 1 to 1,500 s: the last thousand are 501 to 1,500 s, read in two portions."""
    items = [
        FinishedJob(f"w1!{i}", "", 0.0, float(i), 2000.0, 100.0, 1, "COMPLETED_SUCCESSFULLY", Usage())
        for i in range(1, 1501)
    ]
    waits = RecentWaits()
    assert waits.quantile_s(FinishedJobs(items[:700]), [], 1.0) == 700.0
    assert waits.quantile_s(FinishedJobs(items), [], 0.5) == 1000.5
    assert waits.quantile_s(FinishedJobs(items), [], 0.0001) >= 501.0
    assert waits.quantile_s(FinishedJobs(items), [3000.0], 1.0) == 3000.0


@pytest.mark.parametrize(("placements", "moves"), [(0, 180), (60, 6), (5, 0)])
def test_a_search_is_bounded_by_what_it_places(placements: int, moves: int) -> None:
    """Ten jobs and at most 60 placements: six moves; fewer placements than jobs: only the starting orders."""
    queue = [job(i, 1 + i % 7, 10.0 * (1 + 3 * i % 8)) for i in range(10)]
    planner = Planner(view(MACHINE, queue).timeline, queue, lambda one: one.walltime_s, Objective(2.0))
    policy = Plan(placements=placements)
    orders = len(list(policy._starting_orders(view(MACHINE, queue), planner)))
    policy._search(view(MACHINE, queue, busy=[job(9, 9, 100.0)]), planner)
    assert planner.evaluations == orders + moves


def test_the_default_has_no_guard_and_an_option_brings_it_back() -> None:
    """``plan`` scores as ``plan-mean`` does; ``guard_quantile=1`` by itself is the guarded plan that it was before."""
    default, means = POLICIES["plan"].build(), POLICIES["plan-mean"].build()
    assert default == replace(means, search="delayed+easy", placements=200_000)
    guarded = Plan(
        alpha=1.3, beta=0.3, expected=0.875, guard_quantile=1.0, search="delayed+easy", placements=200_000,
    )  # fmt: skip
    assert POLICIES["plan"].build({"guard_quantile": "1"}) == guarded


@pytest.mark.parametrize(
    ("name", "expected"),
    [("small-node-bb", [1, 0, 2]), ("large-node-bb", [2, 0, 1]), ("low-ratio", [1, 2, 0]), ("high-ratio", [0, 2, 1])],
)
def test_starting_orders_by_burst_buffer_of_a_node(name: str, expected: list[int]) -> None:
    """Bytes per node 4, 2 and 6 GB on 1, 8 and 2 nodes: totals (4, 16, 12) would give other orders."""
    jobs: list[Job] = [job(0, 1, 10.0, 4.0), job(1, 8, 10.0, 2.0), job(2, 2, 10.0, 6.0)]
    assert name in SEARCHES["thesis"].orders
    assert [each_job.number for each_job in ordered(view(MACHINE, jobs), jobs, name)] == expected


def test_literal_entries_use_the_thesis_orders() -> None:
    """Nine orders, 180 steps: the published 189 evaluations."""
    policy = POLICIES["plan-square"].build({}, literal=True)
    assert isinstance(policy, Plan)
    assert len(SEARCHES[policy.search].orders) + policy.steps == 189
