"""The timeline's inner loops, compiled: find the earliest window of a job, book it.

The arrays and the named groups of arguments are described in :mod:`spillway.schedulers.timeline.layout`, so that other
kernels (plan scoring) can call :func:`find_fit` and :func:`book` directly.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from spillway.base.kernel_cache import drop_older_than, njit
from spillway.schedulers.timeline import copying, placement_kernels
from spillway.schedulers.timeline.copying import copy_items
from spillway.schedulers.timeline.kernel_types import (
    DEMAND,
    GRANT,
    MACHINE,
    OPTIONS,
    PLAIN_DEMAND,
    PLAIN_GRANT,
    PLAIN_MACHINE,
    PLAIN_SCRATCH,
    PLAIN_TREE,
    ROW,
    ROWS,
    SCRATCH,
    TABLE,
    TIMES,
    TREE,
    inner,
)
from spillway.schedulers.timeline.layout import (
    BACK,
    BAD_COUNT,
    BAD_NODE,
    BAD_STORAGE,
    BELOW,
    FORWARD,
    FREE_BYTES,
    FREE_NODES,
    FULL,
    FULLEST_AT_END,
    HEAD,
    RACK,
    SINCE,
    STRIPED,
    USE_LINKS,
    USE_NODES,
    USE_POOLS,
    USE_STORAGES,
    WINDOW,
    Demand,
    Grant,
    Machine,
    Scratch,
    Tree,
)
from spillway.schedulers.timeline.placement_kernels import choose, holds, popcount, whole_requests_fit

__all__ = [
    "FREE_BYTES", "FREE_NODES", "HEAD", "USE_LINKS", "USE_NODES", "USE_STORAGES", "book", "book_checked", "conflict",
    "demand_at", "find_fit", "measure", "narrow_columns", "narrow_links", "narrow_nodes", "narrow_pools",
    "narrow_storages", "note_since", "on_set", "pools_hold", "room_after", "segment_at", "use_set",
]  # fmt: skip

drop_older_than(choose.stats.cache_path, __file__, str(placement_kernels.__file__), str(copying.__file__))


@inner(int64(TIMES, int64, float64), **OPTIONS)
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


@inner(PLAIN_DEMAND(ROWS, int64), forceinline=True, **OPTIONS)
def demand_at(demands, job):
    """One row of a table of demands, as a plain tuple."""
    return demands[job, 0], demands[job, 1], demands[job, 2], demands[job, 3], demands[job, 4], demands[job, 5]


@inner(void(ROWS, int64, MACHINE), forceinline=True, **OPTIONS)
def use_set(work, number, machine):
    """Let windows begin from the nodes of a set, if there are several sets."""
    sets = machine.sets
    if sets.shape[0] > 1:
        work[FULL, FREE_NODES] = sets[number, FREE_NODES]
        for column in range(HEAD, HEAD + machine.words):
            work[FULL, column] = sets[number, column]


@inner(DEMAND(DEMAND, int64), forceinline=True, **OPTIONS)
def on_set(demand, number):
    """The same demand on one of its sets of nodes."""
    return Demand(demand.nodes, demand.bb_bytes, demand.io_rate, demand.uses, demand.requests, number)


@inner(boolean(ROWS, int64, int64, ROWS, int64, int64, DEMAND, MACHINE), forceinline=True, **OPTIONS)
def narrow_nodes(work, window, wider, rows, begin, end, demand, machine):
    """Set a window's nodes to those free both in a wider one and in ``rows[begin:end]``; returns whether they suffice.

    There is at least one row.
    """
    to, wide, at = np.uint64(window), np.uint64(wider), np.uint64(begin)  # unsigned: see whole_requests_fit
    first, last, free = np.uint64(HEAD), np.uint64(HEAD + machine.words), 0
    for column in range(first, last):
        work[to, column] = work[wide, column] & rows[at, column]
    for segment in range(np.uint64(begin + 1), np.uint64(end)):
        for column in range(first, last):
            work[to, column] &= rows[segment, column]
    for column in range(first, last):
        free += popcount(work[to, column])
    work[to, FREE_NODES] = free
    return free >= demand.nodes


@inner(void(ROWS, int64, int64, ROWS, int64, int64, int64, int64), forceinline=True, **OPTIONS)
def narrow_columns(work, window, wider, rows, begin, end, first, last):
    """Set some of a window's columns to the least of a wider one's and those of ``rows[begin:end]``."""
    to, wide, at = np.uint64(window), np.uint64(wider), np.uint64(begin)
    for column in range(np.uint64(first), np.uint64(last)):
        work[to, column] = min(work[wide, column], rows[at, column])
    for segment in range(np.uint64(begin + 1), np.uint64(end)):
        for column in range(np.uint64(first), np.uint64(last)):
            work[to, column] = min(work[to, column], rows[segment, column])


@inner(boolean(ROWS, int64, int64, ROWS, int64, int64, DEMAND, MACHINE), forceinline=True, **OPTIONS)
def narrow_storages(work, window, wider, rows, begin, end, demand, machine):
    """The same for bytes of storage nodes; returns whether they suffice in total."""
    first, total, to = HEAD + machine.words, 0, np.uint64(window)
    narrow_columns(work, window, wider, rows, begin, end, first, first + machine.storages)
    for column in range(np.uint64(first), np.uint64(first + machine.storages)):
        total += work[to, column]
    work[to, FREE_BYTES] = total
    return total >= demand.requests * demand.bb_bytes


@inner(void(ROWS, int64, int64, ROWS, int64, int64, MACHINE), forceinline=True, **OPTIONS)
def narrow_links(work, window, wider, rows, begin, end, machine):
    """The same for the bandwidth of links; whether it suffices depends on the nodes."""
    first = HEAD + machine.words + machine.storages
    narrow_columns(work, window, wider, rows, begin, end, first, first + len(machine.parents))


@inner(boolean(ROWS, int64, DEMAND, MACHINE), **OPTIONS)
def pools_hold(rows, row, demand, machine):
    """Whether a row has enough of every pool."""
    first, sets = HEAD + machine.words + machine.storages + len(machine.parents), machine.sets
    before = sets.shape[1] - rows.shape[1]
    for pool in range(first, rows.shape[1]):  # noqa: SIM110 (no generators here)
        if rows[row, pool] < sets[demand.first_set, before + pool]:
            return False
    return True


@inner(boolean(ROWS, int64, int64, ROWS, int64, int64, DEMAND, MACHINE), **OPTIONS)
def narrow_pools(work, window, wider, rows, begin, end, demand, machine):
    """The same for counted pools; returns whether each suffices."""
    first = HEAD + machine.words + machine.storages + len(machine.parents)
    narrow_columns(work, window, wider, rows, begin, end, first, rows.shape[1])
    return pools_hold(work, window, demand, machine)


@inner(boolean(ROWS, int64, int64, ROWS, int64, int64, DEMAND, MACHINE), **OPTIONS)
def _narrow(work, window, wider, rows, begin, end, demand, machine):
    """Set a window's columns in use to the resources free both in a wider one and in ``rows[begin:end]``.

    Returns whether the job may still fit: False when nodes or bytes are too few in total (then the columns may not all
    be set); otherwise :func:`spillway.schedulers.timeline.placement_kernels.holds` decides.
    """
    uses = demand.uses
    if uses & USE_NODES:
        if not narrow_nodes(work, window, wider, rows, begin, end, demand, machine):
            return False
    else:
        to, wide = np.uint64(window), np.uint64(wider)
        for column in range(np.uint64(HEAD), np.uint64(HEAD + machine.words)):
            work[to, column] = work[wide, column]
        work[to, FREE_NODES] = work[wide, FREE_NODES]
    if uses & USE_STORAGES and not narrow_storages(work, window, wider, rows, begin, end, demand, machine):
        return False
    if uses & USE_LINKS:
        narrow_links(work, window, wider, rows, begin, end, machine)
    return not uses & USE_POOLS or narrow_pools(work, window, wider, rows, begin, end, demand, machine)


@inner(boolean(ROWS, int64, DEMAND, MACHINE, ROWS), forceinline=True, **OPTIONS)
def _may_hold(rows, segment, demand, machine, work):
    """Whether a segment may hold the job, by cheap tests; if one fails, no window with this segment holds the job."""
    uses = demand.uses
    if uses & USE_NODES and rows[segment, FREE_NODES] < demand.nodes:
        return False
    if uses & USE_STORAGES and (
        rows[segment, FREE_BYTES] < demand.requests * demand.bb_bytes
        or not whole_requests_fit(rows, segment, demand, machine)
    ):
        return False
    if uses & USE_LINKS:  # the first link has no link above it: nodes that it cannot carry must be outside of it
        column = HEAD + machine.words + machine.storages
        outside = len(machine.node_link) - work[BELOW, column]
        if outside + rows[segment, column] // demand.io_rate < demand.nodes:
            return False
    return not uses & USE_POOLS or pools_hold(rows, segment, demand, machine)


@inner(int64(ROWS, int64, int64, DEMAND, MACHINE, ROWS), forceinline=True, **OPTIONS)
def _next_that_may(rows, count, first, demand, machine, work):
    """First segment from ``first`` on that may hold the job, or ``count``."""
    while first < count and not _may_hold(rows, first, demand, machine, work):
        first += 1
    return first


@inner(int64(ROWS, int64, int64, DEMAND), **OPTIONS)
def _next_with_enough(rows, count, first, demand):
    """First segment from ``first`` on with enough nodes and bytes in total, or ``count``."""
    nodes, total_bytes, uses = demand.nodes, demand.requests * demand.bb_bytes, demand.uses
    while first < count and (
        (uses & USE_NODES and rows[first, FREE_NODES] < nodes) or rows[first, FREE_BYTES] < total_bytes
    ):
        first += 1
    return first


@inner(int64(ROWS, int64, ROWS, int64, int64, DEMAND, MACHINE, TABLE), forceinline=True, **OPTIONS)
def _grow_backwards(rows, count, work, lowest, last, demand, machine, chosen):
    """First segment, not before ``lowest``, from which the job fits up to and including ``last``.

    ``work[BACK + k]`` is the window from segment ``k`` to ``last``. If ``last`` itself is too full: the first later
    segment with enough nodes and bytes, or ``count``.
    """
    wider, first = FULL, last + 1
    while (
        first > lowest
        and _narrow(work, BACK + first - 1, wider, rows, first - 1, first, demand, machine)
        and holds(work, BACK + first - 1, demand, machine, chosen)
    ):
        first -= 1
        wider = BACK + first
    return first if first <= last else _next_with_enough(rows, count, first, demand)


@inner(void(ROWS, int64, ROW, int64, int64), **OPTIONS)
def note_since(rows, last, since, first, storages):
    """Note for each storage the first segment up to ``last`` from which on its free bytes are those of ``last``."""
    for column in range(first, first + storages):
        segment = last
        while segment > 0 and rows[segment - 1, column] == rows[last, column]:
            segment -= 1
        since[column] = segment


@inner(float64(TIMES, int64, ROWS, DEMAND, float64, float64, float64, MACHINE, SCRATCH), **OPTIONS)
def _find_in_set(times, count, rows, demand, duration_s, not_before_s, latest_s, machine, scratch):
    """The same as :func:`find_fit` on one set of nodes, that of ``work[FULL]``."""
    work, chosen = scratch.work, scratch.chosen
    first = segment_at(times, count, not_before_s)
    one_by_one = machine.storage_order == RACK  # there a longer window may hold a job that a shorter one did not
    middle, following, start_s, window, passable = first, first, not_before_s, FORWARD, first
    while following < count and (following == first or times[following] < start_s + duration_s):
        passable = max(passable, first)  # from the first segment up to this one each may hold the job
        while passable < count and (passable == first or times[passable] < start_s + duration_s):
            if not _may_hold(rows, passable, demand, machine, work):
                first = _next_that_may(rows, count, passable + 1, demand, machine, work)
                if first >= count or times[first] > latest_s:
                    return np.inf
                middle, following, start_s, passable = first, first, times[first], first
            passable += 1
        moved_from = first
        begin, following = following, following if one_by_one else passable - 1
        wider = FULL if begin == middle else FORWARD
        enough = _narrow(work, FORWARD, wider, rows, begin, following + 1, demand, machine)
        window = WINDOW
        while enough and first < middle:
            if _narrow(work, WINDOW, FORWARD, work, BACK + first, BACK + first + 1, demand, machine) and holds(
                work, WINDOW, demand, machine, chosen
            ):
                break
            first += 1
        if first == middle or not enough:
            window = FORWARD
            if not enough or not holds(work, FORWARD, demand, machine, chosen):
                if middle + 1 >= count or times[middle + 1] > latest_s:
                    return np.inf
                if following == middle:  # the window is this segment only, which is too full
                    first = _next_with_enough(rows, count, following + 1, demand)
                else:
                    first = _grow_backwards(rows, count, work, middle + 1, following, demand, machine, chosen)
                if first >= count:
                    return np.inf
                window = BACK + first
                middle = max(first, following + 1)
                following = middle - 1
        following += 1
        if first != moved_from:
            start_s = times[first]
            if start_s > latest_s:
                return np.inf
    after = first
    if machine.storage_order == FULLEST_AT_END and demand.bb_bytes > 0:
        after = segment_at(times, count, start_s + duration_s)
        note_since(rows, after, work[SINCE], HEAD + machine.words, machine.storages)
    choose(work[window], rows[after], work[SINCE], demand, machine, scratch)
    return start_s


@njit(float64(TIMES, int64, ROWS, PLAIN_DEMAND, float64, float64, float64, PLAIN_MACHINE, PLAIN_SCRATCH), **OPTIONS)
def find_fit(times, count, rows, demand, duration_s, not_before_s, latest_s, machine, scratch):
    """Find the earliest start of a job, and its allocation there.

    Candidates are ``not_before_s`` and the later breakpoints up to ``latest_s``.

    Parameters
    ----------
    demand
        A :class:`Demand` of at least 1 node and at most those of the machine; ``requests`` times ``bb_bytes`` is at
        most the capacity of all storages.
    not_before_s
        At or after ``times[0]``.
    latest_s
        Last start of interest; the same as ``not_before_s`` to try only this one start.
    machine, scratch
        A :class:`Machine` and :class:`Scratch` memory, as plain tuples.

    Returns
    -------
    float
        The start, with ``usage`` and ``chosen`` filled; infinity if there is no start.

    Notes
    -----
    A sliding window over the segments ``first`` to ``following - 1``, kept as two parts so that it can shrink at the
    front: ``work[BACK + k]`` has the resources free from ``k`` up to (not including) ``middle``, and ``work[FORWARD]``
    those free from ``middle`` on. When new segments make the window too small for the job, the front moves until it
    fits again; when the front has reached ``middle``, the window is grown backwards from the last new segment. Every
    segment is thus visited three times at most, however long the window.

    A single segment with too little left rules out most starts. These are passed over first, by a test that is much
    cheaper than narrowing windows, and that any window with such a segment would fail.
    """
    demand, machine, scratch = Demand(*demand), Machine(*machine), Scratch(*scratch)
    found_s, best = np.inf, demand.first_set
    last = best + machine.sets[best, FREE_BYTES]
    for number in range(best, last + 1):
        use_set(scratch.work, number, machine)
        until_s, here = min(latest_s, found_s), on_set(demand, number)
        start_s = _find_in_set(times, count, rows, here, duration_s, not_before_s, until_s, machine, scratch)
        if start_s < found_s:
            found_s, best = start_s, number
    if found_s < np.inf and best != last:
        use_set(scratch.work, best, machine)
        _find_in_set(times, count, rows, on_set(demand, best), duration_s, found_s, found_s, machine, scratch)
    return found_s


@inner(boolean(ROWS, int64, int64), **OPTIONS)
def _equal(rows, one, two):
    for column in range(rows.shape[1]):  # noqa: SIM110 (no generators here)
        if rows[one, column] != rows[two, column]:
            return False
    return True


@inner(void(TIMES, ROWS, int64, int64, int64), **OPTIONS)
def _move(times, rows, begin, end, by):
    """Move segments ``begin`` to ``end - 1`` by some places."""
    copy_items(times, begin + by, times, begin, end - begin)
    copy_items(rows, begin + by, rows, begin, end - begin)


@inner(int64(TIMES, int64, ROWS, float64, float64, ROW, int64), **OPTIONS)
def book(times, count, rows, start_s, end_s, usage, sign):
    """Take (``sign`` 1) or release (-1) a usage over ``[start_s, end_s)``; return the new number of segments.

    Nothing is checked. ``times[0] <= start_s < end_s``; two rows beyond ``count`` must exist.
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
        _move(times, rows, last, last + 1, cut_start + 1)
        times[last + cut_start + 1] = end_s
    if cut_start:
        _move(times, rows, begin, last + 1, 1)  # the segment at ``begin`` stays there, too
        times[begin + 1] = start_s
    begin, last, count = begin + cut_start, last + cut_start, count + cut_start + cut_end
    for segment in range(begin, last + 1):
        at = np.uint64(segment)
        if sign > 0:  # without a multiplication: those of 64 bits are slow
            for column in range(np.uint64(rows.shape[1])):
                rows[at, column] -= usage[column]
        else:
            for column in range(np.uint64(rows.shape[1])):
                rows[at, column] += usage[column]
    if last + 1 < count and _equal(rows, last, last + 1):
        _move(times, rows, last + 2, count, -1)
        count -= 1
    if begin > 0 and _equal(rows, begin - 1, begin):
        _move(times, rows, begin + 1, count, -1)
        count -= 1
    return count


