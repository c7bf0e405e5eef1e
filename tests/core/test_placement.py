"""Placement: the plain rules by hand, and layers of resources beside plain code.

All rules are compared with those of the specification in ``tests/properties/test_specification.py``.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Placement, StorageOrder, Timeline
from spillway.schedulers.model.machine import Machine
from tests.reference import layers
from tests.reference.comparison import shape_of
from tests.schedulers.machine_strategies import jobs, machines, placements


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
    order=st.sampled_from([order for order in StorageOrder if order is not StorageOrder.RACK]),
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
    on = shape_of(machine, Placement(storage_order=order))
    assert found == layers.storages_for(on, nodes, free, bb_bytes, stripes)
