"""Hill climbing over orders."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.search.permutations import Order
from tests.reference.hill_climbing import climb


def sortedness(order: Order) -> tuple[int, int]:
    """Minus the number of inversions; every position matters."""
    wrong = sum(int(order[i] > order[j]) for i in range(len(order)) for j in range(i + 1, len(order)))
    return -wrong, len(order) - 1


@given(st.permutations(range(7)))
def test_climbs_to_the_only_peak(start: list[int]) -> None:
    """Fewer inversions lead to the sorted order."""
    order, score, _ = climb(np.array(start), sortedness, 10_000)
    assert order.tolist() == list(range(7))
    assert score == 0


def test_exchanges_in_the_order_of_the_listing() -> None:
    """Distance 1 from the front, then distance 2; anew after an improvement; nothing beyond the last that matters."""
    seen: list[list[int]] = []

    def third_wants_zero(order: Order) -> tuple[int, int]:
        seen.append(order.tolist())
        return int(order[0] == 3), 1

    climb(np.arange(4), third_wants_zero, 100)
    start = [0, 1, 2, 3]
    assert seen[0] == start
    assert seen[1:3] == [[1, 0, 2, 3], [0, 2, 1, 3]]  # distance 1, positions 0 and 1
    assert seen[3:5] == [[2, 1, 0, 3], [0, 3, 2, 1]]  # distance 2
    assert seen[5] == [3, 1, 2, 0]  # distance 3: better, so distance 1 again
    assert seen[6] == [1, 3, 2, 0]


@given(st.integers(0, 30))
def test_budget_counts_exchanges(budget: int) -> None:
    """At most so many exchanges are evaluated, and the start is never lost."""
    start = np.array([6, 5, 4, 3, 2, 1, 0])
    order, score, evaluations = climb(start, sortedness, budget)
    assert evaluations == budget
    assert score >= sortedness(start)[0]
    assert sorted(order.tolist()) == list(range(7))
    assert start.tolist() == [6, 5, 4, 3, 2, 1, 0]


def test_nothing_to_exchange() -> None:
    """No position that matters, one item, or no item: the order is returned unchanged."""
    assert climb(np.arange(3), lambda order: (0, -1), 10)[2] == 0
    assert climb(np.arange(1), sortedness, 10)[0].tolist() == [0]
    assert climb(np.arange(0), sortedness, 10)[0].tolist() == []
