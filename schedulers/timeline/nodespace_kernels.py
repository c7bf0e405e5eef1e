"""Nodes that are planned for waiting jobs over intervals, by the rules of Slurm's two schedulers; compiled.

Sets of nodes are rows of 64-bit words: node i is bit i % 64 of word i // 64. See
:class:`spillway.schedulers.policykit.nodespace.NodeSpace`, which calls these, and ``tests/reference/slurm.py``, the
same in plain Python.

``left: int64[jobs + 1, words]``, ``ends_s: float64[jobs + 1]``, ``numbers: int64[jobs + 1]``
    Running jobs in the order in which they are expected to leave, and the number of each (of two that leave at a time
    the one submitted first is first). ``left[0]`` has the idle nodes, ``left[k]`` these and the nodes of the first
    ``k`` jobs. Jobs that have ended, but still have nodes that are not back, come first.
``times: float64[segments]``, ``order: int32[segments]``, ``free: int64[segments, words]``
    Segments of the time from now on, the last one endless: ``free[order[k]]`` are the nodes without a reservation in
    the segment that begins at ``times[k]``. Further places of ``order`` have the rows that no segment uses.
``windows_s: float64[windows, 3]``, ``window_nodes: int64[windows, words]``
    Windows of maintenance: begin, end, and time at which a job in the way is tried again; and their nodes. They count
    for the interval from which a search starts, and not for the start that it finds.
``sets: int64[sets, words]``
    The nodes of each partition; at first all nodes.
``until: float64[1]``
    Time until which (s) all results stay valid if nothing but the time changes: no reservation begins or ends while a
    pair would run from the present on, no reservation comes into the window, no job is expected to have left.
``state: int64[5]``
    Number of segments, of running jobs, the code of a kernel's result, the number of pairs that a main pass has
    visited, the number of running jobs that have ended.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import boolean, float64, int64, void
from numba.extending import intrinsic

from spillway.base.kernel_cache import njit
from spillway.schedulers.timeline.kernel_types import (
    INDICES,
    OPTIONS,
    ROW,
    ROWS,
    TABLE,
    TIME_ROWS,
    TIMES,
    inner,
    named,
    plain,
)

SEGMENTS, LEAVING, CODE, LOOKED, ENDED = 0, 1, 2, 3, 4
"""Places of ``state``."""

FITS, CUT, ASKS = 0, 1, 2
"""Codes: a pair can start; a main pass visits no more pairs; the caller decides on a pair."""

JOB, NODES, SET, USER, FLAGS = 0, 1, 2, 3, 4
"""Columns of the table of pairs: place of the job, its nodes, row of its partition's nodes, its user's number."""

CALLER, WITHOUT, STAGING, NOW_ONLY, OVERLAPPING, BUFFER = 1, 2, 4, 8, 16, 32
"""Flags of a pair: the caller decides on it; its job has no buffer yet, or one that is being filled; it gets no
reservation; its reservation may overlap with others; its job requests a buffer."""

NOT_WAITING, WAITING, PLANNED = 0, 1, 2
"""States of a job: not waiting; waiting; waiting, with an expected start."""

BY_SET, BY_USER, RESERVED = 0, 1, 2
"""Rows of the counts of a pass: tried pairs of each partition, tried pairs of each user, reservations by partition."""


class Space(NamedTuple):
    """The arrays of the module's docstring, and scratch memory for sets of nodes and for runs of neighbours."""

    left: npt.NDArray[np.int64]
    ends_s: npt.NDArray[np.float64]
    numbers: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    order: npt.NDArray[np.int32]
    free: npt.NDArray[np.int64]
    windows_s: npt.NDArray[np.float64]
    window_nodes: npt.NDArray[np.int64]
    sets: npt.NDArray[np.int64]
    until: npt.NDArray[np.float64]
    state: npt.NDArray[np.int64]
    allowed: npt.NDArray[np.int64]
    found: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]
    runs: npt.NDArray[np.int32]


