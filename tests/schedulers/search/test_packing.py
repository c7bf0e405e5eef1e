"""Packing whole units into bins: against an exhaustive search, and its guarantees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Packer
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


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(5, 19)), min_size=2, max_size=6),
    st.integers(2, 6),
    st.integers(0, 6),
)
def test_equal_bins_nearly_full(items: list[tuple[int, int]], bins: int, spare: int) -> None:
    """Equal bins with hardly any capacity to waste: symmetry, dominance and memory lose no packing."""
    units, sizes = [one for one, _ in items], [size for _, size in items]
    wanted = sum(one * size for one, size in items)
    capacities = [-(-wanted // bins) + spare] * bins
    if sum(units) <= 14:
        assert (pack(units, sizes, capacities).verdict is PackingAnswer.YES) is pack_plain(units, sizes, capacities)


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


def test_sizes_of_a_real_machine() -> None:
    """Bytes of burst buffers, 12 storage nodes: a tight case that is decided in few steps."""
    gb = 10**9
    capacities = [
        int(size * gb) for size in (1.43, 1.99, 3.43, 9.1, 10.05, 12.94, 21.2, 22.88, 28.1, 30.49, 37.36, 40.0)
    ]
    sizes = [int(size * gb) for size in (17.55, 10.2, 9.77, 6.59, 5.84)]
    found = pack([1, 6, 4, 2, 13], sizes, capacities)
    assert found.verdict is PackingAnswer.NO
    assert found.steps < 1000
    assert pack([1, 6, 4, 2, 11], sizes, capacities).verdict is PackingAnswer.YES


def test_the_rule_of_thumb_fills_the_fullest_bin_first() -> None:
    """Three units of 4 go into 5 and 9, not into 20."""
    found = packed([(3, 4)], [20, 5, 9], budget=0)
    assert (found.verdict, found.taken.tolist(), found.steps) == (PackingAnswer.YES, [[0, 1, 2]], 0)


def test_is_packing_refuses() -> None:
    """A packing that omits a unit, overfills a bin or has negative counts is invalid."""
    assert is_packing([2], [3], [6], np.array([[2]]))
    assert not is_packing([2], [3], [6], np.array([[1]]))
    assert not is_packing([2], [3], [5], np.array([[2]]))
    assert not is_packing([0], [3], [6, 6], np.array([[1, -1]]))


def test_memory_is_never_mistaken_for_another_question() -> None:
    """A packer that answers one question after the other changes no answer."""
    packer = Packer()
    for capacity in (8, 9, 8, 9):
        verdict, taken, steps = packer.pack([1, 2, 1], [6, 4, 3], [capacity, 8], 1000)
        anew = pack([1, 2, 1], [6, 4, 3], [capacity, 8], 1000)
        assert (verdict, taken.tolist(), steps) == (anew.verdict.value, anew.taken.tolist(), anew.steps)
        assert (anew.verdict is PackingAnswer.YES) is (capacity == 9)


def test_sizes_without_units_are_refused() -> None:
    """A question that is not complete is an error, not a wrong answer."""
    with pytest.raises(ValueError, match="as many sizes as units"):
        pack([1, 2], [3], [4])
