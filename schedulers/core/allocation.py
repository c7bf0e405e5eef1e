"""Operations on allocations: merge them, split them, and find further nodes for a running job. Pure functions.

A striped burst buffer and amounts of pools belong to the job as a whole: they are held until its last node is given
back.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.4: new processes are placed as near as possible to the
application's other processes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from spillway.core import StorageOrder, Timeline
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.machine import Machine


def together(first: Allocation, second: Allocation) -> Allocation:
    """Merge two allocations with disjoint nodes and equal amounts per node; only the first may be striped."""
    if first.striped or (not first.storages and not second.storages):
        return replaced(first, nodes=tuple(sorted(first.nodes + second.nodes)), lives=None)
    pairs = sorted(zip(first.nodes + second.nodes, first.storages + second.storages, strict=True))
    nodes, storages = tuple(node for node, _ in pairs), tuple(storage for _, storage in pairs)
    return Allocation(nodes, storages, first.bb_bytes, first.io_rate, pools=first.pools)


def only(allocation: Allocation, nodes: Collection[int]) -> Allocation:
    """The part of an allocation on these nodes; nodes outside the allocation are ignored."""
    if allocation.striped:
        return _of_striped(allocation, nodes, set(nodes).issuperset(allocation.nodes))
    places = [place for place, node in enumerate(allocation.nodes) if node in nodes]
    storages = tuple(allocation.storages[place] for place in places) if allocation.storages else ()
    kept = tuple(allocation.nodes[place] for place in places)
    pools = allocation.pools if len(kept) == len(allocation.nodes) else ()
    return Allocation(kept, storages, allocation.bb_bytes, allocation.io_rate, pools=pools)


def without(allocation: Allocation, nodes: Collection[int]) -> Allocation:
    """An allocation without these nodes."""
    kept = set(allocation.nodes).difference(nodes)
    if allocation.striped:
        return _of_striped(allocation, kept, bool(kept))
    left = only(allocation, kept)
    return replaced(left, pools=allocation.pools) if kept and allocation.pools else left


def _of_striped(allocation: Allocation, nodes: Collection[int], with_buffer: bool) -> Allocation:
    """Some nodes of an allocation with a striped buffer, with the whole buffer or without it."""
    kept = tuple(node for node in allocation.nodes if node in nodes)
    if with_buffer:
        return replaced(allocation, nodes=kept, lives=None)
    return Allocation(kept, io_rate=allocation.io_rate)


def find_growth(
    timeline: Timeline,
    held: Allocation,
    count: int,
    free: Sequence[int],
    free_bytes: Sequence[int],
    bandwidth: Sequence[int],
) -> Allocation | None:
    """Find ``count`` further nodes like those that a job holds, nearest first; ``None`` if too few are free.

    Parameters
    ----------
    timeline
        That of the machine.
    held
        The job's allocation: gives the burst buffer (0 where it is striped) and the bandwidth of each further node.
    free
        Free nodes.
    free_bytes, bandwidth
        Free bytes per storage node, free bytes per second per link.
    """
    machine = timeline.machine
    nodes = _first_nodes(machine, _nearest_first(machine, held.nodes, free), bandwidth, count, held.io_rate)
    if nodes is None:
        return None
    bb_bytes = 0 if held.striped else held.bb_bytes
    storages = timeline.choose_storages(nodes, free_bytes, bb_bytes if held.storages else 0, StorageOrder.NEAREST)
    return None if storages is None else Allocation(nodes, storages, bb_bytes, held.io_rate)


def fits_beside(
    timeline: Timeline,
    job: Job,
    free: Sequence[int],
    free_bytes: Sequence[int],
    bandwidth: Sequence[int],
    left: Iterable[Allocation],
) -> bool:
    """Whether a job could start on free resources and those that running jobs are about to give back.

    Parameters
    ----------
    timeline
        That of the machine.
    free
        Free nodes.
    free_bytes, bandwidth
        Free bytes per storage node (negative where a drained one holds more than the rest of its capacity), free bytes
        per second per link.
    left
        Allocations that running jobs are about to give back.
    """
    machine = timeline.machine
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
    for places in alone or [()]:
        usable = machine.usable(places, free)
        chosen = _first_nodes(machine, usable, bandwidth_left, job.nodes, job.io_rate)
        if (
            chosen is not None
            and timeline.choose_storages(chosen, bytes_left, job.bb_bytes, StorageOrder.NEAREST, job.stripes)
            is not None
        ):
            return True
    return False


def links_above(machine: Machine, node: int) -> list[int]:
    """Indices of the links above a node, innermost first."""
    above = []
    link = int(machine.node_link[node])
    while link >= 0:
        above.append(link)
        link = machine.links[link].parent
    return above


def _first_nodes(
    machine: Machine, free: Sequence[int], bandwidth: Sequence[int], count: int, io_rate: int
) -> tuple[int, ...] | None:
    """The first ``count`` free nodes, in their order, that the links carry at this rate each; ``None``: too few."""
    left, chosen = list(bandwidth), list[int]()
    for node in free:
        if len(chosen) == count:
            break
        above = links_above(machine, node) if io_rate else []
        if all(left[link] >= io_rate for link in above):
            chosen.append(node)
            for link in above:
                left[link] -= io_rate
    return tuple(sorted(chosen)) if len(chosen) == count else None


def _nearest_first(machine: Machine, held: Sequence[int], free: Sequence[int]) -> list[int]:
    """Free nodes by falling length of the longest location prefix shared with a held node, then by index."""
    prefixes = {
        machine.nodes[node].location[:depth] for node in held for depth in range(len(machine.nodes[node].location) + 1)
    }

    def shared(node: int) -> int:
        place = machine.nodes[node].location
        return max((depth for depth in range(len(place) + 1) if place[:depth] in prefixes), default=0)

    return sorted(free, key=lambda node: (-shared(node), node))
