"""Branch and bound: feasible, exact, with correct proof flags, and always the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.search.packing import Packing, PackingAnswer, pack
from spillway.schedulers.search.subset import SubsetProblem
from spillway.schedulers.search.subset_bb import Budget, branch_and_bound
from tests.reference.search import every_set, pack_plain
from tests.schedulers.search.problems import assert_feasible, assert_same_score, problems


@settings(max_examples=300)
@given(problems())
def test_finds_the_best(problem: SubsetProblem) -> None:
    """As good as trying every set, and feasible by an independent check."""
    result = branch_and_bound(problem)
    assert_feasible(problem, result)
    assert_same_score(result.score, every_set(problem, pack_plain))
    assert result.proven


@settings(max_examples=150)
@given(problems(), st.integers(0, 40), st.integers(0, 5))
def test_small_budgets_bound_the_best(problem: SubsetProblem, steps: int, pack_steps: int) -> None:
    """For any budget: a feasible set, a bound that the best does not exceed, and no false proof."""
    result = branch_and_bound(problem, Budget(steps, pack_steps))
    best = every_set(problem, pack_plain)
    assert_feasible(problem, result)
    if best is not None:
        assert result.bound is not None
        assert result.bound[:2] > best[:2] or result.bound.mean_wait >= best.mean_wait - 1e-9
    if result.proven:
        assert_same_score(result.score, best)


PUZZLE = SubsetProblem([3, 1, 2], [4, 5, 7], [0.0, 0.0, 0.0], 6, [15, 16])
"""All fit in just one way (7 + 4 + 4 and 7 + 5 + 4), which no rule of thumb finds."""


def test_second_opinion_settles_what_was_left_open() -> None:
    """With no steps for packing, another solver's answers make the result exact or name the gap."""
    alone = branch_and_bound(PUZZLE, Budget(1000, 0))
    requested: list[tuple[int, ...]] = []

    def settle(chosen: tuple[int, ...]) -> Packing:
        requested.append(chosen)
        return pack(*PUZZLE.of(chosen), PUZZLE.capacities)

    settled = branch_and_bound(PUZZLE, Budget(1000, 0), settle)
    assert (alone.chosen, alone.proven) == ((0, 2), False)
    assert requested == [(2, 1, 0)]
    assert (settled.chosen, settled.proven) == ((0, 1, 2), True)
    assert_feasible(PUZZLE, settled)


def test_second_opinion_that_says_no() -> None:
    """A set that another solver refutes no longer keeps the proof open."""
    none = np.zeros((3, 2), np.int64)
    refuted = branch_and_bound(PUZZLE, Budget(1000, 0), lambda chosen: Packing(PackingAnswer.NO, none, 0))
    assert (refuted.chosen, refuted.proven) == ((0, 2), True)


def test_an_error_of_the_second_opinion_passes_through() -> None:
    """An exception of the other solver is not lost in the search."""

    def fails(chosen: tuple[int, ...]) -> Packing:
        raise RuntimeError("no solver")

    with pytest.raises(RuntimeError, match="no solver"):
        branch_and_bound(PUZZLE, Budget(1000, 0), fails)


def test_mandatory_items_that_do_not_fit() -> None:
    """No set, and that is proven; no items at all: the empty set."""
    result = branch_and_bound(SubsetProblem([3, 1], [0, 0], [0.0, 0.0], 2, [], mandatory=(0,)))
    assert (result.chosen, result.proven) == (None, True)
    assert branch_and_bound(SubsetProblem([], [], [], 5, [])).chosen == ()
