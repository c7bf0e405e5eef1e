"""Placement: the plain rules by hand, and layers of resources beside plain code.

All rules are compared with those of the specification in ``tests/properties/test_specification.py``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import NodeOrder, Placement, StorageOrder, Timeline
from spillway.schedulers.model.machine import Link, Machine, Node, Storage, nearest_first, simple_machine
from tests.reference import layers
from tests.reference.placement import AtEnd, choose_nodes, choose_storages, links_above, own_storages, whole_requests
from tests.schedulers.machine_strategies import jobs, machines, placements

TREE = simple_machine(
    6, links=(Link("root", 50, -1), Link("a", 30, 0), Link("b", 20, 0)), node_link=(1, 1, 1, 2, 2, -1)
)


def test_links_above_a_node() -> None:
    """Innermost first; no link for a node without one."""
    assert [links_above(TREE, node) for node in (0, 3, 5)] == [[1, 0], [2, 0], []]


def test_whole_requests_are_not_split() -> None:
    """Free sizes of 10, 9 and 3 hold four requests of 4, two where each is on its own storage."""
    assert whole_requests([10, 9, 3], 4) == 4
    assert whole_requests([10, 9, 3], 4, each_apart=True) == 2
    assert whole_requests([], 4) == 0


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
        (StorageOrder.RACK, (1, 1, 0)),
        (StorageOrder.LEAST_LOADED, (2, 1, 0)),
        (StorageOrder.COMPACT, (2, 2, 1)),
        (StorageOrder.SPREAD, (2, 1, 0)),
        (StorageOrder.EQUAL, (2, 1, 0)),
    ],
)
def test_storage_orders(order: StorageOrder, storages: tuple[int, ...]) -> None:
    """Rooms 8, 9 and 11, requests of 4, every node nearest to storage 1, then 0."""
    machine = simple_machine(3, 3, 12)
    machine.nearest_storages[:] = np.array([1, 0, 2])
    assert choose_storages(machine, (0, 1, 2), [8, 9, 11], 4, order) == storages


def test_rules_where_storage_nodes_are_fewer_than_requests() -> None:
    """Rooms 20, 9 and 5, six requests of 2: compact stays, spread goes to each once and then on, equal shares all."""
    machine = simple_machine(6, 3, 20)
    rules = {
        StorageOrder.COMPACT: (0, 0, 0, 0, 0, 0),
        StorageOrder.SPREAD: (0, 1, 2, 0, 0, 0),
        StorageOrder.EQUAL: (0, 1, 2, 0, 1, 2),
        StorageOrder.EMPTIEST: (0, 0, 0, 0, 0, 0),
    }
    for order, expected in rules.items():
        assert choose_storages(machine, range(6), [20, 9, 5], 2, order) == expected, order


def test_least_loaded_goes_by_the_share_that_is_left() -> None:
    """30 of 100 left against 9 of 10: the small one first, until 3 of 10 tie and the larger one leads."""
    small, large = Storage(8, "small", (), 10), Storage(9, "large", (), 100)
    machine = replace(simple_machine(4, 2, 1), storages=(small, large))
    assert choose_storages(machine, range(4), [9, 30], 3, StorageOrder.LEAST_LOADED) == (0, 0, 1, 0)


def racked(*capacities: int) -> Machine:
    """Two racks of three nodes each, storage nodes in turn; the last node is in no rack."""
    nodes = tuple(Node(i, f"n{i}", (f"r{i // 3}",)) for i in range(7))
    storages = tuple(Storage(7 + i, f"s{i}", (f"r{i % 2}",), size) for i, size in enumerate(capacities))
    return Machine(nodes, storages, nearest_storages=nearest_first(nodes, storages))


def test_nodes_have_the_storage_of_their_rack() -> None:
    """The node without a storage node in its rack serves no job; with the rules of racks there is no other."""
    machine = racked(8, 4)
    assert [own_storages(machine, node) for node in (0, 2, 3, 6)] == [(0,), (0,), (1,), ()]
    assert choose_storages(machine, (0, 6), [8, 4], 4, StorageOrder.RACK) is None


def test_stripes_lie_on_storage_nodes_that_differ() -> None:
    """Four stripes of six nodes, near the nodes 0, 1, 3 and 4 in turn; five have no place."""
    machine = racked(9, 9, 9, 9)
    assert choose_storages(machine, range(6), [9] * 4, 2, stripes=4) == (0, 2, 1, 3)
    assert choose_storages(machine, range(6), [9, 1, 9, 9], 2, stripes=3) == (0, 2, 3)
    assert choose_storages(machine, range(6), [9] * 4, 2, stripes=5) is None
    assert choose_storages(machine, (), [9] * 4, 2, stripes=2) == (0, 2)
    assert choose_storages(machine, (5,), [5, 9, 7, 9], 2, StorageOrder.EMPTIEST, stripes=3) == (1, 3, 2)


def test_fullest_at_end_looks_at_what_stays() -> None:
    """Storage 2 stays fullest; when it is full, 0 and 1 tie and the fuller one while the job runs follows."""
    machine = simple_machine(4, 3, 12)
    later = AtEnd([12, 12, 10], [5.0, 5.0, 0.0])
    chosen = choose_storages(machine, range(4), [8, 6, 9], 4, StorageOrder.FULLEST_AT_END, later)
    assert chosen == (2, 2, 1, 0)


def test_fullest_at_end_prefers_what_the_others_leave_last() -> None:
    """All are empty once the job has ended: first the storage node that others leave last, last the one that is unused
    now."""
    machine = simple_machine(3, 3, 4)
    later = AtEnd([4, 4, 4], [0.0, 7.0, 9.0])
    chosen = choose_storages(machine, range(3), [4, 4, 4], 4, StorageOrder.FULLEST_AT_END, later)
    assert chosen == (2, 1, 0)


def test_no_burst_buffer_no_storage() -> None:
    """Jobs without a request get no storage, jobs that do not fit get no allocation."""
    assert choose_storages(TREE, (0, 1), [], 0) == ()
    assert choose_storages(TREE, (0, 1), [], 1) is None


@settings(max_examples=120)
@given(data=st.data(), machine=machines(), placement=placements)
def test_layers_are_chosen_as_in_plain_code(data: Any, machine: Machine, placement: Placement) -> None:
    """On a machine that fills up: the same nodes, storage nodes and layers that pay."""
    timeline = Timeline(machine, 0.0, placement)
    for _ in range(6):
        job = data.draw(jobs(machine))
        found = timeline.fit_now(job, 1.0)
        modes = [machine.layer_mode(at) for at, amount in enumerate(job.pools) if amount and machine.pools[at].layer]
        if any(modes) or (modes and not layers.is_racked(job, placement)):
            assert found == layers.fit(machine, timeline.free_until(0.0), job, placement)
        if found is not None:
            timeline.reserve(0.0, 50.0, found)
    timeline.check()


@settings(max_examples=200)
@given(
    data=st.data(),
    machine=machines(),
    order=st.sampled_from([one for one in StorageOrder if one is not StorageOrder.RACK]),
    bb_bytes=st.integers(0, 6),
    stripes=st.integers(0, 3),
)
def test_storages_are_chosen_as_in_plain_code(
    data: Any, machine: Machine, order: StorageOrder, bb_bytes: int, stripes: int
) -> None:
    """For any nodes and free bytes, also where a drained storage node has less than nothing left."""
    free = data.draw(st.lists(st.integers(-2, 12), min_size=len(machine.storages), max_size=len(machine.storages)))
    nodes = sorted(data.draw(st.sets(st.integers(0, machine.width - 1), min_size=1)))
    found = Timeline(machine).choose_storages(nodes, free, bb_bytes, order, stripes)
    assert found == choose_storages(machine, nodes, free, bb_bytes, order, stripes=stripes)
