"""Passes that go on where the one before ended, and try many jobs at once, answer as passes that look at every job."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.core.session import Session
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.backfill import Backfill
from spillway.schedulers.policykit.estimates import Correction, Estimator, UserHistory, Walltimes
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline.placement import NodeOrder, Placement, StorageOrder
from tests.properties.mini import MiniJob, MiniMachine, play
from tests.properties.test_policies import JOBS, SHAPE, TREE
from tests.schedulers.runtimes import rigid

NAMES = [name for name, entry in POLICIES.items() if issubclass(entry.cls, Backfill)]
ESTIMATORS = {"walltime": Walltimes, "history": lambda: UserHistory(1, Correction.GRADUAL, "bb")}


def replies(
    name: str, jobs: list[MiniJob], shape: MiniMachine, options: dict[str, str], setting: Any, *, explain: bool
) -> list[object]:
    """What a policy answers; where passes are explained, each looks at every job, one by one."""
    placement, estimates = setting
    estimator: Estimator = ESTIMATORS[estimates]()
    policy = POLICIES[name].build(options)
    return play(Session(policy, rigid(), explain=explain, placement=placement, estimator=estimator), shape, jobs)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(
    jobs=JOBS,
    tree=st.booleans(),
    depth=st.sampled_from(["", "", "0", "2", "3"]),
    covered=st.sampled_from(["", "nodes", "nodes+bb"]),
    placement=st.builds(Placement, st.sampled_from(NodeOrder), st.sampled_from(StorageOrder)),
    estimates=st.sampled_from(sorted(ESTIMATORS)),
)
def test_going_on_changes_nothing(
    name: str, jobs: list[MiniJob], tree: bool, depth: str, covered: str, placement: Placement, estimates: str
) -> None:
    """Message by message the same replies."""
    options = {key: value for key, value in (("depth", depth), ("covered", covered)) if value}
    shape, setting = TREE if tree else SHAPE, (placement, estimates)
    expected = replies(name, jobs, shape, options, setting, explain=True)
    assert replies(name, jobs, shape, options, setting, explain=False) == expected


@settings(max_examples=60)
@given(jobs=JOBS, tree=st.booleans())
def test_what_is_not_enacted_is_tried_again(jobs: list[MiniJob], tree: bool) -> None:
    """Where something around the policy holds some of its starts back, the next pass does not build on them."""

    class Restrained(Backfill):
        def __call__(self, view: View) -> Any:
            return (start for start in super().__call__(view) if int(view.now_s) % 3)

    shape = TREE if tree else SHAPE
    expected = play(Session(Restrained(), rigid(), explain=True), shape, jobs)
    assert play(Session(Restrained(), rigid()), shape, jobs) == expected


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
