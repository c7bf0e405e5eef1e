"""The genetic search over orders: crossing, budget, never worse than its start, the same with the same seed."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.plan import Plan
from spillway.schedulers.policykit.evolution import Evolution, crossed, evolve
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.planning import Planner
from tests.schedulers.policies.scenes import GB, job, numbers, started, view

MACHINE = simple_machine(10, 2, 10 * GB)


def planner() -> Planner:
    """Seven jobs of all kinds; the best order differs from the usual ones."""
    requests = [(6, 90.0), (3, 40.0), (8, 10.0), (2, 100.0), (5, 30.0), (4, 70.0), (7, 20.0)]
    jobs = [job(i, nodes, wall) for i, (nodes, wall) in enumerate(requests)]
    return Planner(view(MACHINE, jobs).timeline, jobs, lambda one: one.walltime_s, Objective(2.0, 0.0, False))


@given(st.permutations(range(9)), st.permutations(range(9)), st.integers(0, 2**32))
def test_a_child_is_an_order_with_a_piece_of_its_first_parent(first: Any, second: Any, seed: int) -> None:
    """Every job once; jobs outside the piece are in the second parent's order."""
    one, other = np.array(first, np.int32), np.array(second, np.int32)
    child = crossed(one, other, Random(seed))
    draw = Random(seed)
    begin, end = sorted((draw.randrange(10), draw.randrange(10)))
    assert sorted(child.tolist()) == list(range(9))
    assert child[begin:end].tolist() == first[begin:end]
    rest = [number for number in child.tolist() if number not in first[begin:end]]
    assert rest == [number for number in second if number not in first[begin:end]]


@settings(max_examples=20)
@given(seed=st.integers(0, 2**64 - 1), evaluations=st.integers(0, 60))
def test_never_worse_and_within_the_budget(seed: int, evaluations: int) -> None:
    """The number of planned orders is that of annealing; the same seed finds the same order."""
    found = []
    for _ in range(2):
        search = planner()
        start = np.arange(7, dtype=np.int32)
        score = search.score(start)
        order, best = evolve(search, [(score, start)], Evolution(evaluations, population=6), seed)
        assert search.evaluations == 1 + evaluations
        assert best <= score
        assert search.score(order) == best
        found.append(order.tolist())
    assert found[0] == found[1]


def test_it_finds_the_best_order_of_seven() -> None:
    """600 evaluations of 5,040 orders: at least half of ten seeds reach the result of an exhaustive search."""
    _, best = planner().exhaust()
    reached = 0
    for seed in range(10):
        search = planner()
        start = np.arange(7, dtype=np.int32)
        reached += evolve(search, [(search.score(start), start)], Evolution(600), seed)[1] == best
    assert reached >= 5


def test_the_policy_breeds_where_it_would_anneal() -> None:
    """Six jobs (more than are tried exhaustively): a plan of the sum of waits starts the shortest."""
    queue = [job(i, 10, 100.0 - 10 * i) for i in range(6)]
    policy = POLICIES["plan-genetic"].build({"alpha": "1"})
    assert isinstance(policy, Plan)
    assert numbers(started(policy, view(MACHINE, queue))) == [5]
