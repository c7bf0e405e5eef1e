"""Which nodes and which storage nodes serve a request: the rules, and plain pure functions that follow them.

No rule ever changes *whether* a job fits. All burst-buffer requests of a job are equal and every node may use every
storage node, so whole requests fit exactly when ``sum(free_bytes // bb_bytes) >= nodes``. The node sets that a tree of
links can carry are the independent sets of a laminar matroid, in which every greedy choice ends with a set of the same,
largest size. The functions here are the reference; the kernels of the timeline do the same on arrays.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from schedulers.core.machine import Machine


class Resource(enum.Flag):
    """A kind of resource; what a reservation covers is a union of kinds."""

    NODES = 1
    """Compute nodes, by identity."""
    BURST_BUFFERS = 2
    """Bytes on storage nodes."""
    BANDWIDTH = 4
    """Bytes per second on the links above the nodes."""
    ALL = NODES | BURST_BUFFERS | BANDWIDTH


class NodeOrder(enum.Enum):
    """Which of the qualifying nodes a job gets."""

    FIRST_FIT = "first-fit"
    """Lowest index first (thesis 4.2), skipping nodes under a full link."""
    SPREAD = "spread"
    """Node by node one whose innermost link has most bandwidth left after what this job took; ties: lowest index."""
    PACK = "pack"
    """Node by node one whose innermost link has least bandwidth left that still serves it; ties: lowest index."""


class StorageOrder(enum.Enum):
    """Which storage node serves a node's burst-buffer request, for one node after the other."""

    NEAREST = "nearest"
    """First with enough free bytes in :attr:`Machine.nearest_storages` (thesis 4.2: own chassis, own group, rest)."""
    BY_ID = "by-id"
    """Lowest index with enough free bytes."""
    EMPTIEST = "emptiest"
    """Most bytes left after what this job took; ties: lowest index."""
    FULLEST = "fullest"
    """Fewest bytes left that still holds the request; ties: lowest index."""
    FULLEST_AT_END = "fullest-at-end"
    """Among those with enough free bytes, fewest bytes left once the job has ended; ties: the one whose free bytes
    became that many last before, then fewest bytes left, then lowest index.

    So jobs that end late share storage nodes, and those of which jobs end soon become empty as a whole: space for jobs
    that need a whole storage node per request. Where a job will be the last one in any case, it follows close behind
    the others, so that storage nodes that are empty for longer stay so.
    """


@dataclass(frozen=True, slots=True)
class Placement:
    """The two rules of placement. The default is the thesis's.

    Attributes
    ----------
    node_order
        Rule for nodes. ``SPREAD`` and ``PACK`` look at the links above the nodes; for a job without I/O rate, and on
        a machine without links, they are ``FIRST_FIT``.
    storage_order
        Rule for burst buffers.
    """

    node_order: NodeOrder = NodeOrder.FIRST_FIT
    storage_order: StorageOrder = StorageOrder.NEAREST


def links_above(machine: Machine, node: int) -> list[int]:
    """Indices of the links above a node, innermost first."""
    above = []
    link = int(machine.node_link[node])
    while link >= 0:
        above.append(link)
        link = machine.links[link].parent
    return above


def whole_requests(free_bytes: Iterable[int], bb_bytes: int) -> int:
    """How many requests of ``bb_bytes`` (> 0) fit, none of them split over storage nodes."""
    return sum(bytes_left // bb_bytes for bytes_left in free_bytes)


def carried_nodes(machine: Machine, free: Iterable[int], bandwidth: Sequence[int], io_rate: int) -> int:
    """How many of the ``free`` nodes can be given ``io_rate`` bytes per second each, with ``bandwidth`` left per link.

    A link carries ``min(floor(bandwidth / io_rate), what its children and its own free nodes bring)``; nodes without
    link are not limited.

    References
    ----------
    Herbein et al., HPDC 2016, section 3.4 (DOI 10.1145/2907294.2907316).
    """
    if io_rate == 0:
        return len(list(free))
    brought = [0] * len(machine.links)
    unlimited = 0
    for node in free:
        link = int(machine.node_link[node])
        if link >= 0:
            brought[link] += 1
        else:
            unlimited += 1
    for link in range(len(machine.links) - 1, -1, -1):  # every link stands after its parent
        carried = min(bandwidth[link] // io_rate, brought[link])
        parent = machine.links[link].parent
        if parent >= 0:
            brought[parent] += carried
        else:
            unlimited += carried
    return unlimited


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
    while len(chosen) < count and untried:
        node = _NODE_RULES[order](machine, untried, left)
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
    """Bytes per second left on a node's innermost link; endless without one."""
    link = machine.node_link[node]
    return left[link] if link >= 0 else math.inf


_NODE_RULES: dict[NodeOrder, Callable[[Machine, list[int], list[int]], int]] = {
    NodeOrder.FIRST_FIT: _first,
    NodeOrder.SPREAD: _spread,
    NodeOrder.PACK: _pack,
}


@dataclass(frozen=True, slots=True)
class AtEnd:
    """What other jobs will have left of the storage nodes once a job has ended.

    Attributes
    ----------
    free_bytes
        Bytes left per storage node.
    since_s
        Since when it is that much, without a change up to the job's end (s).
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
) -> tuple[int, ...] | None:
    """Choose for each node in turn the storage node that holds its ``bb_bytes`` whole; ``None`` when they do not fit.

    Parameters
    ----------
    free_bytes
        Bytes left per storage node while the job runs.
    bb_bytes
        Bytes per node; 0 gives no storages.
    at_end
        What is left once the job has ended, without what it frees; ``None``: the same as ``free_bytes``, for as long.
    """
    if bb_bytes == 0:
        return ()
    left = list(free_bytes)
    later = at_end or AtEnd(free_bytes, [0.0] * len(free_bytes))
    chosen: list[int] = []
    for node in nodes:
        fitting = [storage for storage in range(len(left)) if left[storage] >= bb_bytes]
        if not fitting:
            return None
        storage = _STORAGE_RULES[order](machine, node, fitting, left, later)
        left[storage] -= bb_bytes
        chosen.append(storage)
    return tuple(chosen)


def _nearest(machine: Machine, node: int, fitting: list[int], _left: list[int], _later: AtEnd) -> int:
    return next(int(storage) for storage in machine.nearest_storages[node] if storage in fitting)


def _by_id(_machine: Machine, _node: int, fitting: list[int], _left: list[int], _later: AtEnd) -> int:
    return fitting[0]


def _emptiest(_machine: Machine, _node: int, fitting: list[int], left: list[int], _later: AtEnd) -> int:
    return max(fitting, key=lambda storage: (left[storage], -storage))


def _fullest(_machine: Machine, _node: int, fitting: list[int], left: list[int], _later: AtEnd) -> int:
    return min(fitting, key=lambda storage: (left[storage], storage))


def _fullest_at_end(_machine: Machine, _node: int, fitting: list[int], left: list[int], later: AtEnd) -> int:
    return min(
        fitting, key=lambda storage: (later.free_bytes[storage], -later.since_s[storage], left[storage], storage)
    )


_STORAGE_RULES: dict[StorageOrder, Callable[[Machine, int, list[int], list[int], AtEnd], int]] = {
    StorageOrder.NEAREST: _nearest,
    StorageOrder.BY_ID: _by_id,
    StorageOrder.EMPTIEST: _emptiest,
    StorageOrder.FULLEST: _fullest,
    StorageOrder.FULLEST_AT_END: _fullest_at_end,
}