@inner(int64(TIMES, int64, ROWS, float64, float64, ROW, int64, int64, ROW), **OPTIONS)
def conflict(times, count, rows, start_s, end_s, usage, sign, words, capacity):
    """First segment of ``[start_s, end_s)`` in which a booking does not fit, or -1.

    Taking requires free nodes, and enough free bytes and bandwidth; releasing requires taken nodes, and must not lead
    above ``capacity``.
    """
    segment = segment_at(times, count, start_s)
    while segment < count and times[segment] < end_s:
        for column in range(HEAD, HEAD + words):
            word = rows[segment, column]
            if usage[column] & (~word if sign > 0 else word):
                return segment
        for column in range(HEAD + words, rows.shape[1]):
            left = rows[segment, column] - sign * usage[column]
            if left < 0 or left > capacity[column]:
                return segment
        segment += 1
    return -1


@inner(int64(GRANT, TREE, ROW), forceinline=True, **OPTIONS)
def measure(grant, tree, usage):
    """Write the usage of an allocation; return 0, or the code of its fault (the usage is then invalid)."""
    nodes, storages, uses, words = grant.nodes, grant.storages, grant.uses, tree.words
    node_link, parents = tree.node_link, tree.parents
    first = HEAD + words
    for column in range(len(usage)):
        usage[column] = 0
    for node in nodes:
        if node < 0 or node >= len(node_link):
            return BAD_NODE
        bit = np.int64(1) << (node & 63)
        if usage[HEAD + (node >> 6)] & bit:
            return BAD_NODE
        usage[HEAD + (node >> 6)] |= bit
        link = node_link[node] if uses & USE_LINKS else -1
        while link >= 0:
            usage[first + tree.storages + link] += grant.io_rate
            link = parents[link]
    if uses & USE_NODES:
        usage[FREE_NODES] = len(nodes)
    else:
        for column in range(HEAD, first):
            usage[column] = 0
    if uses & USE_STORAGES:
        if uses & USE_NODES and not uses & STRIPED and len(storages) != len(nodes) and len(storages) > 0:
            return BAD_COUNT
        for storage in storages:
            if storage < 0 or storage >= tree.storages:
                return BAD_STORAGE
            usage[first + storage] += grant.bb_bytes
        usage[FREE_BYTES] = len(storages) * grant.bb_bytes
    if uses & USE_POOLS:
        pools = len(usage) - len(tree.pools)
        for pool in range(len(tree.pools)):
            usage[pools + pool] = tree.pools[pool]
    return 0


