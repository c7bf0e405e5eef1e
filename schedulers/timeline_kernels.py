"""The timeline's inner loops, compiled: find the earliest window, book, and the choice of nodes and storages.

Everything is a plain array, so that other kernels (plan scoring) can call these directly.

Layout
------
``times: float64[capacity]``
    ``times[k]`` is the start of segment ``k``; the first ``count`` are used and ascend strictly. Segment ``k`` is
    ``[times[k], times[k + 1])``, the last one is endless.
``rows: int64[capacity, width]``
    ``rows[k]`` is what is free in segment ``k``, ``width = HEAD + words + storages + links``::

        rows[k, FREE_NODES]      number of free nodes           (the number of bits set in the words)
        rows[k, FREE_BYTES]      bytes free on all storages     (the sum of the rooms)
        rows[k, HEAD:...]        free nodes as a bitset: node i is bit i % 64 of word i // 64
        rows[k, ...:...]         bytes free per storage node
        rows[k, ...:width]       bytes per second left per link

``demand: int64[width]``
    What a job holds, in the same columns. Because a booked node is a free node, clearing its bit is a subtraction, so
    booking is ``rows[k] -= demand`` and releasing ``rows[k] += demand`` in all columns alike.
``capacity: int64[width]``
    The row of the empty machine.
``nearest: int32[nodes, storages]``, ``node_link: int32[nodes]``
    As in :class:`schedulers.machine.Machine`.
``parents: int32[links]``
    The link above each link, -1 at a root.
``groups: int64[entries, 3]``
    ``(link, word, bits)``: nodes of one bitset word that hang directly on one link. Nodes without link have the link
    number ``links``.
``work: int64[4, width + 1]``
    Scratch memory; contents mean nothing between calls.
``chosen: int32[2, nodes]``
    Output: ``chosen[0, :r]`` the nodes, ascending, and ``chosen[1, :r]`` the storage of each (if any).

Segments that are neighbours always differ: :func:`book` joins equal ones. A timeline therefore depends only on what is
booked, not on the order of bookings, and every breakpoint is a real change. The caller of :func:`book` provides two
spare rows. Sizes must be small enough for sums not to overflow: :class:`schedulers.timeline.Timeline` checks them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic

FREE_NODES, FREE_BYTES, HEAD = 0, 1, 2
FIRST_FIT, SPREAD, PACK = 0, 1, 2
NEAREST, BY_ID, EMPTIEST, FULLEST = 0, 1, 2, 3
USE_NODES, USE_STORAGES, USE_LINKS = 1, 2, 4
FULL, FORWARD, WINDOW, SPARE, BACK = 0, 1, 2, 3, 4
BAD_NODE, BAD_STORAGE, BAD_COUNT = -1_000_000_001, -1_000_000_002, -1_000_000_003

_ROW, _ROWS, _TIMES, _INDICES, _TABLE = "int64[::1]", "int64[:, ::1]", "float64[::1]", "int32[::1]", "int32[:, ::1]"
_OPTIONS = {"cache": True, "error_model": "numpy", "_nrt": False}


@intrinsic
def popcount(_context: Any, word: Any) -> Any:
    """Return the number of bits set in an integer."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), generate


