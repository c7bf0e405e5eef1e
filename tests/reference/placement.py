"""Rules of placement, which choose nodes and storage nodes for a request, as plain pure functions.

No rule but ``rack`` changes *whether* a job fits. All burst-buffer requests of a job are equal and every node may use
every storage node, so whole requests fit exactly when ``sum(free_bytes // bb_bytes) >= nodes``; the stripes of a buffer
are on different storage nodes, so that as many must have ``bb_bytes`` free. The node sets that a tree of links can
carry are the independent sets of a laminar matroid, in which every greedy choice ends with a set of the same, largest
size. Where a node may only use the storage of its own rack, racks count as links do; that is exact as long as links and
racks are nested, otherwise a job may wait although a better choice would fit. The functions here place what the core
does not: additional nodes of a running job, and tasks of gangs; the core does the same on rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spillway.core import NodeOrder, Placement, Resource, StorageOrder
from spillway.schedulers.model.machine import Machine, common_length

__all__ = [
    "AtEnd",
    "NodeOrder",
    "Placement",
    "Resource",
    "StorageOrder",
    "choose_nodes",
    "choose_storages",
    "links_above",
    "own_storages",
    "whole_requests",
]


def links_above(machine: Machine, node: int) -> list[int]:
    """Indices of the links above a node, innermost first."""
    above = []
    link = int(machine.node_link[node])
    while link >= 0:
        above.append(link)
        link = machine.links[link].parent
    return above


def whole_requests(free_bytes: Iterable[int], bb_bytes: int, *, each_apart: bool = False) -> int:
    """Number of requests of ``bb_bytes`` (> 0) that fit, each whole on one storage node.

    Parameters
    ----------
    each_apart
        Whether each must be on a storage node of its own.
    """
    if each_apart:
        return sum(bytes_left >= bb_bytes for bytes_left in free_bytes)
    return sum(bytes_left // bb_bytes for bytes_left in free_bytes)


def own_storages(machine: Machine, node: int) -> tuple[int, ...]:
    """Storage nodes of a node's own rack, nearest first: those of the smallest place around it that has some.

    On a machine without places that is the whole machine; elsewhere the result is empty for a node that shares no place
    with a storage node.
    """
    own: list[int] = []
    place = machine.nodes[node].location
    for storage in machine.nearest_storages[node].tolist():  # by falling length of the common place
        if own and common_length(place, machine.storages[storage].location) < common_length(
            place, machine.storages[own[0]].location
        ):
            break
        own.append(storage)
    alone = own and place and not common_length(place, machine.storages[own[0]].location)
    return () if alone else tuple(own)


def choose_nodes(
    machine: Machine,
    free: Sequence[int],
    bandwidth: Sequence[int],
    count: int,
    io_rate: int = 0,
    order: NodeOrder = NodeOrder.FIRST_FIT,
) -> tuple[int, ...] | None:
    """Choose ``count`` of the ``free`` nodes (ascending) by the order; ``None`` when the links cannot carry them.

    Parameters
    ----------
    bandwidth
        Bytes per second left per link; ignored when ``io_rate`` is 0.
    io_rate
        Bytes per second that each chosen node takes on every link above it.
    """
    if io_rate == 0:
        return tuple(free[:count]) if len(free) >= count else None
    left = list(bandwidth)
    untried = list(free)
    chosen: list[int] = []
    rule = _NODE_RULES[order]
    while len(chosen) < count and untried:
        node = rule(machine, untried, left)
        untried.remove(node)
        above = links_above(machine, node)
        if all(left[link] >= io_rate for link in above):
            chosen.append(node)
            for link in above:
                left[link] -= io_rate
    return tuple(sorted(chosen)) if len(chosen) == count else None


def _first(_machine: Machine, untried: list[int], _left: list[int]) -> int:
    return untried[0]


def _spread(machine: Machine, untried: list[int], left: list[int]) -> int:
    return min(untried, key=lambda node: (-_bandwidth_of(machine, node, left), node))


def _pack(machine: Machine, untried: list[int], left: list[int]) -> int:
    return min(untried, key=lambda node: (_bandwidth_of(machine, node, left), node))


def _bandwidth_of(machine: Machine, node: int, left: list[int]) -> float:
    """Bytes per second left on a node's innermost link; infinity without a link."""
    link = machine.node_link[node]
    return left[link] if link >= 0 else math.inf


_NODE_RULES: dict[NodeOrder, Callable[[Machine, list[int], list[int]], int]] = {
    NodeOrder.FIRST_FIT: _first,
    NodeOrder.SPREAD: _spread,
    NodeOrder.PACK: _pack,
}


