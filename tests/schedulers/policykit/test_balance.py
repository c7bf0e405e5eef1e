"""The resource with the higher requested load."""

from __future__ import annotations

import pytest

from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.balance import nodes_first


@pytest.mark.parametrize(("balance", "first"), [(1.0, False), (1.49, False), (1.5, True), (2.0, True), (0.0, False)])
def test_loads_by_hand(balance: float, first: bool) -> None:
    """Compute load (4 + 4) / 16 = 0.5; burst-buffer load (4 x 10 + 4 x 5) / 80 = 0.75: 1.5 times as much."""
    queue = [Job("w0!0", 0, 0.0, 9.0, 4, 10), Job("w0!1", 1, 0.0, 9.0, 4, 5)]
    assert nodes_first(simple_machine(16, 2, 40), queue, balance) is first


def test_nodes_first_where_there_is_nothing_to_compare() -> None:
    """An empty queue, no burst buffers requested, or a machine without them."""
    queue = [Job("w0!0", 0, 0.0, 9.0, 4, 10)]
    assert nodes_first(simple_machine(16, 2, 40), [], 1.0)
    assert nodes_first(simple_machine(16, 2, 40), [Job("w0!0", 0, 0.0, 9.0, 4)], 0.0)
    assert nodes_first(simple_machine(16), queue, 0.0)
