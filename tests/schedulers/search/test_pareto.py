"""Two objectives: the rule of exchange by hand, all sets of small problems, the genetic search of larger ones."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.search.pareto import Genetic, choose, exchanged
from spillway.schedulers.search.subset import SubsetProblem
from tests.reference.search import pack_plain
from tests.schedulers.search.problems import assert_feasible, problems

GENETIC = Genetic(exhaustive=0)


def problem(units: list[int], sizes: list[int], **further: object) -> SubsetProblem:
    """Items on 10 units and one bin of 100."""
    return SubsetProblem(units, sizes, [0.0] * len(units), 10, [100], **further)  # type: ignore[arg-type]


@pytest.mark.parametrize(("size", "chosen"), [(16, (1,)), (15, (0,))])
def test_units_are_given_up_for_twice_as_much(size: int, chosen: tuple[int, ...]) -> None:
    """6 units without size, or 5 units of 3 or 4: a tenth of the units is worth a fifth of the sizes, not less."""
    items = problem([6, 5, 10], [0, 4 if size == 16 else 3, 0])
    assert choose(items, (10, 100), Genetic(), 1).chosen == (2,)
    items = problem([6, 5], [0, 4 if size == 16 else 3])
    assert choose(items, (10, 100), Genetic(), 1).chosen == chosen


def test_everything_that_fits_is_taken_and_proven() -> None:
    """No search is needed."""
    found = choose(problem([2, 3, 5], [10, 0, 4]), (10, 100), GENETIC, 1)
    assert found.chosen == (0, 1, 2)
    assert found.proven


def test_what_must_be_in_is_in() -> None:
    """The first item by itself forbids the better pair; where it cannot be in, there is no set."""
    assert choose(problem([7, 5, 5], [0, 9, 9], mandatory=(0,)), (10, 100), Genetic(), 1).chosen == (0,)
    assert choose(problem([11, 5, 5], [0, 9, 9], mandatory=(0,)), (10, 100), Genetic(), 1).chosen is None


def by_trying(items: SubsetProblem) -> set[tuple[int, int]]:
    """Units and sizes of all Pareto sets."""
    found = set()
    for count in range(len(items.units) + 1):
        for chosen in combinations(range(len(items.units)), count):
            units, sizes = items.of(chosen)
            if (
                set(items.mandatory) <= set(chosen)
                and items.within_limits(chosen)
                and pack_plain(units, sizes, items.capacities)
            ):
                found.add((sum(units), sum(u * s for u, s in zip(units, sizes, strict=True))))
    return {point for point in found if not any(o != point and o[0] >= point[0] and o[1] >= point[1] for o in found)}


@settings(max_examples=100)
@given(items=problems(), exchange=st.sampled_from([0.1, 1.0, 2.0, 50.0]))
def test_small_windows_get_the_best_by_the_rule(items: SubsetProblem, exchange: float) -> None:
    """The rule picks from the front that an exhaustive search finds."""
    totals = (12, 40)
    front = by_trying(items)
    found = choose(items, totals, Genetic(exchange=exchange), 1)
    assert_feasible(items, found)
    if not front:
        assert found.chosen is None
        return
    most = max(front)
    worth = [
        point
        for point in front
        if point[1] > most[1] and (point[1] - most[1]) / 40 >= exchange * (most[0] - point[0]) / 12
    ]
    expected = max(worth, key=lambda one: one[1], default=most)
    assert found.chosen is not None
    units, sizes = items.of(found.chosen)
    assert (sum(units), sum(u * s for u, s in zip(units, sizes, strict=True))) == expected


@settings(max_examples=50)
@given(items=problems(most_items=12), seed=st.integers(0, 2**64 - 1))
def test_the_genetic_search_is_feasible_and_repeats(items: SubsetProblem, seed: int) -> None:
    """Each result fits; the same seed gives the same result."""
    found = choose(items, (12, 40), GENETIC, seed)
    assert_feasible(items, found)
    assert choose(items, (12, 40), GENETIC, seed).chosen == found.chosen


def test_the_genetic_search_finds_what_the_exhaustive_one_does() -> None:
    """Twelve items, one bin that only holds some of them: four of six seeds find the best by the rule, or better."""
    items = problem([3, 2, 4, 1, 2, 3, 5, 1, 2, 4, 3, 2], [9, 4, 0, 20, 7, 3, 1, 30, 2, 0, 8, 11])
    best = choose(items, (10, 100), Genetic(exhaustive=12), 1)
    found = [choose(items, (10, 100), GENETIC, seed).chosen for seed in range(6)]
    assert found.count(best.chosen) >= 4


def test_no_set_is_none() -> None:
    """Nothing to choose from, nothing chosen."""
    assert exchanged([], 2.0) is None