class Rules(NamedTuple):
    """Parameters of a backfill pass.

    The present (s), ``bf_resolution`` (s), the last time that gets a reservation (s), ``bf_window_linear`` (s; 0:
    expected ends are checked one by one), most pairs of a partition and of a user, most reservations in a partition (0:
    any number), whether a job gets only one, whether their ends are rounded up, and whether pairs that cannot start any
    more are left out.
    """

    now_s: float
    resolution_s: float
    until_s: float
    linear_s: float
    most_of_set: int
    most_of_user: int
    most_reserved: int
    one_each: int
    ends_up: int
    starts_only: int


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def popcount(_context: Any, word: Any) -> Any:
    """Return the number of bits set in an integer."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), generate


_SPACE = (ROWS, TIMES, ROW, TIMES, INDICES, ROWS, TIME_ROWS, ROWS, ROWS, TIMES, ROW, ROW, ROW, ROW, TABLE)
SPACE, PLAIN_SPACE = named(Space, *_SPACE), plain(*_SPACE)
_RULES = (*(float64,) * 4, *(int64,) * 6)
RULES, PLAIN_RULES = named(Rules, *_RULES), plain(*_RULES)


@inner(int64(TIMES, int64, float64), forceinline=True, **OPTIONS)
def _after(times, count, time_s):
    """The first segment that begins after a time."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if times[middle] <= time_s:
            low = middle + 1
        else:
            high = middle
    return low


