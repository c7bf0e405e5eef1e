"""``--pass-limit`` of a service, and its default; the clock is moved on by the test."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace

import pytest

from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policies.plan import Plan
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.pass_limit import SEARCHES, PassLimit, Searches
from spillway.schedulers.policykit.planning import Planner
from spillway.schedulers.service import command
from spillway.schedulers.service.command import session_parser, spec_of
from tests.schedulers.policies.scenes import GB, job, view


def limit_of(*arguments: str) -> PassLimit | None:
    """The bound of a service with these arguments."""
    return spec_of(session_parser().parse_args(arguments)).pass_limit


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        (["plan"], 10.0),
        (["conservative"], 10.0),
        (["plan:steps=20"], 10.0),
        (["easy"], None),
        (["plan", "--pass-limit", "2.5"], 2.5),
        (["plan", "--pass-limit", "inf"], None),
    ],
)
def test_seconds(arguments: list[str], seconds: float | None) -> None:
    """Ten by default, where the policy takes a bound; a stated value takes precedence."""
    limit = limit_of(*arguments)
    assert (limit.seconds if limit is not None else None) == seconds


def test_a_search_ends_after_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """One second passes with each look at the clock: of the orders to start from, the first ten are planned."""
    ticks = itertools.count()
    monkeypatch.setattr(command, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    policy = spec_of(session_parser().parse_args(["plan"])).make_policy()
    assert isinstance(policy, Plan)
    rng = random.Random(3)
    jobs = [job(i, rng.randint(1, 10), float(rng.randint(1, 900))) for i in range(40)]
    seen = view(simple_machine(10, 2, 10 * GB), jobs, now_s=1000.0)
    planner = Planner(seen.timeline, jobs, lambda one: one.walltime_s, Objective(2.0))
    policy._search(seen, planner)
    assert planner.evaluations == 10
    assert seen.notebook[SEARCHES] == Searches(1, 1)
