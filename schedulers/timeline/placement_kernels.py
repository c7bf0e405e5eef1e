"""Which nodes and storages serve a request, compiled: :mod:`schedulers.timeline.placement` on a timeline's arrays.

The arrays are described in :mod:`schedulers.timeline.layout`. A *window* is a row with what is free over some time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, int64, njit, void
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic

from schedulers.timeline.layout import (
    BELOW,
    BY_ID,
    DEMAND,
    EMPTIEST,
    FIRST_FIT,
    FREE_BYTES,
    FREE_NODES,
    FULL,
    FULLEST_AT_END,
    HEAD,
    INDICES,
    MACHINE,
    NEAREST,
    OPTIONS,
    ROW,
    ROWS,
    SCRATCH,
    SPARE,
    SPREAD,
    USE_LINKS,
    USE_NODES,
    USE_STORAGES,
)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def popcount(_context: Any, word: Any) -> Any:
    """Return the number of bits set in an integer."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), generate


@njit(int64(ROWS, int64, DEMAND, MACHINE), **OPTIONS)
def carried(work, window, demand, machine):
    """How many nodes of ``work[window]`` the links can give the I/O rate: ``min(bandwidth // rate, children)``."""
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


@njit(boolean(ROWS, int64, DEMAND, MACHINE), **OPTIONS)
def _links_hold(work, window, demand, machine):
    """Whether the tree of links can carry the job; nodes are only counted where simple bounds do not decide.

    A link costs at most the nodes below it that it cannot carry, and lets no more through than it carries.
    """
    nodes, io_rate = demand.nodes, demand.io_rate
    free, lost = work[window, FREE_NODES], np.int64(0)
    for column in range(np.uint64(HEAD + machine.words + machine.storages), np.uint64(work.shape[1])):
        below, bandwidth = work[BELOW, column], work[np.uint64(window), column]
        most = min(below, free)
        if bandwidth < most * io_rate:
            passing = bandwidth // io_rate
            if work[FULL, FREE_NODES] - below + passing < nodes:
                return False
            lost += most - passing
    return free - lost >= nodes or carried(work, window, demand, machine) >= nodes


@njit(boolean(ROWS, int64, DEMAND, MACHINE), forceinline=True, **OPTIONS)
def holds(work, window, demand, machine):
    """Whether a window with enough nodes and bytes has them in usable pieces: whole requests, links that carry."""
    words, storages, nodes, bb_bytes, uses = machine.words, machine.storages, demand.nodes, demand.bb_bytes, demand.uses
    if uses & USE_STORAGES and work[window, FREE_BYTES] <= (nodes - 1) * bb_bytes + storages * (bb_bytes - 1):
        # What no whole request fits into may be what is missing: count. The quotient of whole numbers below 2^53
        # never rounds up to the next whole number, and dividing doubles is much faster. Unsigned columns: no negative
        # index to look out for, so that the loop becomes vector instructions.
        fitting, at, size = np.int64(0), np.uint64(window), np.float64(bb_bytes)
        for column in range(np.uint64(HEAD + words), np.uint64(HEAD + words + storages)):
            fitting += np.int64(np.float64(work[at, column]) / size)
        if fitting < nodes:
            return False
    return uses & USE_LINKS == 0 or _links_hold(work, window, demand, machine)


@njit(boolean(ROW, int64, int64, int64, INDICES), **OPTIONS)
def _draw(window, first, link, io_rate, parents):
    """Take ``io_rate`` from a link and all above it, if each has so much left."""
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


@njit(void(ROW, ROW, DEMAND, MACHINE), forceinline=True, **OPTIONS)
def _first_nodes(window, usage, demand, machine):
    """Choose the first nodes, skipping those under a full link; write them to the usage's words."""
    words, missing, io_rate = machine.words, demand.nodes, demand.io_rate
    node_link, parents = machine.node_link, machine.parents
    first = HEAD + words + machine.storages
    for column in range(HEAD, HEAD + words):
        word, taken = window[column], np.int64(0)
        while word != 0 and missing > 0:
            node = (column - HEAD) * 64 + np.int64(trailing_zeros(word))
            lowest = word & -word
            word ^= lowest
            if io_rate == 0 or _draw(window, first, node_link[node], io_rate, parents):
                taken |= lowest
                missing -= 1
        usage[column] = taken