@inner(int64(TIMES, int64, float64), forceinline=True, **OPTIONS)
def _from(times, count, time_s):
    """The first segment that begins at a time or later."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if times[middle] < time_s:
            low = middle + 1
        else:
            high = middle
    return low


@inner(boolean(SPACE, int64), forceinline=True, **OPTIONS)
def _releases(space, segment):
    """Whether ``allowed`` nodes that were reserved before become free at the begin of a segment."""
    now, before = space.order[segment], space.order[segment - 1]
    released = np.int64(0)
    for word in range(space.free.shape[1]):
        released |= space.free[now, word] & ~space.free[before, word] & space.allowed[word]
    return released != 0


@inner(int64(SPACE, int64), forceinline=True, **OPTIONS)
def _release(space, segment):
    """The first segment from ``segment`` on that begins with a release of nodes, or the number of segments."""
    count = space.state[SEGMENTS]
    while segment < count and not _releases(space, segment):
        segment += 1
    return segment


@inner(boolean(SPACE, int64, int64, float64, float64), forceinline=True, **OPTIONS)
def _sees(space, segment, first, begin_s, duration_s):
    """Whether a search from a time in the segment ``first`` on reaches the begin of a later segment.

    It visits the segments that begin while the job would run, and two more.
    """
    if segment - 1 <= first or space.times[segment - 2] <= begin_s + duration_s:
        return True
    if first == 0:
        space.until[0] = min(space.until[0], space.times[segment - 2] - duration_s)
    return False


@inner(float64(SPACE, int64, float64, float64), forceinline=True, **OPTIONS)
def _later(space, first, begin_s, duration_s):
    """Time at which a search from a time in the segment ``first`` on is repeated, if it leads to a late start (s)."""
    segment = _release(space, first + 1)
    if segment < space.state[SEGMENTS] and _sees(space, segment, first, begin_s, duration_s):
        return space.times[segment]
    return np.inf


@inner(float64(SPACE, int64, int64, float64, float64), **OPTIONS)
def _past(space, blocked, first, begin_s, duration_s):
    """The first release of nodes after the segment ``blocked``, which leaves too few to all searches before (s).

    Each release before starts a search; the result is infinity if the last of these does not reach it.
    """
    segment = _release(space, blocked + 1)
    if segment == space.state[SEGMENTS]:
        return np.inf
    if segment > blocked + 2:
        last = blocked
        while last > first and not _releases(space, last):
            last -= 1
        if last > first:
            begin_s = space.times[last]
        if not _sees(space, segment, last, begin_s, duration_s):
            return np.inf
    return space.times[segment]


@inner(float64(SPACE, int64, float64, float64, RULES), forceinline=True, **OPTIONS)
def _allow(space, row, begin_s, end_s, rules):
    """Put a partition's nodes without those of windows in ``[begin_s, end_s)`` into ``allowed``.

    Returns the time at which a job in the way of a window is tried again (s), or infinity.
    """
    within, again_s = False, np.inf
    for word in range(space.free.shape[1]):
        space.allowed[word] = space.sets[row, word]
    for window in range(len(space.windows_s)):
        if space.windows_s[window, 0] < end_s and space.windows_s[window, 1] > begin_s:
            for word in range(space.free.shape[1]):
                if space.allowed[word] & space.window_nodes[window, word]:
                    within = True
                space.allowed[word] &= ~space.window_nodes[window, word]
        if space.windows_s[window, 1] >= begin_s and space.windows_s[window, 2] > begin_s:
            again_s = min(again_s, space.windows_s[window, 2])
    return again_s if within and again_s < rules.until_s else np.inf


@inner(void(SPACE, float64, float64), forceinline=True, **OPTIONS)
def _note_until(space, now_s, end_s):
    """Bound ``until`` by the time for which the reservations from the present to ``end_s`` stay valid."""
    count, times = space.state[SEGMENTS], space.times
    if count > 1:
        space.until[0] = min(space.until[0], times[1])
    following = _after(times, count, end_s)
    if following < count:
        space.until[0] = min(space.until[0], times[following] - (end_s - now_s))


@inner(int64(SPACE, int64, float64, float64), forceinline=True, **OPTIONS)
def _unreserved(space, nodes, begin_s, end_s):
    """Put the nodes ``allowed`` without a reservation in ``[begin_s, end_s]`` into ``found``; -1 if they suffice.

    Otherwise a segment: it and those after it, up to ``end_s``, leave too few. So does every interval of this length
    that begins before that segment ends.
    """
    count = space.state[SEGMENTS]
    first, segment = _after(space.times, count, begin_s) - 1, _after(space.times, count, end_s) - 1
    if begin_s <= space.times[0]:
        _note_until(space, begin_s, end_s)
    number = 0
    for word in range(space.free.shape[1]):
        space.found[word] = space.allowed[word]
    while segment >= first:
        at, number = space.order[segment], 0
        for word in range(space.free.shape[1]):
            both = space.found[word] & space.free[at, word]
            space.found[word] = both
            number += popcount(both)
        if number < nodes:
            return segment
        segment -= 1
    return -1


@inner(float64(SPACE, int64, float64, float64), forceinline=True, **OPTIONS)
def _promising(space, nodes, begin_s, duration_s):
    """The first time from ``begin_s`` on at which a search may succeed (s); without windows.

    A search fails if it is repeated before enough nodes are expected to be idle: some segment leaves too few of the
    nodes ``allowed`` that are idle by then. That is mostly the first segment, as nodes that become idle soon are
    reserved from then on. The passing of time does not change that: a late job leaves even later.
    """
    count, leaving, low = space.state[SEGMENTS], space.state[LEAVING], 0
    first = _after(space.times, count, begin_s) - 1
    while True:
        again = _release(space, first + 1)
        if again == count or not _sees(space, again, first, begin_s, duration_s):
            return begin_s
        while low < leaving and space.ends_s[low + 1] <= space.times[again]:
            low += 1
        at, number = space.order[first], 0
        for word in range(space.free.shape[1]):
            both = space.left[low, word] & space.allowed[word] & space.free[at, word]
            space.found[word] = both
            number += popcount(both)
        segment, end_s = first + 1, begin_s + duration_s
        while number >= nodes and segment < count and space.times[segment] <= end_s:
            at, number = space.order[segment], 0
            for word in range(space.free.shape[1]):
                both = space.found[word] & space.free[at, word]
                space.found[word] = both
                number += popcount(both)
            segment += 1
        if number >= nodes:
            return begin_s
        first, begin_s = again, space.times[again]


@inner(int64(SPACE, int64, float64), **OPTIONS)
def _together(space, least, linear_s):
    """Number of running jobs that have left at the first check that finds at least ``least`` of them gone.

    Jobs leave together: first the one that ends soonest of those on the nodes ``found``, with all that end within 30 s
    of it, then the next one with all within 30 s and ``linear_s`` more, and so on.
    """
    window_s, job = 30.0, space.state[ENDED] + 1
    while True:
        first_s, last = np.inf, 0
        while job <= space.state[LEAVING]:
            usable = False
            for word in range(space.free.shape[1]):
                if space.left[job, word] & ~space.left[job - 1, word] & space.found[word]:
                    usable = True
            if usable and last > 0 and space.ends_s[job] > first_s + window_s:
                break
            if usable:
                first_s, last = min(first_s, space.ends_s[job]), job
            job += 1
        if last >= least or last == 0:
            return max(last, least)
        window_s += linear_s


@inner(int64(SPACE, int64, float64), forceinline=True, **OPTIONS)
def _leave(space, nodes, linear_s):
    """Number of running jobs that must leave until enough of the nodes ``found`` are idle; keeps those that are then.

    Jobs that have ended have left.
    """
    low, high = space.state[ENDED], space.state[LEAVING]
    while low < high:
        middle, number = (low + high) >> 1, 0
        for word in range(space.free.shape[1]):
            number += popcount(space.left[middle, word] & space.found[word])
        if number >= nodes:
            high = middle
        else:
            low = middle + 1
    if linear_s > 0.0 and low > space.state[ENDED]:
        low = _together(space, low, linear_s)
    for word in range(space.free.shape[1]):
        space.found[word] &= space.left[low, word]
    return low


@inner(int64(ROW, int64, int64), **OPTIONS)
def _next(words, at, flipped):
    """The next node from ``at`` on in a set (``flipped`` -1: outside of it), or the number of bits of the set."""
    word = at >> 6
    if word >= len(words):
        return len(words) << 6
    bits = (words[word] ^ flipped) & (np.int64(-1) << np.int64(at & 63))
    while bits == 0:
        word += 1
        if word == len(words):
            return word << 6
        bits = words[word] ^ flipped
    return (word << 6) + popcount((bits & -bits) - 1)


@inner(void(ROW, int64, int64), **OPTIONS)
def _add(words, first, end):
    """Add the nodes from ``first`` to ``end`` (not included) to a set."""
    for word in range(first >> 6, (end + 63) >> 6):
        low, high = max(first - (word << 6), 0), min(end - (word << 6), 64)
        bits = np.int64(-1) << np.int64(low)
        if high < 64:
            bits &= ~(np.int64(-1) << np.int64(high))
        words[word] |= bits


@inner(void(SPACE, int64), **OPTIONS)
def _choose(space, nodes):
    """Choose ``nodes`` of the nodes ``found``: the shortest run of neighbours that suffices, from its first node on.

    If no run suffices, the longest is taken whole, and the rest is chosen likewise; the first of equal runs.
    """
    found, chosen, runs, number, total = space.found, space.chosen, space.runs, 0, 0
    first = _next(found, 0, 0)
    while first < len(found) << 6:
        end = _next(found, first, -1)
        runs[0, number], runs[1, number] = first, end - first
        number, total = number + 1, total + end - first
        first = _next(found, end, 0)
    for word in range(len(found)):
        chosen[word] = found[word] if total == nodes else 0
    left = 0 if total == nodes else nodes
    while left > 0:
        enough, longest = -1, 0
        for run in range(number):
            length = runs[1, run]
            if length >= left and (enough < 0 or length < runs[1, enough]):
                enough = run
            if length > runs[1, longest]:
                longest = run
        run = enough if enough >= 0 else longest
        taken = min(left, runs[1, run])
        _add(chosen, runs[0, run], runs[0, run] + taken)
        runs[1, run] = 0
        left -= taken


@inner(boolean(SPACE), **OPTIONS)
def _is_idle(space):
    """Whether all of the nodes ``chosen`` are idle: no node is still missing from a job that has ended."""
    busy = np.int64(0)
    for word in range(space.left.shape[1]):
        busy |= space.chosen[word] & ~space.left[0, word]
    return busy == 0


@inner(void(SPACE, int64), **OPTIONS)
def _choose_idle(space, nodes):
    """Choose again among the idle ones of the nodes ``found``, as a start does, if jobs have ended."""
    if space.state[ENDED] > 0:
        for word in range(space.left.shape[1]):
            space.found[word] &= space.left[0, word]
        _choose(space, nodes)


@inner(boolean(SPACE, float64, float64), forceinline=True, **OPTIONS)
def _overlaps(space, begin_s, end_s):
    """Whether some of the nodes ``chosen`` are reserved for a part of ``[begin_s, end_s)``, now or later."""
    count = space.state[SEGMENTS]
    for segment in range(
        _after(space.times, count, max(begin_s, space.times[0])) - 1, _from(space.times, count, end_s)
    ):
        at = space.order[segment]
        for word in range(space.free.shape[1]):
            if space.chosen[word] & ~space.free[at, word]:
                return True
    return False


@inner(float64(float64, float64), **OPTIONS)
def _rounded(time_s, resolution_s):
    return math.floor(time_s / resolution_s) * resolution_s if time_s < np.inf else time_s


@inner(float64(float64, RULES), **OPTIONS)
def _end(time_s, rules):
    """End of the reservation of a job that is to end at ``time_s`` (s), rounded to the resolution."""
    if rules.ends_up and time_s < np.inf:
        return math.ceil(time_s / rules.resolution_s) * rules.resolution_s
    return _rounded(time_s, rules.resolution_s)


@inner(float64(SPACE, ROWS, TIMES, TIMES, int64, float64, RULES), **OPTIONS)
def _plan(space, pairs, durations_s, unreserved_s, pair, not_before_s, rules):
    """Expected start of a pair from ``not_before_s`` on (s, infinity for never), with its nodes in ``chosen``.

    ``unreserved_s`` gets the time up to which too few nodes are unreserved for the pair's duration (s).
    """
    row, nodes, flags, duration_s = pairs[pair, SET], pairs[pair, NODES], pairs[pair, FLAGS], durations_s[pair]
    now_s, apart, now_only = rules.now_s, flags & OVERLAPPING != 0, flags & NOW_ONLY != 0
    found = False
    while not_before_s < np.inf:
        if found and not len(space.windows_s):
            not_before_s = _promising(space, nodes, not_before_s, duration_s)
        again_s = _allow(space, row, not_before_s, not_before_s + duration_s, rules)
        first = _after(space.times, space.state[SEGMENTS], not_before_s) - 1
        blocked = _unreserved(space, nodes, not_before_s, not_before_s + duration_s)
        if blocked >= 0:
            if now_only:
                return np.inf
            if not found:
                unreserved_s[pair] = space.times[blocked + 1] if blocked + 1 < space.state[SEGMENTS] else np.inf
            if len(space.windows_s):
                not_before_s = min(_later(space, first, not_before_s, duration_s), again_s)
            else:
                not_before_s = _past(space, blocked, first, not_before_s, duration_s)
            continue
        if not found:
            unreserved_s[pair], found = not_before_s, True
        leaving = _leave(space, nodes, rules.linear_s)
        runs = leaving > space.state[ENDED]
        if runs:
            space.until[0] = min(space.until[0], space.ends_s[leaving] - 1.0)
        start_s = max(max(space.ends_s[leaving], now_s + 1.0) if runs else now_s, not_before_s)
        waits, later_s = start_s <= now_s, np.inf
        if waits:
            _choose(space, nodes)
            if _is_idle(space):
                _choose_idle(space, nodes)
                return now_s
            start_s = now_s + 1.0  # for nodes that are not back yet
            space.until[0] = min(space.until[0], now_s)
        if now_only:
            return np.inf
        if not waits:
            later_s = min(_later(space, first, not_before_s, duration_s), again_s)
            if start_s > later_s:
                not_before_s = later_s
                continue
            _choose(space, nodes)
        begin_s, end_s = _rounded(start_s, rules.resolution_s), _end(start_s + duration_s, rules)
        if apart or start_s > rules.until_s or not _overlaps(space, begin_s, end_s):
            return start_s
        not_before_s = start_s if start_s > not_before_s else later_s
    return np.inf


@inner(int64(SPACE, float64), forceinline=True, **OPTIONS)
def _split(space, time_s):
    """The segment that begins at a time from now on, made if it is missing; past the last one for infinity."""
    count, times, order, free = space.state[SEGMENTS], space.times, space.order, space.free
    segment = _from(times, count, time_s)
    if time_s < np.inf and (segment == count or times[segment] > time_s):
        spare = order[count]
        for place in range(count, segment, -1):
            times[place], order[place] = times[place - 1], order[place - 1]
        times[segment], order[segment] = time_s, spare
        for word in range(free.shape[1]):
            free[spare, word] = free[order[segment - 1], word]
        space.state[SEGMENTS] = count + 1
    return segment


@inner(void(SPACE, int64), forceinline=True, **OPTIONS)
def _join(space, segment):
    """Join a segment and the one after it."""
    last, spare = space.state[SEGMENTS] - 1, space.order[segment + 1]
    for place in range(segment + 1, last):
        space.times[place], space.order[place] = space.times[place + 1], space.order[place + 1]
    space.order[last] = spare
    space.state[SEGMENTS] = last


@inner(boolean(SPACE, int64), forceinline=True, **OPTIONS)
def _is_as_next(space, segment):
    """Whether a segment has the same nodes as the one after it."""
    one, other = space.order[segment], space.order[segment + 1]
    different = np.int64(0)
    for word in range(space.free.shape[1]):
        different |= space.free[one, word] ^ space.free[other, word]
    return different == 0


@inner(void(SPACE, float64, float64), **OPTIONS)
def _reserve(space, begin_s, end_s):
    """Reserve the nodes ``chosen`` over an interval, from now on at the earliest; an empty one reserves nothing.

    Then the first two neighbours that have become equal are joined, from two segments before the interval to the one
    after it.
    """
    begin_s = max(begin_s, space.times[0])
    if begin_s >= end_s:
        return
    first = _split(space, begin_s)
    last = _split(space, end_s)
    for segment in range(first, last):
        at = space.order[segment]
        for word in range(space.free.shape[1]):
            space.free[at, word] &= ~space.chosen[word]
    for segment in range(max(first - 2, 0), min(last, space.state[SEGMENTS] - 1)):
        if _is_as_next(space, segment):
            _join(space, segment)
            return


@inner(boolean(SPACE, ROWS, TIMES, int64, RULES), forceinline=True, **OPTIONS)
def _may_start(space, pairs, durations_s, pair, rules):
    """Whether enough idle nodes of a pair's partition have no reservation while it would run."""
    row, nodes, number, now_s = pairs[pair, SET], pairs[pair, NODES], 0, rules.now_s
    _allow(space, row, now_s, now_s + durations_s[pair], rules)
    for word in range(space.free.shape[1]):
        both = space.allowed[word] & space.left[0, word]
        space.found[word] = both
        number += popcount(both)
    _note_until(space, now_s, now_s + durations_s[pair])
    segment = _after(space.times, space.state[SEGMENTS], now_s + durations_s[pair]) - 1
    while number >= nodes and segment >= 0:
        at, number = space.order[segment], 0
        for word in range(space.free.shape[1]):
            both = space.found[word] & space.free[at, word]
            space.found[word] = both
            number += popcount(both)
        segment -= 1
    return number >= nodes