@njit(f"int64({_TIMES}, int64, float64)", **_OPTIONS)
def segment_at(times, count, time_s):
    """Index of the segment that contains ``time_s`` (at or after ``times[0]``)."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) >> 1
        if times[middle] <= time_s:
            low = middle
        else:
            high = middle
    return low


@njit(f"boolean({_ROWS}, int64, int64, {_ROWS}, int64, int64, int64, int64, int64, int64)", forceinline=True, **_OPTIONS)
def narrow(work, window, wider, rows, segment, words, storages, nodes, need_bytes, uses):
    """Set a window to what is free both in a wider one and in ``rows[segment]``, in the columns in use.

    Returns whether the job may still fit: False when nodes or bytes are too few in total (then the columns may not all
    be set), else it is for :func:`holds` to say.
    """
    to, wide, at = np.uint64(window), np.uint64(wider), np.uint64(segment)
    first, last = np.uint64(HEAD + words), np.uint64(HEAD + words + storages)
    if uses & USE_NODES:
        free = 0
        for column in range(np.uint64(HEAD), first):
            word = work[wide, column] & rows[at, column]
            work[to, column] = word
            free += popcount(word)
        work[to, FREE_NODES] = free
        if free < nodes:
            return False
    else:
        for column in range(np.uint64(HEAD), first):
            work[to, column] = work[wide, column]
        work[to, FREE_NODES] = work[wide, FREE_NODES]
    if uses & USE_STORAGES:
        total = 0
        for column in range(first, last):
            room = min(work[wide, column], rows[at, column])
            work[to, column] = room
            total += room
        work[to, FREE_BYTES] = total
        if total < need_bytes:
            return False
    if uses & USE_LINKS:
        for column in range(last, np.uint64(rows.shape[1])):
            work[to, column] = min(work[wide, column], rows[at, column])
    return True


@njit(f"int64({_ROWS}, int64, int64, int64, int64, {_INDICES}, {_ROWS})", **_OPTIONS)
def carried(work, window, words, storages, io_rate, parents, groups):
    """How many of the window's nodes the tree of links can give ``io_rate`` each: ``min(band // rate, children)``."""
    links = len(parents)
    for link in range(links + 1):
        work[SPARE, link] = 0
    for entry in range(groups.shape[0]):
        work[SPARE, groups[entry, 0]] += popcount(work[window, HEAD + groups[entry, 1]] & groups[entry, 2])
    first = HEAD + words + storages
    for link in range(links - 1, -1, -1):
        nodes, band = work[SPARE, link], work[window, first + link]
        if nodes * io_rate > band:
            nodes = band // io_rate
        parent = parents[link]
        work[SPARE, parent if parent >= 0 else links] += nodes
    return work[SPARE, links]


@njit(f"boolean({_ROWS}, int64, int64, int64, int64, int64, int64, int64, {_INDICES}, {_ROWS})", forceinline=True, **_OPTIONS)
def holds(work, window, words, storages, nodes, bb_bytes, io_rate, uses, parents, groups):
    """Whether a window that has enough nodes and bytes has them in usable pieces: whole requests, links that carry."""
    if uses & USE_STORAGES and work[window, FREE_BYTES] < nodes * bb_bytes + storages * (bb_bytes - 1):
        # what is left over on the storages may be what is missing: count
        fitting, at, size = 0, np.uint64(window), float(bb_bytes)
        for column in range(np.uint64(HEAD + words), np.uint64(HEAD + words + storages)):
            fitting += np.int64(np.float64(work[at, column]) / size)
        if fitting < nodes:
            return False
    return uses & USE_LINKS == 0 or carried(work, window, words, storages, io_rate, parents, groups) >= nodes


@njit(f"boolean({_ROW}, int64, int64, int64, {_INDICES})", **_OPTIONS)
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


@njit(f"void({_ROW}, {_ROW}, int64, int64, int64, int64, {_INDICES}, {_INDICES})", **_OPTIONS)
def _first_nodes(window, demand, words, storages, nodes, io_rate, node_link, parents):
    """Choose the first nodes, skipping those under a full link; write them to the demand's words."""
    missing = nodes
    first = HEAD + words + storages
    for column in range(HEAD, HEAD + words):
        word = window[column]
        taken = np.int64(0)
        while word != 0 and missing > 0:
            bit = np.int64(trailing_zeros(word))
            lowest = word & -word
            word ^= lowest
            if io_rate == 0 or _draw(window, first, node_link[(column - HEAD) * 64 + bit], io_rate, parents):
                taken |= lowest
                missing -= 1
        demand[column] = taken


@njit(f"int64({_ROW}, {_ROWS}, int64, int64)", **_OPTIONS)
def _lowest_under(window, groups, entry, none):
    """Return the lowest free node directly under the link whose group entries begin at ``entry``, or ``none``."""
    link = groups[entry, 0]
    while entry < groups.shape[0] and groups[entry, 0] == link:
        word = window[HEAD + groups[entry, 1]] & groups[entry, 2]
        if word != 0:
            return groups[entry, 1] * 64 + np.int64(trailing_zeros(word))
        entry += 1
    return none


