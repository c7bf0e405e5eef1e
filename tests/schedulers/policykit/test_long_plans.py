"""Plans of more jobs than a block of positions has: the begin of their searches changes no start."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from spillway.core import Timeline
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.planning import Annealing, Planner
from tests.schedulers.policies.scenes import GB, job

NUMBER = 300


def crowd(rng: random.Random, kinds: int) -> list[Job]:
    """Jobs of a number of kinds, some of them fitting into the gaps of others."""
    shapes = [(rng.randint(1, 8), float(rng.randint(1, 900)), rng.choice((0, 0, 1, 2))) for _ in range(kinds)]
    return [job(number, *rng.choice(shapes), submit_s=rng.random() * 900.0) for number in range(NUMBER)]


def starts_s(timeline: Timeline, jobs: list[Job], order: list[int]) -> list[float]:
    """The starts of a plan as a plain loop over the timeline makes it, every search from the beginning."""
    found = [math.nan] * len(jobs)
    for index in order:
        one = jobs[index]
        fit = timeline.earliest_fit(one, one.walltime_s)
        assert fit is not None
        timeline.reserve(fit.start_s, fit.start_s + one.walltime_s, fit.allocation)
        found[index] = fit.start_s
    return found


@pytest.mark.parametrize(("seed", "kinds"), [(1, NUMBER), (2, 40), (3, 5), (4, NUMBER)])
def test_a_plan_is_that_of_a_plain_loop(seed: int, kinds: int) -> None:
    """In the order of submission and in a random one; also planned again from the middle on, as annealing does."""
    rng = random.Random(seed)
    machine, jobs = simple_machine(8, 2, 10 * GB), crowd(rng, kinds)
    planner = Planner(Timeline(machine, 1000.0), jobs, lambda one: one.walltime_s, Objective(2.0))
    mixed = rng.sample(range(NUMBER), NUMBER)
    for order in (list(range(NUMBER)), mixed):
        planner.score(np.array(order, np.int32))
        assert planner.starts_s.tolist() == starts_s(Timeline(machine, 1000.0), jobs, order)
    first = np.array(mixed, np.int32)
    score = planner.score(first)
    best, found = planner.anneal(first, score, Annealing(60, score / NUMBER, swaps_only=False), seed)
    assert found < score
    assert planner.score(best) == found
    assert planner.starts_s.tolist() == starts_s(Timeline(machine, 1000.0), jobs, best.tolist())
