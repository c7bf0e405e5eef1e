"""Nodes for jobs that request layers of resources, in plain Python: one by one, for each choice of layers that pay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from spillway.core import Free, Placement, StorageOrder
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine, PoolLayer
from tests.reference import placement_rules as rules
from tests.reference import specification as spec
from tests.reference.comparison import job_of, shape_of


def fit(machine: Machine, free: Free, job: Job, placement: Placement) -> Allocation | None:
    """Allocation of a job that requests layers while so much is free, beside jobs that all end at one other time."""
    striped = job.bb_bytes > 0 and job.stripes > 0
    pools = [0 if machine.layer_mode(at) == 0 else amount for at, amount in enumerate(job.pools)]
    plain = [0 if machine.pools[at].layer is not None else amount for at, amount in enumerate(pools)]
    if any(left < amount for left, amount in zip(free.pools, plain, strict=False)):
        return None
    on, rack, asked = shape_of(machine, placement), is_racked(job, placement), job_of(job, 1.0)
    for allowed in [machine.partitions[partition].nodes for partition in job.partitions] or [frozenset(free.nodes)]:
        nodes = sorted(allowed.intersection(free.nodes, *only_on(machine, job.pools).values()))
        if plain == pools:
            first = rules.place(on, asked._replace(bb_bytes=0), nodes, free.free_bytes, free.bandwidths, ())
            tried = iter([] if first is None else [(*first, [0] * len(pools))])
        else:
            own = free.free_bytes if rack else None
            tried = layered_nodes(machine, on, nodes, pools, free.pools, free.bandwidths, job, own)
        for found, storages, taken in tried:
            chosen: tuple[int, ...] | None = storages
            if not rack:
                chosen = storages_for(on, found, free.free_bytes, job.bb_bytes, job.stripes)
            if chosen is not None:
                held = tuple(max(amounts) for amounts in zip(plain, taken, strict=True))
                return Allocation(found, chosen, job.bb_bytes, job.io_rate, job.lives, striped, held)
    return None


def storages_for(
    on: spec.Machine, nodes: Sequence[int], free_bytes: Sequence[int], bb_bytes: int, stripes: int
) -> tuple[int, ...] | None:
    """A storage node for each request of a job on these nodes; ``None`` where they do not fit."""
    job = spec.Job("", 0, len(nodes), 1.0, bb_bytes=bb_bytes, stripes=stripes)
    later = [(left, 0.0) for left in free_bytes]
    found = rules.place(on, job, nodes, free_bytes, [rate for rate, _ in on.links], later)
    return None if found is None else found[1]


def is_racked(job: Job, placement: Placement) -> bool:
    """Whether a job's nodes depend on what is free in their racks."""
    return placement.storage_order is StorageOrder.RACK and job.bb_bytes > 0 and not job.stripes


def only_on(machine: Machine, pools: tuple[int, ...]) -> dict[str, set[int]]:
    """Nodes of uncounted resources (mode 0) that a job requests, by name."""
    found: dict[str, set[int]] = {}
    for pool, amount in zip(machine.pools, pools, strict=False):
        if pool.layer is not None and not pool.layer.mode and amount:
            found.setdefault(pool.layer.resource, set()).update(pool.layer.nodes)
    return found


def layered_nodes(
    machine: Machine, on: spec.Machine, free: list[int], pools: list[int], left: list[int], bandwidth: list[int],
    wanted: Job, own: list[int] | None,
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], list[int]]]:  # fmt: skip
    """Nodes, storages and amounts of each pool, for each sufficient choice of paying layers, in order.

    ``own``: bytes left per storage node, where nodes are served only by their own racks; then with storages. In mode 1
    the layers with the fewest nodes come first, and their nodes before others.
    """
    layers: dict[str, list[tuple[int, PoolLayer]]] = {}
    for place, amount in enumerate(pools):
        layer = machine.pools[place].layer
        if layer is not None and amount:
            layers.setdefault(layer.resource, []).append((place, layer))
    once = [several for several in layers.values() if several[0][1].mode == 1]
    by_size = [sorted(several, key=lambda one: len(one[1].nodes)) for several in once]
    for payers in product(*by_size):
        if any(left[place] < pools[place] for place, _ in payers):
            continue
        needed = set(free).intersection(*(layer.nodes for _, layer in payers))
        found = _first_nodes(on, free, needed, layers, pools, left, bandwidth, wanted, own) if needed else None
        if found is not None:
            nodes, storages, taken = found
            for place, _ in payers:
                taken[place] = pools[place]
            yield nodes, storages, taken


def _first_nodes(
    on: spec.Machine, free: list[int], needed: set[int], layers: dict[str, list[tuple[int, PoolLayer]]],
    pools: list[int], left: list[int], bandwidth: list[int], wanted: Job, own: list[int] | None,
) -> tuple[tuple[int, ...], tuple[int, ...], list[int]] | None:  # fmt: skip
    """The first nodes that links and layers permit; ``None`` where too few, or none of ``needed``, are among them."""
    taken, rates, chosen, left_bytes = [0] * len(pools), list(bandwidth), dict[int, int](), list(own or ())
    for node in sorted(free, key=lambda node: (node not in needed, node)):
        if len(chosen) == wanted.nodes or (not chosen and node not in needed):
            break
        if not all(any(node in layer.nodes for _, layer in several) for several in layers.values()):
            continue
        above = [*on.above(node)] if wanted.io_rate else []
        here = [(place, layer) for several in layers.values() for place, layer in several if node in layer.nodes]
        here = [(place, layer) for place, layer in here if layer.mode > 1]
        if any(left[place] - taken[place] * (layer.mode == 3) < pools[place] for place, layer in here):
            continue
        if any(rates[link] < wanted.io_rate for link in above):
            continue
        storage = -1
        if own is not None:
            near = on.nearest[node][: on.own[node]]
            storage = next((storage for storage in near if left_bytes[storage] >= wanted.bb_bytes), -1)
            if storage < 0:
                continue
            left_bytes[storage] -= wanted.bb_bytes
        for place, layer in here:
            taken[place] = taken[place] + pools[place] if layer.mode == 3 else pools[place]
        for link in above:
            rates[link] -= wanted.io_rate
        chosen[node] = storage
    if len(chosen) < wanted.nodes:
        return None
    nodes = tuple(sorted(chosen))
    return nodes, tuple(chosen[node] for node in nodes) if own is not None else (), taken