@njit(f"void({_ROW}, {_ROW}, int64, int64, int64, int64, boolean, {_INDICES}, {_ROWS})", **_OPTIONS)
def _nodes_by_link(window, demand, words, storages, nodes, io_rate, spread, parents, groups):
    """Choose node by node under the link with most (``spread``) or least bandwidth left; ties: lowest node."""
    first, links, none = HEAD + words + storages, len(parents), 64 * words
    for column in range(HEAD, HEAD + words):
        demand[column] = 0
    missing = nodes
    while missing > 0:
        best, best_score, best_link, entry = none, np.int64(0), -1, 0
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
            demand[HEAD + (best >> 6)] |= bit
            missing -= 1


@njit(f"int64({_ROW}, int64, int64, int64, int64, {_TABLE}, int64)", **_OPTIONS)
def _storage_for(window, first, storages, node, bb_bytes, nearest, order):
    """Storage with room for one more request, by the order; -1 for none."""
    best = -1
    for rank in range(storages):
        storage = np.int64(nearest[node, rank]) if order == NEAREST else rank
        room = window[first + storage]
        if room < bb_bytes:
            continue
        if order <= BY_ID:
            return storage
        if best < 0 or (room > window[first + best] if order == EMPTIEST else room < window[first + best]):
            best = storage
    return best


@njit(
    f"void({_ROW}, {_ROW}, int64, int64, int64, int64, int64, int64, int64, int64, {_TABLE}, {_INDICES}, {_INDICES}, "
    f"{_ROWS}, {_TABLE})",
    **_OPTIONS,
)
def choose(
    window, demand, words, storages, nodes, bb_bytes, io_rate, uses, node_order, storage_order, nearest, node_link,
    parents, groups, chosen,
):  # fmt: skip
    """Choose nodes and storages in a window that :func:`holds` them; fill ``demand`` and ``chosen``, spoil ``window``."""
    first = HEAD + words
    for column in range(first, len(demand)):
        demand[column] = window[column]
    if io_rate == 0 or node_order == FIRST_FIT:
        _first_nodes(window, demand, words, storages, nodes, io_rate, node_link, parents)
    else:
        _nodes_by_link(window, demand, words, storages, nodes, io_rate, node_order == SPREAD, parents, groups)
    position = 0
    for column in range(HEAD, first):
        word = demand[column]
        while word != 0:
            node = (column - HEAD) * 64 + np.int64(trailing_zeros(word))
            word &= word - 1
            chosen[0, position] = node
            if bb_bytes > 0:
                storage = _storage_for(window, first, storages, node, bb_bytes, nearest, storage_order)
                window[first + storage] -= bb_bytes
                chosen[1, position] = storage
            position += 1
        if not uses & USE_NODES:
            demand[column] = 0
    demand[FREE_NODES] = nodes if uses & USE_NODES else 0
    demand[FREE_BYTES] = nodes * bb_bytes
    for column in range(first, len(demand)):
        demand[column] -= window[column]


@njit(
    f"int64({_ROWS}, int64, {_ROWS}, int64, int64, int64, int64, int64, int64, int64, int64, {_INDICES}, {_ROWS})",
    **_OPTIONS,
)
def _grow_backwards(
    rows, count, work, lowest, last, words, storages, nodes, bb_bytes, io_rate, uses, parents, groups
):  # fmt: skip
    """First segment, not before ``lowest``, from which the job fits up to and including ``last``; windows in ``work``.

    Where ``last`` alone is too full: the first later segment with enough nodes and bytes (``count`` for none).
    """
    need_bytes = nodes * bb_bytes
    wider, first = FULL, last + 1
    while first > lowest and narrow(
        work, BACK + first - 1, wider, rows, first - 1, words, storages, nodes, need_bytes, uses
    ) and holds(work, BACK + first - 1, words, storages, nodes, bb_bytes, io_rate, uses, parents, groups):  # fmt: skip
        first -= 1
        wider = BACK + first
    if first > last:
        while first < count and (
            (uses & USE_NODES and rows[first, FREE_NODES] < nodes) or rows[first, FREE_BYTES] < need_bytes
        ):
            first += 1
    return first