@njit(int64(TIMES, int64, ROWS, float64, float64, int64, PLAIN_GRANT, PLAIN_TREE, ROW), **OPTIONS)
def book_checked(times, count, rows, start_s, end_s, sign, grant, tree, usage):
    """:func:`measure` a :class:`Grant`, check for a :func:`conflict`, :func:`book`; groups are plain tuples.

    Returns the new number of segments; ``-1 - segment`` for a conflict or a ``BAD_`` code, with nothing changed.
    """
    tree = Tree(*tree)
    wrong = measure(Grant(*grant), tree, usage)
    if wrong != 0:
        return wrong
    segment = conflict(times, count, rows, start_s, end_s, usage, sign, tree.words, tree.capacity)
    if segment >= 0:
        return -1 - segment
    return book(times, count, rows, start_s, end_s, usage, sign)


@njit(float64(TIMES, int64, ROWS, int64, float64, ROW, PLAIN_TREE), **OPTIONS)
def room_after(times, count, rows, segment, duration_s, usage, tree):
    """Earliest start after a segment with a :func:`conflict` at which a usage can be taken for a duration.

    Infinity if there is no such start.
    """
    tree = Tree(*tree)
    while segment >= 0:
        if segment + 1 >= count:
            return np.inf
        start_s = times[segment + 1]  # every earlier start meets the conflict
        segment = conflict(times, count, rows, start_s, start_s + duration_s, usage, 1, tree.words, tree.capacity)
    return start_s
