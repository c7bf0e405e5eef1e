"""The rules of :mod:`spillway.schedulers.timeline.placement`, compiled, on a timeline's arrays.

The arrays are described in :mod:`spillway.schedulers.timeline.layout`. A *window* is a row with the resources that are
free over some time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, int64, void
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic

from spillway.schedulers.timeline.kernel_types import (
    DEMAND,
    INDICES,
    MACHINE,
    OPTIONS,
    ROW,
    ROWS,
    SCRATCH,
    TABLE,
    inner,
)
from spillway.schedulers.timeline.layout import (
    BELOW,
    BY_ID,
    COMPACT,
    EMPTIEST,
    EQUAL,
    FIRST_FIT,
    FREE_BYTES,
    FREE_NODES,
    FULL,
    FULLEST,
    FULLEST_AT_END,
    HEAD,
    LAYERED,
    LEAST_LOADED,
    MODE,
    NEAREST,
    POOL,
    RACK,
    SPARE,
    SPREAD,
    SPREAD_OUT,
    STRIPED,
    TAKEN,
    USE_LINKS,
    USE_NODES,
    USE_POOLS,
    USE_STORAGES,
)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def popcount(_context: Any, word: Any) -> Any:
    """Return the number of bits set in an integer."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), generate


@inner(int64(ROWS, int64, DEMAND, MACHINE), **OPTIONS)
def carried(work, window, demand, machine):
    """Number of nodes of ``work[window]`` that links can give the I/O rate: ``min(bandwidth // rate, children)``."""
    parents, groups, io_rate = machine.parents, machine.groups, demand.io_rate
    links = len(parents)
    for link in range(links + 1):
        work[SPARE, link] = 0
    for entry in range(groups.shape[0]):
        work[SPARE, groups[entry, 0]] += popcount(work[window, HEAD + groups[entry, 1]] & groups[entry, 2])
    first = HEAD + machine.words + machine.storages
    for link in range(links - 1, -1, -1):
        nodes, bandwidth = work[SPARE, link], work[window, first + link]
        if nodes * io_rate > bandwidth:
            nodes = bandwidth // io_rate
        parent = parents[link]
        work[SPARE, parent if parent >= 0 else links] += nodes
    return work[SPARE, links]


@inner(boolean(ROWS, int64, DEMAND, MACHINE), **OPTIONS)
def _links_hold(work, window, demand, machine):
    """Whether the tree of links can carry the job; nodes are only counted where simple bounds do not decide.

    A link costs at most the nodes below it that it cannot carry, and passes no more than it carries.
    """
    nodes, io_rate = demand.nodes, demand.io_rate
    free, lost = work[window, FREE_NODES], np.int64(0)
    first = HEAD + machine.words + machine.storages
    for column in range(np.uint64(first), np.uint64(first + len(machine.parents))):
        below, bandwidth = work[BELOW, column], work[np.uint64(window), column]
        most = min(below, free)
        if bandwidth < most * io_rate:
            passing = bandwidth // io_rate
            if len(machine.node_link) - below + passing < nodes:
                return False
            lost += most - passing
    return free - lost >= nodes or carried(work, window, demand, machine) >= nodes


@inner(boolean(ROW, int64, int64, int64, INDICES), **OPTIONS)
def _draw(window, first, link, io_rate, parents):
    """Take ``io_rate`` from a link and all above it; ``False``, with nothing taken, if one of them has less left."""
    above = link
    while above >= 0:
        if window[first + above] < io_rate:
            return False
        above = parents[above]
    above = link
    while above >= 0:
        window[first + above] -= io_rate
        above = parents[above]
    return True


@inner(int64(ROW, int64, int64, MACHINE), **OPTIONS)
def _own_storage(window, node, bb_bytes, machine):
    """Nearest storage of a node's own rack with free bytes for a request, or -1."""
    for rank in range(machine.own[node]):
        storage = np.int64(machine.nearest[node, rank])
        if window[HEAD + machine.words + storage] >= bb_bytes:
            return storage
    return np.int64(-1)