@njit(
    f"float64({_TIMES}, int64, {_ROWS}, int64, int64, float64, int64, int64, int64, float64, float64, int64, int64, "
    f"{_TABLE}, {_INDICES}, {_INDICES}, {_ROWS}, {_ROWS}, {_ROW}, {_TABLE})",
    **_OPTIONS,
)
def find_fit(
    times, count, rows, words, nodes, duration_s, bb_bytes, io_rate, uses, not_before_s, latest_s, node_order,
    storage_order, nearest, node_link, parents, groups, work, demand, chosen,
):  # fmt: skip
    """Find the earliest start of a job, and what it gets there.

    TODO doc
    """
    storages, need_bytes = nearest.shape[1], nodes * bb_bytes
    first = segment_at(times, count, not_before_s)
    middle, following, start_s, held = first, first, not_before_s, FORWARD
    while following < count and (following == first or times[following] < start_s + duration_s):
        forward = narrow(
            work, FORWARD, FULL if following == middle else FORWARD, rows, following, words, storages, nodes,
            need_bytes, uses,
        )  # fmt: skip
        begin = first
        while forward and first < middle:
            if narrow(work, WINDOW, FORWARD, work, BACK + first, words, storages, nodes, need_bytes, uses) and holds(
                work, WINDOW, words, storages, nodes, bb_bytes, io_rate, uses, parents, groups
            ):
                held = WINDOW
                break
            first += 1
        if first == middle or not forward:
            held = FORWARD
            if not forward or not holds(
                work, FORWARD, words, storages, nodes, bb_bytes, io_rate, uses, parents, groups
            ):
                if middle + 1 >= count or times[middle + 1] > latest_s:
                    return np.inf
                first = _grow_backwards(
                    rows, count, work, middle + 1, following, words, storages, nodes, bb_bytes, io_rate, uses, parents,
                    groups,
                )  # fmt: skip
                if first >= count:
                    return np.inf
                held = BACK + first
                middle = max(first, following + 1)
                following = middle - 1
        following += 1
        if first != begin:
            start_s = times[first]
            if start_s > latest_s:
                return np.inf
    choose(
        work[held], demand, words, storages, nodes, bb_bytes, io_rate, uses, node_order, storage_order, nearest,
        node_link, parents, groups, chosen,
    )  # fmt: skip
    return start_s


@njit(f"boolean({_ROWS}, int64, int64)", **_OPTIONS)
def _equal(rows, one, two):
    for column in range(rows.shape[1]):
        if rows[one, column] != rows[two, column]:
            return False
    return True


@njit(f"void({_TIMES}, {_ROWS}, int64, int64, int64)", **_OPTIONS)
def _move(times, rows, begin, end, by):
    """Move segments ``begin`` to ``end - 1`` by some places."""
    width = rows.shape[1]
    if by > 0:
        for segment in range(end - 1, begin - 1, -1):
            times[segment + by] = times[segment]
            for column in range(width):
                rows[segment + by, column] = rows[segment, column]
    else:
        for segment in range(begin, end):
            times[segment + by] = times[segment]
            for column in range(width):
                rows[segment + by, column] = rows[segment, column]


@njit(f"int64({_TIMES}, int64, {_ROWS}, float64, float64, {_ROW}, int64)", **_OPTIONS)
def book(times, count, rows, start_s, end_s, demand, sign):
    """Take (``sign`` 1) or give back (-1) a demand over ``[start_s, end_s)``; return the new number of segments.

    Nothing is checked. ``times[0] <= start_s < end_s``; two rows beyond ``count`` must be there.
    """
    begin = segment_at(times, count, start_s)
    last = begin
    while last + 1 < count and times[last + 1] < end_s:
        last += 1
    cut_start = 1 if times[begin] < start_s else 0
    cut_end = 1 if end_s < np.inf and (last + 1 == count or times[last + 1] > end_s) else 0
    if cut_start + cut_end > 0:
        _move(times, rows, last + 1, count, cut_start + cut_end)
    if cut_end:
        times[last + cut_start + 1] = end_s
        for column in range(rows.shape[1]):
            rows[last + cut_start + 1, column] = rows[last, column]
    if cut_start:
        _move(times, rows, begin, last + 1, 1)
        times[begin] = times[begin + 1]
        for column in range(rows.shape[1]):
            rows[begin, column] = rows[begin + 1, column]
        times[begin + 1] = start_s
    begin, last, count = begin + cut_start, last + cut_start, count + cut_start + cut_end
    for segment in range(begin, last + 1):
        for column in range(rows.shape[1]):
            rows[segment, column] -= sign * demand[column]
    if last + 1 < count and _equal(rows, last, last + 1):
        _move(times, rows, last + 2, count, -1)
        count -= 1
    if begin > 0 and _equal(rows, begin - 1, begin):
        _move(times, rows, begin + 1, count, -1)
        count -= 1
    return count


