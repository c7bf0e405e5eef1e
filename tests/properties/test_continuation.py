"""Passes that continue the previous one make the same decisions as whole passes, and leave the same timeline."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Ground, Passes
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.backfill import COVERED, Backfill
from spillway.schedulers.policykit.estimates import Correction, Estimator, UserHistory, Walltimes
from spillway.schedulers.policykit.view import Around, View
from spillway.schedulers.timeline.placement import NodeOrder, Placement, StorageOrder
from tests.properties.mini import MiniJob, MiniMachine, Played, play
from tests.properties.test_policies import JOBS, SHAPE, TREE
from tests.schedulers.runtimes import rigid

GB = 10**9
ESTIMATORS: Mapping[str, Callable[[], Estimator]] = {
    "walltime": Walltimes,
    "history": lambda: UserHistory(1, Correction.GRADUAL, "bb"),
}
BACKFILLING = {name: entry for name, entry in POLICIES.items() if entry.cls is Backfill and name != "fcfs"}
STEADY = Placement()
OTHERS = [
    placement
    for placement in (Placement(node, storage) for node in NodeOrder for storage in StorageOrder)
    if not placement.steady
]


@dataclass(frozen=True)
class Beside(Around):
    """A policy with a whole pass beside each of its own; counts the passes that skipped jobs."""

    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, view: View) -> Any:
        """Decide, and compare decisions and timeline with those of a whole pass."""
        other = copy.copy(view)
        other.changes, other.reserved = None, []
        expected = list(self.policy(other))
        going_on = "pass" in view.cache
        found = []
        for decision in self.policy(view):
            found.append(decision)
            yield decision
        assert found == expected
        assert view.timeline.segments() == other.timeline.segments()
        self.counts["passes"] += 1
        self.counts["went on"] += going_on and bool(view.reserved)


def waiting_jobs(rng: Random, tree: bool) -> list[MiniJob]:
    """A few long jobs, and one more every second, which start or wait while the first ones run."""

    def job(submit_s: int, least_s: int, sizes: tuple[int, ...]) -> MiniJob:
        run_s, nodes = rng.randint(least_s, 90), rng.choice(sizes)
        size = rng.choice((0, 0, 1, 2, 3, 5) if nodes <= 5 else (0, 1, 2)) * GB
        rate = rng.choice((0, 0, 0, 5, 20, 40)) if tree else 0
        return MiniJob(float(submit_s), nodes, run_s + rng.choice((0.0, 0.0, 5.0, 20.0)), float(run_s), size, rate)

    first = [job(0, 40, (1, 2, 2, 3, 4)) for _ in range(rng.randint(2, 5))]
    return first + [job(second, 5, (1, 1, 1, 2, 3, 4, 6, 8, 12)) for second in range(1, rng.randint(8, 30))]


def play_beside(seed: str, options: dict[str, Any], placement: Placement = STEADY) -> Counter[str]:
    """Play a world of waiting jobs, each pass beside a whole one."""
    rng = Random(seed)
    tree = rng.random() < 0.5
    shape = MiniMachine(12, 3, 10 * GB, tuple(f"pfs=200/edge{node // 4}=60" for node in range(12)) if tree else ())
    policy = rng.choice(list(BACKFILLING.values())).build({"covered": rng.choice(list(COVERED)), **options})
    session = Session(beside := Beside(policy), rigid(), ground=Ground(placement=placement))
    play(session, shape, waiting_jobs(rng, tree))
    return beside.counts


def test_deep_reservations() -> None:
    """Jobs that move up among the first get reservations in a continued pass, too; some passes are continued."""
    counts: Counter[str] = Counter()
    for number in range(120):
        depth = (1, 2, 3, 4, 30)[number % 5]
        counts += play_beside(f"deep {number}", {"depth": depth})
    assert counts["went on"] > 0.3 * counts["passes"]


def test_rules_of_placement() -> None:
    """After other starts a rule may choose other resources than for the previous reservation."""
    for number, placement in enumerate(2 * OTHERS):
        play_beside(f"placed {number}", {"depth": 1 + number % 2}, placement)


def test_reservations_that_leave_out_idle_nodes() -> None:
    """The nodes that they leave out depend on those that are idle now."""
    for number in range(45):
        play_beside(f"extra {number}", {"depth": 1 + number % 3, "by_number": True})


@pytest.mark.parametrize("explain", [False, True])
def test_a_job_that_moves_up(explain: bool) -> None:
    """Of A to E, two have reservations: C starts as the second, so D is the second, and E may not delay it."""
    jobs = [
        MiniJob(0.0, 2, 100.0, 100.0),
        MiniJob(1.0, 3, 10.0, 10.0),
        MiniJob(10.0, 1, 50.0, 50.0),
        MiniJob(10.0, 4, 100.0, 100.0),
        MiniJob(20.0, 1, 95.0, 95.0),
    ]
    played = Played()
    play(Session(Backfill(depth=2), rigid(), passes=Passes(explain=explain), observer=played), MiniMachine(4), jobs)
    starts = {"ABCDE"[int(job_id.partition("!")[2])]: start_s for job_id, start_s in played.starts.items()}
    assert starts == {"A": 0.0, "B": 100.0, "C": 10.0, "D": 110.0, "E": 210.0}


@pytest.mark.parametrize("name", ["fcfs", *BACKFILLING])
@settings(max_examples=25)
@given(
    jobs=JOBS,
    tree=st.booleans(),
    depth=st.sampled_from(["", "", "0", "2", "3"]),
    placement=st.builds(Placement, st.sampled_from(NodeOrder), st.sampled_from(StorageOrder)),
    estimates=st.sampled_from(sorted(ESTIMATORS)),
)
def test_going_on_changes_nothing(
    name: str, jobs: list[MiniJob], tree: bool, depth: str, placement: Placement, estimates: str
) -> None:
    """Message by message the same replies as with explained passes, which look at every job."""

    def replies(explain: bool) -> list[object]:
        policy, estimator = POLICIES[name].build({"depth": depth} if depth else {}), ESTIMATORS[estimates]()
        session = Session(
            policy, rigid(), passes=Passes(explain=explain, estimator=estimator), ground=Ground(placement=placement)
        )
        return play(session, TREE if tree else SHAPE, jobs)

    assert replies(explain=False) == replies(explain=True)


@settings(max_examples=60)
@given(jobs=JOBS, tree=st.booleans())
def test_what_is_not_enacted_is_tried_again(jobs: list[MiniJob], tree: bool) -> None:
    """The next pass does not build on starts that a wrapper around the policy suppresses."""

    class Restrained(Backfill):
        def __call__(self, view: View) -> Any:
            return (start for start in super().__call__(view) if int(view.now_s) % 3)

    shape = TREE if tree else SHAPE
    expected = play(Session(Restrained(), rigid(), passes=Passes(explain=True)), shape, jobs)
    assert play(Session(Restrained(), rigid()), shape, jobs) == expected


@settings(max_examples=60)
@given(jobs=JOBS, tree=st.booleans())
def test_what_others_book_is_not_built_on(jobs: list[MiniJob], tree: bool) -> None:
    """A wrapping policy may reserve before and after it: every pass begins with the running jobs."""

    class Reserving(Backfill):
        def __call__(self, view: View) -> Any:
            if int(view.now_s) % 2:
                self._keep_free(view)
            yield from super().__call__(view)
            self._keep_free(view)

        def _keep_free(self, view: View) -> None:
            fit = view.timeline.earliest_fit(view.queue[0], 5.0) if view.queue else None
            if fit is not None:
                view.timeline.reserve(fit.start_s, fit.start_s + 5.0, fit.allocation)

    shape = TREE if tree else SHAPE
    expected = play(Session(Reserving(), rigid(), passes=Passes(explain=True)), shape, jobs)
    assert play(Session(Reserving(), rigid()), shape, jobs) == expected


def test_passes_go_on_where_nothing_has_changed() -> None:
    """A full machine, one arrival a second: only the first passes look at the whole queue."""
    jobs = [MiniJob(0.0, 8, 100.0, 100.0), *(MiniJob(float(second), 1, 5.0, 5.0) for second in range(1, 50))]
    tried: Counter[int] = Counter()

    class Watched(Backfill):
        def _serve(self, view: View, tried_before: int) -> Any:
            tried[len(view.queue) - tried_before] += 1
            return super()._serve(view, tried_before)

    play(Session(Watched(), rigid()), SHAPE, jobs)
    assert tried[1] > 45
    assert sum(number * passes for number, passes in tried.items()) < 250