@inner(int64(ROW, MACHINE), **OPTIONS)
def _layers(row, machine):
    """Number of rows of the sets that are layers, where pools are layered."""
    pools = len(row) - HEAD - machine.words - machine.storages - len(machine.parents)
    return machine.sets.shape[1] - HEAD - 2 * machine.words - pools


@inner(boolean(ROW, int64, boolean, DEMAND, MACHINE), **OPTIONS)
def _layers_serve(window, node, draws, demand, machine):
    """Whether all layers of a node have enough left for the job; with ``draws``, take the amounts counted per node."""
    words, sets = machine.words, machine.sets
    first = HEAD + words + machine.storages + len(machine.parents)
    word, bit = HEAD + (node >> 6), np.int64(1) << (node & 63)
    for layer in range(1, 1 + _layers(window, machine)):
        amount, column = sets[demand.first_set, HEAD + 2 * words + layer - 1], first + sets[layer, POOL]
        if amount > 0 and sets[layer, word] & bit:
            if draws and sets[layer, MODE] == 3:
                window[column] -= amount
            elif not draws and window[column] < amount:
                return False
    return True


@inner(boolean(ROW, int64, int64, boolean, DEMAND, MACHINE, TABLE), forceinline=True, **OPTIONS)
def _take_node(window, node, link, racked, demand, machine, chosen):
    """Take a node's bandwidth, and where ``racked`` its request from its own rack, noted in ``chosen[1, node]``."""
    first, storage = HEAD + machine.words, np.int64(-1)
    if demand.uses & LAYERED and not _layers_serve(window, node, False, demand, machine):
        return False
    if racked:
        storage = _own_storage(window, node, demand.bb_bytes, machine)
        if storage < 0:
            return False
    if demand.io_rate > 0 and not _draw(window, first + machine.storages, link, demand.io_rate, machine.parents):
        return False
    if racked:
        window[first + storage] -= demand.bb_bytes
        chosen[1, node] = storage
    if demand.uses & LAYERED:
        _layers_serve(window, node, True, demand, machine)
    return True


@inner(int64(ROW, ROW, boolean, DEMAND, MACHINE, TABLE), forceinline=True, **OPTIONS)
def _first_nodes(window, usage, racked, demand, machine, chosen):
    """Choose the first nodes that can be taken; write them to the usage's words. Returns the number of missing ones."""
    missing = demand.nodes
    for column in range(HEAD, HEAD + machine.words):
        word, taken = window[column], np.int64(0)
        while word != 0 and missing > 0:
            node = (column - HEAD) * 64 + np.int64(trailing_zeros(word))
            lowest = word & -word
            word ^= lowest
            if (demand.io_rate == 0 and not racked) or _take_node(
                window, node, machine.node_link[node], racked, demand, machine, chosen
            ):
                taken |= lowest
                missing -= 1
        usage[column] = taken
    return missing


@inner(int64(ROW, ROWS, int64, int64), **OPTIONS)
def _lowest_under(window, groups, entry, none):
    """Lowest free node directly under the link whose group entries begin at ``entry``, or ``none``."""
    link = groups[entry, 0]
    while entry < groups.shape[0] and groups[entry, 0] == link:
        word = window[HEAD + groups[entry, 1]] & groups[entry, 2]
        if word != 0:
            return groups[entry, 1] * 64 + np.int64(trailing_zeros(word))
        entry += 1
    return none