@inner(boolean(ROWS, ROWS, int64, RULES), **OPTIONS)
def _over(pairs, counts, pair, rules):
    """Whether a pair exceeds the limit of its partition or its user; otherwise it is counted."""
    row, user = pairs[pair, SET], pairs[pair, USER]
    if rules.most_of_set > 0 and counts[BY_SET, row] >= rules.most_of_set:
        return True
    if rules.most_of_user > 0 and counts[BY_USER, user] >= rules.most_of_user:
        return True
    counts[BY_SET, row] += 1
    counts[BY_USER, user] += 1
    return False


@njit(void(PLAIN_SPACE, ROW, float64, int64), **OPTIONS)
def take(space, nodes, end_s, number):
    """Mark nodes as busy: job ``number`` was started on them and is expected to leave at ``end_s``."""
    space = Space(*space)
    left, ends_s, numbers, count = space.left, space.ends_s, space.numbers, space.state[LEAVING]
    place = 1
    while place <= count and (ends_s[place] < end_s or (ends_s[place] == end_s and numbers[place] < number)):
        place += 1
    for job in range(count, place - 1, -1):
        ends_s[job + 1], numbers[job + 1] = ends_s[job], numbers[job]
        for word in range(len(nodes)):
            left[job + 1, word] = left[job, word]
    ends_s[place], numbers[place] = end_s, number
    for word in range(len(nodes)):
        left[place, word] = left[place - 1, word]
    for job in range(place):
        for word in range(len(nodes)):
            left[job, word] &= ~nodes[word]
    space.state[LEAVING] = count + 1