@njit(int64(ROW, ROWS, int64, int64), **OPTIONS)
def _lowest_under(window, groups, entry, none):
    """Lowest free node directly under the link whose group entries begin at ``entry``, or ``none``."""
    link = groups[entry, 0]
    while entry < groups.shape[0] and groups[entry, 0] == link:
        word = window[HEAD + groups[entry, 1]] & groups[entry, 2]
        if word != 0:
            return groups[entry, 1] * 64 + np.int64(trailing_zeros(word))
        entry += 1
    return none


@njit(void(ROW, ROW, DEMAND, boolean, MACHINE), **OPTIONS)
def _nodes_by_link(window, usage, demand, spread, machine):
    """Choose node by node under the link with most (``spread``) or least bandwidth left; ties: lowest node."""
    words, missing, io_rate = machine.words, demand.nodes, demand.io_rate
    parents, groups = machine.parents, machine.groups
    first, links, none = HEAD + words + machine.storages, len(parents), 64 * words
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
        bit = np.int64(1) << (best & 63)
        window[HEAD + (best >> 6)] ^= bit
        if best_link == links or _draw(window, first, best_link, io_rate, parents):
            usage[HEAD + (best >> 6)] |= bit
            missing -= 1


@njit(int64(ROW, ROW, ROW, int64, int64, MACHINE), forceinline=True, **OPTIONS)
def _storage_for(window, after, since, node, bb_bytes, machine):
    """Storage with free bytes for one more request, by the order; -1 for none. See :func:`choose`."""
    first, nearest, order = HEAD + machine.words, machine.nearest, machine.storage_order
    best = np.int64(-1)
    for rank in range(machine.storages):
        storage = np.int64(nearest[node, rank]) if order == NEAREST else np.int64(rank)
        free = window[first + storage]
        if free < bb_bytes:
            continue
        if order <= BY_ID:
            return storage
        if best < 0:
            best = storage
            continue
        later = np.int64(0)
        if order == FULLEST_AT_END:
            later = after[first + storage] - after[first + best]
            if later == 0:
                later = since[first + best] - since[first + storage]
        now = free - window[first + best]
        if later < 0 or (later == 0 and (now > 0 if order == EMPTIEST else now < 0)):
            best = storage
    return best


@njit(void(ROW, ROW, ROW, DEMAND, MACHINE, SCRATCH), forceinline=True, **OPTIONS)
def choose(window, after, since, demand, machine, scratch):
    """Choose nodes and storages in a window that holds them; fill ``usage`` and ``chosen``, spoil ``window``.

    Only ``FULLEST_AT_END`` looks at ``after``, the row of the segment in which the job will have ended, and at
    ``since``: for each storage the first of the segments up to there in which as much is free as in that one.
    """
    nodes, bb_bytes, uses, usage, chosen = demand.nodes, demand.bb_bytes, demand.uses, scratch.usage, scratch.chosen
    first = HEAD + machine.words
    for column in range(first, len(usage)):
        usage[column] = window[column]
    if demand.io_rate == 0 or machine.node_order == FIRST_FIT:
        _first_nodes(window, usage, demand, machine)
    else:
        _nodes_by_link(window, usage, demand, machine.node_order == SPREAD, machine)
    position = 0
    for column in range(HEAD, first):
        word = usage[column]
        while word != 0:
            node = (column - HEAD) * 64 + np.int64(trailing_zeros(word))
            word &= word - 1
            chosen[0, position] = node
            if bb_bytes > 0:
                storage = _storage_for(window, after, since, node, bb_bytes, machine)
                window[first + storage] -= bb_bytes
                chosen[1, position] = storage
            position += 1
        if not uses & USE_NODES:
            usage[column] = 0
    usage[FREE_NODES] = nodes if uses & USE_NODES else 0
    usage[FREE_BYTES] = nodes * bb_bytes
    for column in range(first, len(usage)):  # what was there less what is left
        usage[column] -= window[column]
