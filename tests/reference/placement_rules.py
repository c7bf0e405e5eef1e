"""The rules by which a fit of :mod:`tests.reference.specification` chooses among free nodes and storage nodes.

References
----------
Kopanski's thesis 2020, section 4.2 (first nodes, nearest storages); Herbein et al., HPDC 2016, section 3.4 (rates).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.reference.specification import Job, Machine

NODE_ORDERS = {"first-fit": 0, "spread": -1, "pack": 1}
"""The next node tried has the least of the rate left on its innermost link, times this factor; then by number."""

STORAGE_ORDERS: dict[str, Callable[[int, int, int, int, tuple[int, float], int], Any]] = {
    "nearest": lambda rank, left, taken, size, later, number: rank,
    "rack": lambda rank, left, taken, size, later, number: rank,
    "by-id": lambda rank, left, taken, size, later, number: number,
    "emptiest": lambda rank, left, taken, size, later, number: (-left, number),
    "fullest": lambda rank, left, taken, size, later, number: (left, number),
    "fullest-at-end": lambda rank, left, taken, size, later, number: (later[0], -later[1], left, number),
    "least-loaded": lambda rank, left, taken, size, later, number: (-left / size, -left, number),
    "compact": lambda rank, left, taken, size, later, number: (taken == 0, -left, number),
    "spread": lambda rank, left, taken, size, later, number: (taken > 0, -left, number),
    "equal": lambda rank, left, taken, size, later, number: (taken, -left, number),
}
"""A request goes to the storage node with the smallest key: its place among the node's nearest, bytes left, requests of
the job there, capacity, bytes left at the job's end (and since when), number."""


def place(
    machine: Machine, job: Job, free: Sequence[int], room: Sequence[int], rates: Sequence[int],
    later: Sequence[tuple[int, float]],
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:  # fmt: skip
    """Choose nodes one by one as the links carry them, then a storage node for each request; ``None`` if impossible.

    Under ``rack`` a node is taken only if a storage node of its own rack has room, which it gets.
    """
    left, carried, taken, chosen = [*room], [*rates], [0] * len(room), dict[int, int]()
    racked = machine.storage_order == "rack" and job.bb_bytes > 0 and not job.stripes
    factor = NODE_ORDERS[machine.node_order] if job.io_rate and machine.links else 0

    def serve(node: int, among: Iterable[int]) -> int:
        fits = [storage for storage in among if left[storage] >= job.bb_bytes and not (job.stripes and taken[storage])]
        near, rule, sizes = machine.nearest[node], STORAGE_ORDERS[machine.storage_order], machine.storages
        keys = {
            storage: rule(near.index(storage), left[storage], taken[storage], sizes[storage], later[storage], storage)
            for storage in fits
        }
        if not keys:
            return -1
        found = min(keys, key=keys.__getitem__)
        left[found], taken[found] = left[found] - job.bb_bytes, taken[found] + 1
        return found

    def key(node: int) -> tuple[float, int]:
        link = next(machine.above(node), -1)
        left_there = carried[link] if link >= 0 else math.inf
        return factor * left_there if factor else 0, node

    untried = {*free}
    while len(chosen) < job.nodes and untried:
        node = min(untried, key=key)
        untried.remove(node)
        above = [*machine.above(node)] if job.io_rate else []
        if all(carried[link] >= job.io_rate for link in above):
            storage = serve(node, machine.nearest[node][: machine.own[node]]) if racked else 0
            if storage >= 0:
                chosen[node] = storage
                for link in above:
                    carried[link] -= job.io_rate
    nodes, count = tuple(sorted(chosen)), (job.stripes or job.nodes) if job.bb_bytes else 0
    if len(nodes) < job.nodes:
        return None
    around = [nodes[at * len(nodes) // count] for at in range(count)]
    storages = [chosen[node] if racked else serve(node, range(len(left))) for node in around]
    return None if -1 in storages else (nodes, tuple(storages))