@inner(int64(ROW, ROW, boolean, boolean, DEMAND, MACHINE, TABLE), **OPTIONS)
def _nodes_by_link(window, usage, spread, racked, demand, machine, chosen):
    """Choose node by node under the link with most (``spread``) or least bandwidth left; ties: lowest node.

    Returns the number of missing ones.
    """
    words, missing, groups = machine.words, demand.nodes, machine.groups
    first, links, none = HEAD + words + machine.storages, len(machine.parents), 64 * words
    for column in range(HEAD, HEAD + words):
        usage[column] = 0
    while missing > 0:
        best, best_score, best_link, entry = none, np.int64(0), np.int64(-1), 0
        while entry < groups.shape[0]:
            link = groups[entry, 0]
            node = _lowest_under(window, groups, entry, none)
            score = window[first + link] if link < links else np.int64(2**62)
            if not spread:
                score = -score
            if node < none and (best == none or score > best_score or (score == best_score and node < best)):
                best, best_score, best_link = node, score, link
            while entry < groups.shape[0] and groups[entry, 0] == link:
                entry += 1
        if best == none:
            return missing
        bit = np.int64(1) << (best & 63)
        window[HEAD + (best >> 6)] ^= bit
        if _take_node(window, best, best_link if best_link < links else -1, racked, demand, machine, chosen):
            usage[HEAD + (best >> 6)] |= bit
            missing -= 1
    return missing


@inner(int64(ROW, ROW, boolean, DEMAND, MACHINE, TABLE), **OPTIONS)
def _layered_nodes(window, usage, racked, demand, machine, chosen):
    """Choose the first nodes that can be taken; nodes of which the job needs at least one come before all others.

    Returns the number of missing ones.
    """
    words, sets, missing, needed = machine.words, machine.sets, demand.nodes, np.int64(0)
    for column in range(HEAD, HEAD + words):
        usage[column] = 0
        needed |= sets[demand.first_set, words + column]
    for step in range(0 if needed else 1, 2):
        for column in range(HEAD, HEAD + words):
            word = window[column] & (~usage[column] if step else sets[demand.first_set, words + column])
            while word != 0 and missing > 0:
                node = (column - HEAD) * 64 + np.int64(trailing_zeros(word))
                lowest = word & -word
                word ^= lowest
                if _take_node(window, node, machine.node_link[node], racked, demand, machine, chosen):
                    usage[column] |= lowest
                    missing -= 1
        if needed and missing == demand.nodes:
            return missing
    return missing


@inner(int64(ROW, ROW, DEMAND, MACHINE, TABLE), **OPTIONS)
def _choose_nodes(window, usage, demand, machine, chosen):
    """Choose the nodes in a window, under ``rack`` with their storages; returns the number of missing nodes."""
    racked = machine.storage_order == RACK and demand.bb_bytes > 0 and not demand.uses & STRIPED
    if demand.uses & LAYERED:
        return _layered_nodes(window, usage, racked, demand, machine, chosen)
    if demand.io_rate == 0 or machine.node_order == FIRST_FIT:
        return _first_nodes(window, usage, racked, demand, machine, chosen)
    return _nodes_by_link(window, usage, machine.node_order == SPREAD, racked, demand, machine, chosen)


@inner(boolean(ROWS, int64, DEMAND, MACHINE), forceinline=True, **OPTIONS)
def whole_requests_fit(work, window, demand, machine):
    """Whether the bytes left hold all requests of the job whole; counted only where the sum does not decide."""
    words, storages, requests, bb_bytes = machine.words, machine.storages, demand.requests, demand.bb_bytes
    fitting, at, size = np.int64(0), np.uint64(window), np.float64(bb_bytes)
    first, last = np.uint64(HEAD + words), np.uint64(HEAD + words + storages)
    if demand.uses & STRIPED:
        for column in range(first, last):
            fitting += work[at, column] >= bb_bytes
    elif work[window, FREE_BYTES] <= (requests - 1) * bb_bytes + storages * (bb_bytes - 1):
        # Too many free bytes may be in pieces smaller than a request. Most windows are decided by the storages that
        # hold one: as many of them as requests suffice, and all free bytes on them must suffice.
        usable = np.int64(0)
        for column in range(first, last):
            free = work[at, column]
            has = free >= bb_bytes
            fitting += has
            usable += free if has else np.int64(0)
        if fitting >= requests or usable < requests * bb_bytes:
            return fitting >= requests
        # Count. The quotient of whole numbers below 2^53 never rounds up to the next whole number, and dividing doubles
        # is much faster. Unsigned columns: no negative index to look out for, so that loops become vector instructions.
        fitting = np.int64(0)
        for column in range(first, last):
            fitting += np.int64(np.float64(work[at, column]) / size)
    else:
        return True
    return fitting >= requests