@dataclass(frozen=True, slots=True)
class AtEnd:
    """Bytes that other jobs leave free on the storage nodes once a job has ended.

    Attributes
    ----------
    free_bytes
        Bytes left per storage node.
    since_s
        Time from which on this number stays the same up to the job's end (s).
    """

    free_bytes: Sequence[int]
    since_s: Sequence[float]


def choose_storages(
    machine: Machine,
    nodes: Sequence[int],
    free_bytes: Sequence[int],
    bb_bytes: int,
    order: StorageOrder = StorageOrder.NEAREST,
    at_end: AtEnd | None = None,
    stripes: int = 0,
) -> tuple[int, ...] | None:
    """Choose a storage node for each request, which must hold its ``bb_bytes`` whole; ``None`` when they do not fit.

    Parameters
    ----------
    free_bytes
        Bytes left per storage node while the job runs.
    bb_bytes
        Bytes per request; 0 gives no storages.
    at_end
        Bytes left once the job has ended, without those that it frees; ``None``: the same as ``free_bytes``, all since
        the same time.
    stripes
        0: a request for each node in turn. Above 0: this number of requests for the whole job, on different storage
        nodes; ``nearest`` takes stripe ``i`` as a request of the job's node ``floor(i * nodes / stripes)``.
    """
    if bb_bytes == 0:
        return ()
    later = at_end or AtEnd(free_bytes, [0.0] * len(free_bytes))
    scene = _Scene(machine, list(free_bytes), later, [0] * len(free_bytes))
    rule = _STORAGE_RULES[order]
    around = [nodes[stripe * len(nodes) // stripes] if nodes else 0 for stripe in range(stripes)] if stripes else nodes
    chosen: list[int] = []
    for node in around:
        fitting = [storage for storage, left in enumerate(scene.left) if left >= bb_bytes]
        if stripes:
            fitting = [storage for storage in fitting if not scene.taken[storage]]
        elif order is StorageOrder.RACK:
            fitting = [storage for storage in own_storages(machine, node) if storage in fitting]
        if not fitting:
            return None
        storage = rule(scene, node, fitting)
        scene.left[storage] -= bb_bytes
        scene.taken[storage] += 1
        chosen.append(storage)
    return tuple(chosen)


class _Scene(NamedTuple):
    """State of a placement by storage node: bytes left, bytes left later, number of requests of the job."""

    machine: Machine
    left: list[int]
    later: AtEnd
    taken: list[int]


def _nearest(scene: _Scene, node: int, fitting: list[int]) -> int:
    return next(int(storage) for storage in scene.machine.nearest_storages[node] if storage in fitting)


def _by_id(_scene: _Scene, _node: int, fitting: list[int]) -> int:
    return fitting[0]


def _emptiest(scene: _Scene, _node: int, fitting: list[int]) -> int:
    return max(fitting, key=lambda storage: (scene.left[storage], -storage))


def _fullest(scene: _Scene, _node: int, fitting: list[int]) -> int:
    return min(fitting, key=lambda storage: (scene.left[storage], storage))


def _fullest_at_end(scene: _Scene, _node: int, fitting: list[int]) -> int:
    later, left = scene.later, scene.left
    return min(
        fitting, key=lambda storage: (later.free_bytes[storage], -later.since_s[storage], left[storage], storage)
    )


def _least_loaded(scene: _Scene, _node: int, fitting: list[int]) -> int:
    left, storages = scene.left, scene.machine.storages
    return max(fitting, key=lambda storage: (left[storage] / storages[storage].capacity_bytes, left[storage], -storage))


def _compact(scene: _Scene, _node: int, fitting: list[int]) -> int:
    return max(fitting, key=lambda storage: (scene.taken[storage] > 0, scene.left[storage], -storage))


def _spread_out(scene: _Scene, _node: int, fitting: list[int]) -> int:
    return max(fitting, key=lambda storage: (scene.taken[storage] == 0, scene.left[storage], -storage))


def _equal(scene: _Scene, _node: int, fitting: list[int]) -> int:
    return max(fitting, key=lambda storage: (-scene.taken[storage], scene.left[storage], -storage))


_STORAGE_RULES: dict[StorageOrder, Callable[[_Scene, int, list[int]], int]] = {
    StorageOrder.NEAREST: _nearest,
    StorageOrder.BY_ID: _by_id,
    StorageOrder.RACK: _nearest,
    StorageOrder.EMPTIEST: _emptiest,
    StorageOrder.FULLEST: _fullest,
    StorageOrder.FULLEST_AT_END: _fullest_at_end,
    StorageOrder.LEAST_LOADED: _least_loaded,
    StorageOrder.COMPACT: _compact,
    StorageOrder.SPREAD: _spread_out,
    StorageOrder.EQUAL: _equal,
}