@njit(void(PLAIN_SPACE, ROWS, INDICES), **OPTIONS)
def stack(space, held, jobs):
    """Fill ``left`` from its first row on with the nodes of running jobs (rows of ``held``), in the order given.

    Nothing is reserved yet: ``free`` has one segment, with all nodes that can be used.
    """
    space = Space(*space)
    left = space.left
    for place in range(len(jobs)):
        at = jobs[place]
        for word in range(left.shape[1]):
            left[place + 1, word] = left[place, word] | held[at, word] & space.free[0, word]
    space.state[LEAVING] = len(jobs)


@njit(void(PLAIN_SPACE, ROW, int64), **OPTIONS)
def consecutive(space, nodes, count):
    """Choose ``count`` of some nodes, as :func:`_choose` does."""
    space = Space(*space)
    for word in range(len(nodes)):
        space.found[word] = nodes[word]
    _choose(space, count)


@inner(float64(SPACE, ROWS, TIMES, TIMES, int64, RULES), **OPTIONS)
def _not_before(space, pairs, durations_s, unreserved_s, pair, rules):
    """The first time at which a pair need be tried (s); infinity if the searches before do not reach any.

    Reservations only grow in a pass. If a pair of no more nodes and no longer duration, in the same partition, found
    too few nodes up to a time, this one would, too; also at times at which nodes become free only since then.
    """
    row, nodes, duration_s = pairs[pair, SET], pairs[pair, NODES], durations_s[pair]
    begin_s = first_s = rules.now_s
    if len(space.windows_s):
        return first_s
    for other in range(pair):
        if (
            unreserved_s[other] > first_s
            and pairs[other, SET] == row
            and pairs[other, NODES] <= nodes
            and durations_s[other] <= duration_s
        ):
            first_s = unreserved_s[other]
    if first_s == begin_s:
        return first_s
    _allow(space, row, begin_s, begin_s, rules)
    count, first, segment = space.state[SEGMENTS], 0, 0
    unreserved_s[pair] = first_s
    while space.times[segment] < first_s:
        segment = _release(space, segment + 1)
        if segment == count or not _sees(space, segment, first, begin_s, duration_s):
            return np.inf
        first, begin_s = segment, space.times[segment]
    return begin_s


