"""Parts of allocations: put together, taken apart, and found beside what a job holds. Pure functions.

A striped burst buffer and amounts of pools belong to the job as a whole: they stay with the rest until the last of its
nodes goes.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.4: new processes are placed as near as possible to
those that an application has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.timeline.placement import choose_nodes, choose_storages, links_above


def together(first: Allocation, second: Allocation) -> Allocation:
    """Both as one; they must not share a node and must hold as much per node. Only the first may be striped."""
    if first.striped or (not first.storages and not second.storages):
        return msgspec.structs.replace(first, nodes=tuple(sorted(first.nodes + second.nodes)), lives=None)
    pairs = sorted(zip(first.nodes + second.nodes, first.storages + second.storages, strict=True))
    nodes, storages = tuple(node for node, _ in pairs), tuple(storage for _, storage in pairs)
    return Allocation(nodes, storages, first.bb_bytes, first.io_rate, pools=first.pools)


def only(allocation: Allocation, nodes: Collection[int]) -> Allocation:
    """The part of an allocation on these nodes; those that it does not have are passed over."""
    if allocation.striped:
        return _of_striped(allocation, nodes, set(nodes).issuperset(allocation.nodes))
    places = [place for place, node in enumerate(allocation.nodes) if node in nodes]
    storages = tuple(allocation.storages[place] for place in places) if allocation.storages else ()
    kept = tuple(allocation.nodes[place] for place in places)
    pools = allocation.pools if len(kept) == len(allocation.nodes) else ()
    return Allocation(kept, storages, allocation.bb_bytes, allocation.io_rate, pools=pools)


def without(allocation: Allocation, nodes: Collection[int]) -> Allocation:
    """An allocation but for these nodes."""
    kept = set(allocation.nodes).difference(nodes)
    if allocation.striped:
        return _of_striped(allocation, kept, bool(kept))
    left = only(allocation, kept)
    return msgspec.structs.replace(left, pools=allocation.pools) if kept and allocation.pools else left


def _of_striped(allocation: Allocation, nodes: Collection[int], with_buffer: bool) -> Allocation:
    """Some nodes of an allocation with a striped buffer, with the whole buffer or with nothing of it."""
    kept = tuple(node for node in allocation.nodes if node in nodes)
    if with_buffer:
        return msgspec.structs.replace(allocation, nodes=kept, lives=None)
    return Allocation(kept, io_rate=allocation.io_rate)


def find_growth(
    machine: Machine,
    held: Allocation,
    count: int,
    free: Sequence[int],
    free_bytes: Sequence[int],
    bandwidth: Sequence[int],
) -> Allocation | None:
    """Find ``count`` more nodes like those that a job holds, nearest first; ``None`` where there are none.

    Parameters
    ----------
    held
        What it holds: gives the burst buffer (none where it is striped) and the bandwidth that each further node needs.
    free
        Nodes that are free.
    free_bytes, bandwidth
        Bytes left per storage node, bytes per second left per link.
    """
    near = _nearest_first(machine, held.nodes, free)
    nodes = choose_nodes(machine, near, bandwidth, count, held.io_rate)
    if nodes is None:
        return None
    nodes = tuple(sorted(nodes))
    bb_bytes = 0 if held.striped else held.bb_bytes
    storages = choose_storages(machine, nodes, free_bytes, bb_bytes if held.storages else 0)
    return None if storages is None else Allocation(nodes, storages, bb_bytes, held.io_rate)


def fits_beside(
    machine: Machine,
    job: Job,
    free: Sequence[int],
    free_bytes: Sequence[int],
    bandwidth: Sequence[int],
    left: Iterable[Allocation],
) -> bool:
    """Whether a job could start on what is free now and what running jobs are about to leave.

    Parameters
    ----------
    free
        Nodes that are free.
    free_bytes, bandwidth
        Bytes left per storage node (below zero where a drained one holds more than is left of it), bytes per second
        left per link.
    left
        What running jobs leave.
    """
    nodes, bytes_left, bandwidth_left = set(free), list(free_bytes), list(bandwidth)
    for allocation in left:
        nodes.update(allocation.nodes)
        for storage in allocation.storages:
            bytes_left[storage] += allocation.bb_bytes
        for node in allocation.nodes if allocation.io_rate and machine.links else ():
            for link in links_above(machine, node):
                bandwidth_left[link] += allocation.io_rate
    free = sorted(nodes)
    alone: list[tuple[int, ...]] = [(place,) for place in job.partitions]
    for one in alone or [()]:
        usable = machine.usable(one, free)
        chosen = choose_nodes(machine, usable, bandwidth_left, job.nodes, job.io_rate)
        if chosen is not None:
            storages = choose_storages(machine, sorted(chosen), bytes_left, job.bb_bytes, stripes=job.stripes)
            if storages is not None:
                return True
    return False


def _nearest_first(machine: Machine, held: Sequence[int], free: Sequence[int]) -> list[int]:
    """Free nodes by falling length of the longest place that they share with a held node, then by index."""
    prefixes = {
        machine.nodes[node].location[:depth] for node in held for depth in range(len(machine.nodes[node].location) + 1)
    }

    def shared(node: int) -> int:
        place = machine.nodes[node].location
        return max((depth for depth in range(len(place) + 1) if place[:depth] in prefixes), default=0)

    return sorted(free, key=lambda node: (-shared(node), node))
