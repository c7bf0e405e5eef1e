"""The problem of choosing items, and the thesis's loop over sets."""

import numpy as np
from hypothesis import given, settings

from spillway.schedulers.search.packing import Packing, PackingAnswer, pack
from spillway.schedulers.search.subset import Score, SubsetProblem, SubsetResult, largest_first, loosest
from tests.reference.search import every_set, pack_plain
from tests.schedulers.search.problems import assert_feasible, assert_same_score, problems

THREE = SubsetProblem(
    units=[2, 3, 4], sizes=[10, 1, 0], waits=[5.0, 1.0, 3.0], free_units=6, capacities=[10, 10], units_first=True
)
"""All three need 9 units; the first needs both bins for itself."""


def test_scores() -> None:
    """Units, sum of sizes, mean wait; in the order of the objective."""
    assert THREE.score([0, 2]) == (6, 20, 4.0)
    assert THREE.score([]) == (0, 0, 0.0)
    assert SubsetProblem([2], [10], [5.0], 6, [10], units_first=False).score([0]) == (20, 2, 5.0)


def test_limits() -> None:
    """Units and further limits count, bins do not."""
    assert THREE.within_limits([0, 1])
    assert not THREE.within_limits([1, 2])
    limited = SubsetProblem([1, 1], [0, 0], [0.0, 0.0], 2, [], loads=[[3, 4]], load_limits=[6])
    assert limited.within_limits([1])
    assert not limited.within_limits([0, 1])


@settings(max_examples=150)
@given(problems(6))
def test_largest_first_finds_the_best(problem: SubsetProblem) -> None:
    """The thesis's loop is exact when every check is."""
    result = largest_first(problem, lambda chosen: pack(*problem.of(chosen), problem.capacities), 1000)
    assert_feasible(problem, result)
    assert_same_score(result.score, every_set(problem, pack_plain))
    assert result.proven


def test_undecided_counts_as_misfit_and_is_no_proof() -> None:
    """As in the thesis; but the result says that it is not proven."""
    none = np.zeros((0, 2), np.int64)
    result = largest_first(THREE, lambda chosen: Packing(PackingAnswer.UNDECIDED, none, 0), 1000)
    assert result.chosen is None
    assert not result.proven


def test_budget_of_the_loop() -> None:
    """With one look, nothing is found and nothing is proven."""
    result = largest_first(THREE, lambda chosen: pack(*THREE.of(chosen), THREE.capacities), 1)
    assert result.chosen is None
    assert result.bound == loosest(THREE) == (6, 20, 5.0)
    assert not result.proven


def test_gap_is_relative_to_the_bound() -> None:
    """The second part only counts when the first is as good as it can be."""
    taken = np.zeros((1, 1), np.int64)
    assert SubsetResult((0,), taken, Score(6, 10, 1.0), Score(8, 10, 1.0), 0).gap == (0.25, 0.0)
    assert SubsetResult((0,), taken, Score(6, 10, 1.0), Score(6, 40, 1.0), 0).gap == (0.0, 0.75)
    assert SubsetResult(None, taken, None, Score(6, 40, 1.0), 0).gap == (1.0, 0.0)
    assert SubsetResult(None, taken, None, None, 0).gap == (0.0, 0.0)
