"""Orders to start a search from."""

from __future__ import annotations

from spillway.schedulers.policykit.filling import all_orders, sorted_by


def test_all_orders_begin_with_the_given_one() -> None:
    """Every order once, lexicographic."""
    orders = [order.tolist() for order in all_orders(3)]
    assert orders == [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    assert [order.tolist() for order in all_orders(0)] == [[]]


def test_equal_keys_stay_in_order() -> None:
    """Sorting is stable, ascending and descending (negative keys)."""
    rising, falling = sorted_by([[2.0, 1.0, 2.0, 1.0], [-2.0, -1.0, -2.0, -1.0]])
    assert rising.tolist() == [1, 3, 0, 2]
    assert falling.tolist() == [0, 2, 1, 3]
