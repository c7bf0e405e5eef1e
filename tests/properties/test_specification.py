"""The product beside the specification that executes: passes, enumerated worlds, and proofs about small timelines."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from spillway.schedulers.policies.window import Window
from tests.reference import placement_rules, specification, windows
from tests.reference.compared_worlds import play_all
from tests.reference.comparison import POLICY_RULES
from tests.reference.enumeration import EVERY, POLICY_NAMES, SOME, Enumeration
from tests.reference.small_timelines import compare_fit, compare_pass, prove_booking, prove_fit

pytestmark = pytest.mark.slow

MOST_LINES = 350
"""A specification is short."""


@pytest.mark.parametrize(("kind", "worlds"), [("plain", 250), ("rich", 120), ("fuzzed", 120)])
def test_every_pass_is_that_of_the_specification(kind: str, worlds: int) -> None:
    """Same starts, in the same order, on the same nodes and storage nodes."""
    comparison = play_all(kind, worlds)
    assert comparison.passes.keys() == {rules.__name__ for rules in POLICY_RULES}
    assert comparison.passes.total() > 5 * worlds
    assert comparison.starts > 2 * worlds


def test_logs_of_the_studies() -> None:
    """The same on the thesis's machine, which is too large for the sets of the window policy."""
    comparison = play_all("logged", 5)
    assert comparison.passes.keys() == {rules.__name__ for rules in POLICY_RULES if rules is not Window}
    assert comparison.passes.total() > 150


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_all_small_worlds(policy: str) -> None:
    """66,969 worlds of eight kinds of jobs for EASY and conservative backfilling; of others the 5,529 of three jobs.

    ``python -m tools.specification`` plays those of four jobs for more of them.
    """
    jobs = 4 if policy in ("easy", "conservative") else 3
    found = Enumeration(policy, SOME, jobs)
    assert found.worlds == {3: 5_529, 4: 66_969}[jobs]
    assert found.passes > 700
    assert found.starts > 700


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_all_worlds_of_two_jobs_of_every_kind(policy: str) -> None:
    """13,969 worlds of all 48 kinds."""
    found = Enumeration(policy, EVERY, 2)
    assert found.worlds == 1 + 3 * len(EVERY) + 6 * len(EVERY) ** 2
    assert found.passes > 300


def test_every_search_is_that_of_the_specification() -> None:
    """Same start and same allocation, under all rules of placement, also where parts are out, drained or taken."""
    assert sum(map(compare_fit, range(2500))) > 900
    assert sum(map(compare_pass, range(1200))) > 300


def test_a_fit_is_free_and_no_start_is_earlier() -> None:
    """Z3 finds no earlier start at any real time, and no time of the interval at which the allocation is not free."""
    found = Counter(prove_fit(number) for number in range(100))
    assert min(found[True], found[False]) > 12


def test_a_booking_is_made_exactly_if_it_is_free() -> None:
    """A reservation is refused exactly where Z3 finds a time with too much; it changes nothing but what it takes."""
    made = Counter(prove_booking(number) for number in range(100))
    assert min(made[True], made[False]) > 12


def test_the_specification_is_short_and_imports_nothing_of_the_product() -> None:
    """It cannot repeat an error of the code that it is compared with."""
    for module in (specification, placement_rules, windows):
        text = Path(module.__file__ or "").read_text(encoding="utf-8")
        names = [node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
        assert not [name for name in names if not name.startswith(("tests.reference.", "__future__", "collections"))
                    and name not in ("bisect", "itertools", "typing")]  # fmt: skip
        assert len(text.splitlines()) <= MOST_LINES