@njit(f"int64({_TIMES}, int64, {_ROWS}, float64, float64, {_ROW}, int64, int64, {_ROW})", **_OPTIONS)
def conflict(times, count, rows, start_s, end_s, demand, sign, words, capacity):
    """Return the first segment of ``[start_s, end_s)`` in which a booking does not fit, or -1.

    Taking must find the nodes free and rooms and bandwidths large enough; giving back must find the nodes taken and
    must not lead above ``capacity`` (one row).
    """
    segment = segment_at(times, count, start_s)
    while segment < count and times[segment] < end_s:
        for column in range(HEAD, HEAD + words):
            word = rows[segment, column]
            if demand[column] & (~word if sign > 0 else word | ~capacity[column]):
                return segment
        for column in range(HEAD + words, rows.shape[1]):
            left = rows[segment, column] - sign * demand[column]
            if left < 0 or left > capacity[column]:
                return segment
        segment += 1
    return -1


@njit(
    f"int64({_INDICES}, {_INDICES}, int64, int64, int64, {_INDICES}, {_INDICES}, int64, int64, {_ROW})", **_OPTIONS
)
def measure(nodes, storages, bb_bytes, io_rate, uses, node_link, parents, words, storage_count, demand):
    """Write the demand of an allocation; return 0, or the code of what is wrong with it (the demand is then spoilt)."""
    first = HEAD + words
    for column in range(len(demand)):
        demand[column] = 0
    for node in nodes:
        if node < 0 or node >= len(node_link):
            return BAD_NODE
        bit = np.int64(1) << (node & 63)
        if demand[HEAD + (node >> 6)] & bit:
            return BAD_NODE
        demand[HEAD + (node >> 6)] |= bit
        if uses & USE_LINKS:
            link = node_link[node]
            while link >= 0:
                demand[first + storage_count + link] += io_rate
                link = parents[link]
    if uses & USE_NODES:
        demand[FREE_NODES] = len(nodes)
    else:
        for column in range(HEAD, first):
            demand[column] = 0
    if uses & USE_STORAGES:
        if len(storages) != len(nodes) and len(storages) > 0:
            return BAD_COUNT
        for storage in storages:
            if storage < 0 or storage >= storage_count:
                return BAD_STORAGE
            demand[first + storage] += bb_bytes
        demand[FREE_BYTES] = len(storages) * bb_bytes
    return 0


@njit(
    f"int64({_TIMES}, int64, {_ROWS}, float64, float64, int64, {_INDICES}, {_INDICES}, int64, int64, int64, "
    f"{_INDICES}, {_INDICES}, {_ROW}, int64, int64, {_ROW})",
    **_OPTIONS,
)
def book_checked(
    times, count, rows, start_s, end_s, sign, nodes, storages, bb_bytes, io_rate, uses, node_link, parents, capacity,
    words, storage_count, demand,
):  # fmt: skip
    """:func:`measure` an allocation, look for a :func:`conflict`, :func:`book`.

    Returns the new number of segments; ``-1 - segment`` for a conflict or a ``BAD_`` code, with nothing changed.
    """
    wrong = measure(nodes, storages, bb_bytes, io_rate, uses, node_link, parents, words, storage_count, demand)
    if wrong != 0:
        return wrong
    segment = conflict(times, count, rows, start_s, end_s, demand, sign, words, capacity)
    if segment >= 0:
        return -1 - segment
    return book(times, count, rows, start_s, end_s, demand, sign)
