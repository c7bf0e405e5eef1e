"""Policy x life x kind of buffer x rule of placement, with granules, limits, outages and models going round.

``python -m tools.fuzz worlds`` plays random worlds of the whole product.
"""

from collections import Counter
from itertools import combinations

import pytest

from spillway.base.errors import OptionError
from spillway.schedulers.lives import LIVES
from spillway.schedulers.policies import POLICIES
from tests.kit.specs import session_spec
from tests.properties.buffer_cases import APART, KINDS, MIXED, PACKING, RULES, SHARING, Case, covering, refused
from tests.properties.buffer_world import play

NAMES = ("policy", "life", "kind", "rule")
ALL = [
    Case(policy, life, kind, rule, model="timeshared" if policy in SHARING and life == "with-nodes" else "rigid")
    for policy in POLICIES
    for life in LIVES
    for kind in (*KINDS, MIXED)
    for rule in RULES
]


def pairs(cases: list[Case]) -> set[frozenset[tuple[str, str]]]:
    """Pairs of values that meet in cases."""
    return {
        frozenset(pair) for case in cases for pair in combinations([(name, getattr(case, name)) for name in NAMES], 2)
    }


def test_every_pair_is_played() -> None:
    """All pairs of policy, life, kind and rule, except refused ones."""
    played = [case for policy in POLICIES for case in covering(policy)]
    assert not any(refused(case) for case in played)
    assert pairs([case for case in ALL if not refused(case)]) == pairs(played)
    assert {case.model for case in played if case.life in APART} >= {"rigid", "io", "checkpointed", "operations"}


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy(policy: str) -> None:
    """On no storage node is ever more held than it has, a job's nodes lie within the interval of its buffer, shares
    are equal, nothing leaks, and all books agree after every message (:mod:`tests.properties.buffer_account`).
    """
    counts: Counter[str] = Counter()
    for case in covering(policy):
        try:
            counts += play(case).counts
        except Exception as error:
            error.add_note(f"in the world {case}")
            raise
    assert counts["started"] > 15
    assert counts["COMPLETED_SUCCESSFULLY"] > 10


@pytest.mark.parametrize("life", LIVES)
def test_what_cannot_be_combined(life: str) -> None:
    """Is refused when the options are read, and nothing else is."""
    for case in ALL:
        if case.life != life or case.kind != MIXED:
            continue
        spec = session_spec(case.policy, model=case.model, settings={"bb_life": life, "storage_order": case.rule})
        if not refused(case):
            spec.session()
            continue
        with pytest.raises(OptionError, match="cannot be combined"):
            spec.session()
    assert PACKING