@njit(float64(PLAIN_SPACE, ROWS, TIMES, TIMES, int64, float64, PLAIN_RULES), **OPTIONS)
def plan(space, pairs, durations_s, unreserved_s, pair, not_before_s, rules):
    """Expected start of a pair from ``not_before_s`` on (s, infinity for never), with its nodes in ``chosen``."""
    found_s = _plan(Space(*space), pairs, durations_s, unreserved_s, pair, not_before_s, Rules(*rules))
    unreserved_s[pair] = -np.inf  # not searched from the present on
    return found_s


@inner(boolean(SPACE, ROWS, TIMES, ROWS, int64, float64, RULES), **OPTIONS)
def _keep(space, pairs, durations_s, counts, pair, start_s, rules):
    """Reserve the nodes ``chosen`` for a pair that is to start at ``start_s``; returns whether the rules allow it."""
    if start_s > rules.until_s:
        space.until[0] = min(space.until[0], start_s - (rules.until_s - rules.now_s))
        return False
    if pairs[pair, FLAGS] & NOW_ONLY:
        return False
    counts[RESERVED, pairs[pair, SET]] += 1
    _reserve(space, _rounded(start_s, rules.resolution_s), _end(start_s + durations_s[pair], rules))
    return True


@njit(boolean(PLAIN_SPACE, ROWS, TIMES, ROWS, int64, float64, PLAIN_RULES), **OPTIONS)
def keep(space, pairs, durations_s, counts, pair, start_s, rules):
    """Reserve the nodes ``chosen`` for a pair that is to start at ``start_s``; returns whether the rules allow it."""
    return _keep(Space(*space), pairs, durations_s, counts, pair, start_s, Rules(*rules))