@inner(boolean(ROWS, int64, DEMAND, MACHINE, TABLE), **OPTIONS)
def _nodes_hold(work, window, demand, machine, chosen):
    """Whether enough nodes can be served by their own racks and layers: by trying."""
    for column in range(work.shape[1]):
        work[SPARE, column] = work[window, column]
    return _choose_nodes(work[SPARE], work[TAKEN], demand, machine, chosen) == 0


@inner(boolean(ROWS, int64, DEMAND, MACHINE, TABLE), forceinline=True, **OPTIONS)
def holds(work, window, demand, machine, chosen):
    """Whether a window with enough nodes and bytes has them in usable pieces: whole requests, links that carry."""
    uses = demand.uses
    if uses & USE_STORAGES and not whole_requests_fit(work, window, demand, machine):
        return False
    if uses & USE_LINKS and not _links_hold(work, window, demand, machine):
        return False
    if not uses & LAYERED and (machine.storage_order != RACK or not uses & USE_STORAGES or uses & STRIPED):
        return True
    return _nodes_hold(work, window, demand, machine, chosen)


@inner(int64(ROWS, int64, int64, int64, MACHINE), forceinline=True, **OPTIONS)
def _later_choice(work, storage, best, column, machine):
    """Below 0 if a storage is better than the best one so far, whatever their free bytes; above 0 if it is worse."""
    order, taken, other = machine.storage_order, work[TAKEN, column + storage], work[TAKEN, column + best]
    if order == COMPACT:
        return np.int64(other > 0) - np.int64(taken > 0)
    if order == SPREAD_OUT:
        return np.int64(taken > 0) - np.int64(other > 0)
    if order == EQUAL:
        return taken - other
    return np.int64(0)


@inner(int64(ROW, ROW, ROW, ROWS, int64, DEMAND, MACHINE), forceinline=True, **OPTIONS)
def _storage_for(window, after, since, work, node, demand, machine):
    """Storage with free bytes for one more request, by the order, or -1. See :func:`choose`."""
    first, nearest, order, bb_bytes = HEAD + machine.words, machine.nearest, machine.storage_order, demand.bb_bytes
    by_place, striped = order in (NEAREST, RACK), demand.uses & STRIPED
    if by_place and not striped:
        at = np.uint64(node)
        for rank in range(np.uint64(machine.storages)):
            storage = np.int64(nearest[at, rank])
            if window[np.uint64(first + storage)] >= bb_bytes:
                return storage
        return np.int64(-1)
    best = np.int64(-1)
    for rank in range(machine.storages):
        storage = np.int64(nearest[node, rank]) if by_place else np.int64(rank)
        free = window[first + storage]
        if free < bb_bytes or (striped and work[TAKEN, first + storage] > 0):
            continue
        if order <= RACK:
            return storage
        if best < 0:
            best = storage
            continue
        later = _later_choice(work, storage, best, first, machine)
        if order == FULLEST_AT_END:
            later = after[first + storage] - after[first + best]
            if later == 0:
                later = since[first + best] - since[first + storage]
        elif order == LEAST_LOADED:
            share = np.float64(free) / np.float64(work[FULL, first + storage])
            other = np.float64(window[first + best]) / np.float64(work[FULL, first + best])
            later = np.int64(share < other) - np.int64(share > other)
        now = free - window[first + best]
        if later < 0 or (later == 0 and (now > 0 if order >= EMPTIEST else now < 0)):
            best = storage
    return best


