"""Placement: the plain rules by hand, and what makes them safe: no rule changes whether a job fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedulers.core.machine import Link, Machine, simple_machine
from schedulers.timeline.placement import (
    AtEnd,
    NodeOrder,
    StorageOrder,
    carried_nodes,
    choose_nodes,
    choose_storages,
    links_above,
    whole_requests,
)
from tests.schedulers.machine_strategies import machines

TREE = simple_machine(
    6, links=(Link("root", 50, -1), Link("a", 30, 0), Link("b", 20, 0)), node_link=(1, 1, 1, 2, 2, -1)
)


def test_links_above_a_node() -> None:
    """Innermost first; none for a node without link."""
    assert [links_above(TREE, node) for node in (0, 3, 5)] == [[1, 0], [2, 0], []]


def test_whole_requests_are_not_split() -> None:
    """Rooms of 10, 9 and 3 hold five requests of 4."""
    assert whole_requests([10, 9, 3], 4) == 4
    assert whole_requests([], 4) == 0


@pytest.mark.parametrize(
    ("rate", "carried"),
    [(0, 6), (1, 6), (10, 6), (11, 4), (15, 4), (16, 3), (20, 3), (25, 2), (31, 1)],
)
def test_carried_nodes(rate: int, carried: int) -> None:
    """Each link carries what it can of what its children bring; the node without link is not limited."""
    assert carried_nodes(TREE, range(6), [50, 30, 20], rate) == carried


def test_first_fit_skips_full_links() -> None:
    """Nodes 1 and 2 are under a link that carries no second node."""
    assert choose_nodes(TREE, [0, 1, 2, 3, 4], [50, 30, 20], 2, io_rate=20) == (0, 3)
    assert choose_nodes(TREE, [0, 1, 2, 3, 4], [50, 30, 20], 3, io_rate=20) is None
    assert choose_nodes(TREE, [0, 1, 2, 3, 4], [0, 0, 0], 3) == (0, 1, 2)


@pytest.mark.parametrize(
    ("order", "nodes"),
    [(NodeOrder.FIRST_FIT, (0, 1, 2)), (NodeOrder.SPREAD, (0, 1, 5)), (NodeOrder.PACK, (0, 3, 4))],
)
def test_node_orders(order: NodeOrder, nodes: tuple[int, ...]) -> None:
    """Spread takes the unlimited node first and then keeps the links even; pack fills the narrowest first."""
    assert choose_nodes(TREE, range(6), [50, 30, 20], 3, io_rate=10, order=order) == nodes


@pytest.mark.parametrize(
    ("order", "storages"),
    [
        (StorageOrder.NEAREST, (1, 1, 0)),
        (StorageOrder.BY_ID, (0, 0, 1)),
        (StorageOrder.EMPTIEST, (2, 1, 0)),
        (StorageOrder.FULLEST, (0, 0, 1)),
        (StorageOrder.FULLEST_AT_END, (0, 0, 1)),
    ],
)
def test_storage_orders(order: StorageOrder, storages: tuple[int, ...]) -> None:
    """Rooms 8, 9 and 11, requests of 4, every node nearest to storage 1, then 0."""
    machine = simple_machine(3, 3, 12)
    machine.nearest_storages[:] = np.array([1, 0, 2])
    assert choose_storages(machine, (0, 1, 2), [8, 9, 11], 4, order) == storages


def test_fullest_at_end_looks_at_what_stays() -> None:
    """Storage 2 stays fullest; when it is full, 0 and 1 tie and the fuller one while the job runs follows."""
    machine = simple_machine(4, 3, 12)
    later = AtEnd([12, 12, 10], [5.0, 5.0, 0.0])
    chosen = choose_storages(machine, range(4), [8, 6, 9], 4, StorageOrder.FULLEST_AT_END, later)
    assert chosen == (2, 2, 1, 0)


def test_fullest_at_end_prefers_what_the_others_leave_last() -> None:
    """All are empty once the job has ended: first where others leave last, and where none is now last."""
    machine = simple_machine(3, 3, 4)
    later = AtEnd([4, 4, 4], [0.0, 7.0, 9.0])
    chosen = choose_storages(machine, range(3), [4, 4, 4], 4, StorageOrder.FULLEST_AT_END, later)
    assert chosen == (2, 1, 0)


def test_no_burst_buffer_no_storage() -> None:
    """Jobs without request get none, jobs that do not fit get nothing."""
    assert choose_storages(TREE, (0, 1), [], 0) == ()
    assert choose_storages(TREE, (0, 1), [], 1) is None


@settings(max_examples=150)
@given(data=st.data(), machine=machines(), order=st.sampled_from(NodeOrder), rate=st.integers(0, 20))
def test_node_orders_never_change_whether_a_job_fits(data: Any, machine: Machine, order: NodeOrder, rate: int) -> None:
    """Greedy choice in any order reaches exactly the number that the tree can carry."""
    free = sorted(data.draw(st.sets(st.integers(0, min(12, len(machine.nodes) - 1)))))
    bandwidth = [data.draw(st.integers(0, link.capacity_bytes_per_s)) for link in machine.links]
    most = carried_nodes(machine, free, bandwidth, rate)
    chosen = choose_nodes(machine, free, bandwidth, most, rate, order)
    assert chosen is not None
    assert len(set(chosen)) == most
    assert set(chosen) <= set(free)
    left = list(bandwidth)
    for node in chosen:
        for link in links_above(machine, node):
            left[link] -= rate
    assert min(left, default=0) >= 0
    assert choose_nodes(machine, free, bandwidth, most + 1, rate, order) is None


@settings(max_examples=150)
@given(data=st.data(), machine=machines(), order=st.sampled_from(StorageOrder), size=st.integers(1, 20))
def test_storage_orders_never_change_whether_a_job_fits(
    data: Any, machine: Machine, order: StorageOrder, size: int
) -> None:
    """Every order places exactly as many requests as fit whole."""
    free_bytes = [data.draw(st.integers(0, storage.capacity_bytes)) for storage in machine.storages]
    most = whole_requests(free_bytes, size)
    nodes = [node % len(machine.nodes) for node in range(most + 1)]
    chosen = choose_storages(machine, nodes[:most], free_bytes, size, order)
    assert chosen is not None
    assert all(chosen.count(storage) * size <= free_bytes[storage] for storage in set(chosen))
    assert choose_storages(machine, nodes, free_bytes, size, order) is None
