"""Packing whole units into bins: against an exhaustive search, and its guarantees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.search.packing import Packing, PackingAnswer, pack
from tests.reference.search import pack_plain
from tests.schedulers.search.problems import is_packing

ITEMS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 11)), max_size=5)
ROOMS = st.lists(st.sampled_from([0, 3, 7, 10, 11, 17, 17, 20]), max_size=4)


def packed(items: list[tuple[int, int]], capacities: list[int], budget: int = 1_000_000) -> Packing:
    """Pack (units, size) pairs."""
    return pack([units for units, _ in items], [size for _, size in items], capacities, budget)


@settings(max_examples=400)
@given(ITEMS, ROOMS)
def test_answer_is_that_of_trying_everything(items: list[tuple[int, int]], capacities: list[int]) -> None:
    """The verdict is right, and a packing packs."""
    units, sizes = [one for one, _ in items], [size for _, size in items]
    found = pack(units, sizes, capacities)
    assert found.verdict is (PackingAnswer.YES if pack_plain(units, sizes, capacities) else PackingAnswer.NO)
    if found.verdict is PackingAnswer.YES and (capacities or not any(one for one, size in items if size == 0)):
        assert is_packing(units, sizes, capacities, found.taken)
    elif found.verdict is PackingAnswer.NO:
        assert not found.taken.any()


@pytest.mark.parametrize(
    ("items", "capacities", "verdict"),
    [
        ([], [], PackingAnswer.YES),
        ([(3, 0)], [], PackingAnswer.YES),
        ([(1, 1)], [], PackingAnswer.NO),
        ([(3, 4)], [4, 4, 3], PackingAnswer.NO),  # 11 in all, 12 requested
        ([(2, 6)], [11, 5], PackingAnswer.NO),  # capacity enough in all, but no unit may be split
        ([(2, 5), (1, 6)], [10, 6], PackingAnswer.YES),
        ([(1, 6), (1, 5), (1, 4), (1, 3)], [9, 9], PackingAnswer.YES),  # 6 + 3, 5 + 4
        (
            [(1, 6), (2, 4), (1, 3)],
            [9, 8],
            PackingAnswer.YES,
        ),  # largest first into the tightest bin takes 6 | 8 and fails
    ],
)
def test_small_cases(items: list[tuple[int, int]], capacities: list[int], verdict: PackingAnswer) -> None:
    """Cases to check by hand."""
    assert packed(items, capacities).verdict is verdict


def test_budget_leaves_a_question_open() -> None:
    """A question that neither counting nor the heuristic settles stays undecided without steps; the budget is kept."""
    items, capacities = [(1, 6), (2, 4), (1, 3)], [9, 8]
    assert packed(items, capacities, budget=0) == (PackingAnswer.UNDECIDED, pytest.approx(np.zeros((3, 2))), 1)
    assert packed(items, capacities, budget=100).steps <= 100


def test_is_packing_refuses() -> None:
    """A packing that omits a unit, overfills a bin or has negative counts is invalid."""
    assert is_packing([2], [3], [6], np.array([[2]]))
    assert not is_packing([2], [3], [6], np.array([[1]]))
    assert not is_packing([2], [3], [5], np.array([[2]]))
    assert not is_packing([0], [3], [6, 6], np.array([[1, -1]]))


def test_sizes_without_units_are_refused() -> None:
    """A question that is not complete is an error, not a wrong answer."""
    with pytest.raises(ValueError, match="as many sizes as units"):
        pack([1, 2], [3], [4])