@inner(void(ROW, ROW, ROW, DEMAND, MACHINE, SCRATCH), forceinline=True, **OPTIONS)
def _choose_storages(window, after, since, demand, machine, scratch):
    """Choose the storage of each request of the nodes that are chosen, or of each stripe."""
    work, chosen, first = scratch.work, scratch.chosen, HEAD + machine.words
    for column in range(first, first + machine.storages):
        work[TAKEN, column] = 0
    # These orders prefer a storage even more when it has fewer bytes: the same one again while it holds a request.
    stays = machine.storage_order in (BY_ID, FULLEST, FULLEST_AT_END) and not demand.uses & STRIPED
    storage = np.int64(-1)
    for request in range(demand.requests):
        place = request * demand.nodes // demand.requests if demand.requests != demand.nodes else request
        if not stays or storage < 0 or window[first + storage] < demand.bb_bytes:
            storage = _storage_for(window, after, since, work, np.int64(chosen[0, place]), demand, machine)
        window[first + storage] -= demand.bb_bytes
        work[TAKEN, first + storage] += 1
        chosen[1, request] = storage


@inner(void(ROW, DEMAND, MACHINE), **OPTIONS)
def _take_pools(usage, demand, machine):
    """Add a job's amounts of the pools to a usage that has its nodes, with those of layers in mode 2."""
    words, sets = machine.words, machine.sets
    first = HEAD + words + machine.storages + len(machine.parents)
    before = sets.shape[1] - len(usage)
    for column in range(first, len(usage)):
        usage[column] += sets[demand.first_set, before + column]
    if not demand.uses & LAYERED:
        return
    for layer in range(1, 1 + _layers(usage, machine)):
        if sets[layer, MODE] == 2:
            inside = np.int64(0)
            for column in range(HEAD, HEAD + words):
                inside |= usage[column] & sets[layer, column]
            if inside:
                usage[first + sets[layer, POOL]] += sets[demand.first_set, HEAD + 2 * words + layer - 1]


@inner(void(ROW, ROW, ROW, DEMAND, MACHINE, SCRATCH), forceinline=True, **OPTIONS)
def choose(window, after, since, demand, machine, scratch):
    """Choose nodes and storages in a window that holds them; fill ``usage`` and ``chosen``, overwrite ``window``.

    Only ``FULLEST_AT_END`` uses ``after``, the row of the segment in which the job will have ended, and ``since``: for
    each storage the first segment from which on it has the same free bytes up to that one.
    """
    nodes, bb_bytes, uses, usage, chosen = demand.nodes, demand.bb_bytes, demand.uses, scratch.usage, scratch.chosen
    first = HEAD + machine.words
    for column in range(first, len(usage)):
        usage[column] = window[column]
    _choose_nodes(window, usage, demand, machine, chosen)
    racked = machine.storage_order == RACK and bb_bytes > 0 and not uses & STRIPED
    position = 0
    for column in range(HEAD, first):
        word = usage[column]
        while word != 0:
            node = (column - HEAD) * 64 + np.int64(trailing_zeros(word))
            word &= word - 1
            chosen[0, position] = node
            if racked:
                chosen[1, position] = chosen[1, node]  # never overwritten before: positions are not above their nodes
            position += 1
        if not uses & USE_NODES:
            usage[column] = 0
    if bb_bytes > 0 and not racked:
        _choose_storages(window, after, since, demand, machine, scratch)
    usage[FREE_NODES] = nodes if uses & USE_NODES else 0
    usage[FREE_BYTES] = demand.requests * bb_bytes
    for column in range(first, len(usage)):  # amounts before less amounts left
        usage[column] -= window[column]
    if uses & USE_POOLS:
        _take_pools(usage, demand, machine)
