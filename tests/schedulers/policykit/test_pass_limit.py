"""A bound on the time of a search, with a clock that the test moves on."""

import random

import numpy as np
import pytest

from spillway.base.errors import OptionError
from spillway.core import Timeline
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policies.plan import Plan
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.pass_limit import SEARCHES, PassLimit, Searches, never
from spillway.schedulers.policykit.planning import Annealing, Planner
from tests.kit.specs import session_spec
from tests.schedulers.policies.scenes import GB, job, numbers, started, view

MACHINE = simple_machine(10, 2, 10 * GB)


class Clock:
    """One second passes with each look at it."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        """Current time (s)."""
        self.looks += 1
        return float(self.looks)


def queue(number: int) -> list[Job]:
    """Jobs of many sizes, some waiting long."""
    rng = random.Random(3)
    return [job(i, rng.randint(1, 10), float(rng.randint(1, 900)), submit_s=rng.random() * 900) for i in range(number)]


@pytest.mark.parametrize("seconds", [0.5, 3, 12, 25, 10_000])
def test_never_worse_than_the_first_order(seconds: float) -> None:
    """However early the search ends, and the later the better; the clock limits the number of evaluations."""
    jobs = queue(40)
    seen, clock = view(MACHINE, jobs, now_s=1000.0, notes=PassNotes()), Clock()
    policy = Plan(alpha=2.0).limited(PassLimit(seconds, clock))
    planner = Planner(seen.timeline, jobs, lambda one: one.walltime_s, Objective(2.0))
    first = planner.score(next(policy._starting_orders(seen, planner)))
    evaluations = planner.evaluations
    order = policy._search(seen, planner)
    ended = seconds < 1000
    if ended:
        most = seconds + 1 if seconds < 20 else 20 + 13 * (seconds - 18)  # 20 orders, then 13 moves between two looks
        assert planner.evaluations - evaluations <= most
    assert planner.score(order) <= first
    assert seen.notebook[SEARCHES] == Searches(1, int(ended))
    assert list(policy.warnings(seen.notebook, MACHINE, 0.0)) == ended * [
        "the pass limit ended 1 of 1 passes before their searches were complete"
    ]
    assert seen.notes is not None
    assert any("pass limit" in remark for remark in seen.notes.remarks) == ended


def test_a_limit_that_is_never_reached_changes_nothing() -> None:
    """The same decisions with annealing in pieces, looking at the clock between them, as in one go without a clock."""
    jobs = queue(30)
    alone = numbers(started(Plan(), view(MACHINE, jobs, now_s=1000.0)))
    clock = Clock()
    assert numbers(started(Plan().limited(PassLimit(1e9, clock)), view(MACHINE, jobs, now_s=1000.0))) == alone
    assert clock.looks > 10


def test_annealing_in_pieces_is_annealing() -> None:
    """Order, score and evaluations are the same, whatever the pieces."""
    jobs = queue(60)
    how = Annealing(150, 1e6, swaps_only=False)
    found = []
    for over in (never, lambda: False):
        planner = Planner(Timeline(MACHINE, 1000.0), jobs, lambda one: one.walltime_s, Objective(2.0))
        start, score, _ = planner.best_of([np.arange(len(jobs), dtype=np.int32)])
        order, best = planner.anneal(start, score, how, 1, over)
        found.append((order.tolist(), best, planner.evaluations))
    assert found[0] == found[1]


def test_policies_that_do_not_search_have_no_limit() -> None:
    """They are named with those that do."""
    with pytest.raises(OptionError, match=r"policy .easy. and --pass-limit cannot be combined.*plan-square"):
        session_spec("easy", pass_limit=PassLimit(1.0, Clock())).session()
    limit = PassLimit(1.0, Clock())
    policy = session_spec("plan", pass_limit=limit).make_policy()
    assert isinstance(policy, Plan)
    assert policy.limit is limit