@njit(int64(PLAIN_SPACE, ROWS, TIMES, TIMES, ROW, ROWS, TIMES, int64, PLAIN_RULES), **OPTIONS)
def backfill(space, pairs, durations_s, unreserved_s, waiting, counts, starts_s, pair, rules):
    """Plan pairs in order from ``pair`` on, up to the next that can start or that the caller decides on, or the end.

    Parameters
    ----------
    pairs, durations_s
        Rows of the columns above, and the expected duration of each (s).
    waiting, counts
        State of each job, and counts of the pass, as above.
    unreserved_s
        Time up to which too few nodes were unreserved for each pair's duration (s); minus infinity for pairs without
        such a search.
    starts_s
        Output: the expected start of each pair (s), infinity for never.
    """
    space, rules = Space(*space), Rules(*rules)
    now_s, possible = rules.now_s, pair
    while pair < len(pairs):
        if rules.starts_only:
            possible = max(possible, pair)
            while possible < len(pairs) and not (
                waiting[pairs[possible, JOB]] and _may_start(space, pairs, durations_s, possible, rules)
            ):
                possible += 1
            if possible == len(pairs):
                return possible
        job, flags = pairs[pair, JOB], pairs[pair, FLAGS]
        if not waiting[job] or _over(pairs, counts, pair, rules):
            pair += 1
            continue
        one_left = (rules.one_each and waiting[job] == PLANNED) or (
            rules.most_reserved > 0 and counts[RESERVED, pairs[pair, SET]] >= rules.most_reserved
        )
        if one_left:
            pairs[pair, FLAGS] = flags = flags | NOW_ONLY
        if flags & CALLER:
            space.state[CODE] = ASKS
            return pair
        first_s = _not_before(space, pairs, durations_s, unreserved_s, pair, rules)
        start_s = np.inf
        if first_s == now_s or not flags & NOW_ONLY:
            start_s = _plan(space, pairs, durations_s, unreserved_s, pair, first_s, rules)
        if flags & NOW_ONLY:
            unreserved_s[pair] = -np.inf  # later times were not tried
        starts_s[pair] = start_s
        if start_s < np.inf:
            waiting[job] = PLANNED
        if start_s <= now_s and not flags & (WITHOUT | STAGING):
            space.state[CODE] = FITS
            return pair
        if start_s < np.inf and not (start_s <= now_s and flags & WITHOUT):
            _keep(space, pairs, durations_s, counts, pair, start_s, rules)
        pair += 1
    return pair


