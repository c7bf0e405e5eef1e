"""Allocations taken apart and put together; growth is found near the held nodes, with burst buffers and bandwidth."""

from __future__ import annotations

import numpy as np

from spillway.core import Timeline
from spillway.schedulers.core.allocation import find_growth, only, together, without
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.machine import Link, Machine, Node, nearest_first, simple_machine

GB = 10**9


def test_parts_by_hand() -> None:
    """Storages stay with their nodes, nodes ascend."""
    first, second = Allocation((1, 4), (7, 8), 5, 2), Allocation((0, 3), (9, 7), 5, 2)
    whole = Allocation((0, 1, 3, 4), (9, 7, 7, 8), 5, 2)
    assert together(first, second) == whole
    assert only(whole, {1, 4, 6}) == first
    assert without(whole, {1, 4, 6}) == second
    assert together(Allocation((5,)), Allocation((2,))) == Allocation((2, 5))


def racks() -> Machine:
    """Nodes 0 to 5 in racks of two: a0 a1, b2 b3, c4 c5."""
    nodes = tuple(Node(n, f"n{n}", ("abc"[n // 2], str(n))) for n in range(6))
    return Machine(nodes, node_link=np.full(6, -1, np.int32), nearest_storages=nearest_first(nodes, ()))


def test_nearest_nodes_first() -> None:
    """A job with a node in rack c gets the other one there first, then the lowest."""
    held = Allocation((4,))
    assert find_growth(Timeline(racks()), held, 1, [0, 1, 2, 5], [], []) == Allocation((5,))
    assert find_growth(Timeline(racks()), held, 2, [0, 1, 2, 5], [], []) == Allocation((0, 5))
    assert find_growth(Timeline(racks()), held, 5, [0, 1, 2, 5], [], []) is None


def test_growth_needs_burst_buffers_and_bandwidth() -> None:
    """Each further node takes as much as the held ones; where that is not free, nothing is found."""
    machine = simple_machine(6, 1, 40 * GB)
    held = Allocation((0,), (0,), 10 * GB)
    assert find_growth(Timeline(machine), held, 2, [1, 2, 3], [25 * GB], []) == Allocation((1, 2), (0, 0), 10 * GB)
    assert find_growth(Timeline(machine), held, 3, [1, 2, 3], [25 * GB], []) is None
    linked = Timeline(simple_machine(6, links=(Link("pfs", 100, -1),), node_link=(0,) * 6))
    assert find_growth(linked, Allocation((0,), io_rate=30), 2, [1, 2, 3], [], [70]) == Allocation((1, 2), io_rate=30)
    assert find_growth(linked, Allocation((0,), io_rate=30), 3, [1, 2, 3], [], [70]) is None