@njit(int64(PLAIN_SPACE, ROWS, ROW, ROW, ROW, int64, int64, int64), **OPTIONS)
def main(space, pairs, waiting, ended, nodes, asks, depth, pair):
    """Next pair of a waiting job, from ``pair`` on, that can start or that the caller decides on, or the end.

    A pair before it that lacks nodes ends its partition: the partition's nodes are kept.

    Parameters
    ----------
    ended
        Flags of the partitions that have ended.
    nodes
        Usable nodes: those of no partition that has ended.
    asks
        Flags of pairs that the caller decides on; -1: all.
    depth
        Most pairs of waiting jobs that are visited in a pass, including those of partitions that have ended.
    """
    space = Space(*space)
    while pair < len(pairs):
        if waiting[pairs[pair, JOB]]:
            if space.state[LOOKED] == depth:
                space.state[CODE] = CUT
                return len(pairs)
            space.state[LOOKED] += 1
            row, idle, left = pairs[pair, SET], 0, np.int64(0)
            if not ended[row]:
                if asks < 0 or pairs[pair, FLAGS] & asks:
                    return pair
                for word in range(len(nodes)):
                    idle += popcount(space.left[0, word] & nodes[word] & space.sets[row, word])
                if idle >= pairs[pair, NODES]:
                    return pair
                ended[row] = 1
                for word in range(len(nodes)):
                    nodes[word] &= ~space.sets[row, word]
                    left |= nodes[word]
                if not left:
                    return len(pairs)
        pair += 1
    return pair
