"""Search and booking for holdings with lives of their own, compiled: each part has its own interval.

The intervals of the parts: :func:`spillway.schedulers.timeline.lives.parts`. Layout and groups of arguments:
:mod:`spillway.schedulers.timeline.layout`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, types

from spillway.base.kernel_cache import njit
from spillway.schedulers.timeline.fit_kernels import (
    book,
    narrow_links,
    narrow_nodes,
    narrow_pools,
    narrow_storages,
    note_since,
    on_set,
    segment_at,
    use_set,
)
from spillway.schedulers.timeline.kernel_types import (
    DEMAND,
    MACHINE,
    OPTIONS,
    PLAIN_DEMAND,
    PLAIN_MACHINE,
    PLAIN_SCRATCH,
    ROW,
    ROWS,
    SCRATCH,
    TIMES,
    inner,
    named,
    plain,
)
from spillway.schedulers.timeline.layout import (
    BACK,
    FORWARD,
    FREE_BYTES,
    FREE_NODES,
    FULL,
    FULLEST_AT_END,
    HEAD,
    SINCE,
    USE_LINKS,
    USE_NODES,
    USE_POOLS,
    USE_STORAGES,
    WINDOW,
    Demand,
    Machine,
    Scratch,
)
from spillway.schedulers.timeline.placement_kernels import choose, holds

SPAN = plain(*(types.float64,) * 4)
"""Seconds that nodes are held, lead of the burst buffer before them, tails of burst buffer and bandwidth after them."""


class _Slide(NamedTuple):
    """The sliding window of one kind of resource over the segments.

    Attributes
    ----------
    middle
        ``work[BACK + k]`` has the amounts of the kind free from segment ``k`` up to (not including) this one.
    following
        ``work[FORWARD]`` has those free from the middle up to (not including) this one.
    blocked
        No window that begins in this segment or before has enough of the kind.
    """

    middle: int
    following: int
    blocked: int


_SLIDE = named(_Slide, *(types.int64,) * 3)


@inner(int64(TIMES, int64, int64, float64), **OPTIONS)
def _segment_from(times, count, segment, time_s):
    """Index of the segment that contains ``time_s``, at or after ``segment``."""
    while segment + 1 < count and times[segment + 1] <= time_s:
        segment += 1
    return segment


@inner(boolean(ROWS, int64, int64, ROWS, int64, int64, DEMAND, MACHINE), **OPTIONS)
def _narrow_kind(work, window, wider, rows, segment, kind, demand, machine):
    """Narrow a window's columns of one kind by those of ``rows[segment]``; returns whether enough may be left."""
    if kind == USE_NODES:
        enough = narrow_nodes(work, window, wider, rows, segment, segment + 1, demand, machine)
        if not enough or not demand.uses & USE_POOLS:
            return enough
        return narrow_pools(work, window, wider, rows, segment, segment + 1, demand, machine)
    if kind == USE_STORAGES:
        return narrow_storages(work, window, wider, rows, segment, segment + 1, demand, machine)
    narrow_links(work, window, wider, rows, segment, segment + 1, machine)
    return True


@inner(_SLIDE(TIMES, int64, ROWS, ROWS, int64, int64, float64, _SLIDE, DEMAND, MACHINE), **OPTIONS)
def _slide(times, count, rows, work, kind, begin, end_s, slide, demand, machine):
    """Move a kind's window on to the segments from ``begin`` up to ``end_s``, at least one.

    Neither may be earlier than in the previous call. Fills the kind's columns of ``work[WINDOW]`` unless it is blocked.
    """
    middle, following = slide.middle, slide.following
    if begin < middle:
        while following < count and times[following] < end_s:
            wider = FULL if following == middle else FORWARD
            if not _narrow_kind(work, FORWARD, wider, rows, following, kind, demand, machine):
                return _Slide(middle, following, middle)
            following += 1
        wider = FULL if following == middle else FORWARD
        enough = _narrow_kind(work, WINDOW, wider, work, BACK + begin, kind, demand, machine)
        return _Slide(middle, following, begin - 1 if enough else begin)
    end = max(begin + 1, following)
    while end < count and times[end] < end_s:
        end += 1
    first, wider = end, FULL
    while first > begin and _narrow_kind(work, BACK + first - 1, wider, rows, first - 1, kind, demand, machine):
        first -= 1
        wider = BACK + first
    if first == begin:
        _narrow_kind(work, WINDOW, FULL, work, BACK + begin, kind, demand, machine)
    return _Slide(end, end, first - 1)


@inner(float64(float64, float64), **OPTIONS)
def start_before(begin_s, lead_s):
    """Earliest start with a lead that does not end before a time, rounding considered."""
    start_s = begin_s - lead_s
    while start_s + lead_s < begin_s:
        start_s = np.nextafter(start_s, np.inf)
    return start_s


@inner(float64(TIMES, int64, ROWS, DEMAND, SPAN, float64, float64, MACHINE, SCRATCH), **OPTIONS)
def _earliest(times, count, rows, demand, span, not_before_s, latest_s, machine, scratch):
    """Find the start of :func:`find_apart`; ``work[WINDOW]`` then has the free resources there."""
    duration_s, lead_s, tail_s, links_tail_s = span
    work, uses = scratch.work, demand.uses
    nodes = storages = links = _Slide(0, 0, -1)
    start_s = not_before_s
    first, on = segment_at(times, count, start_s), segment_at(times, count, start_s + lead_s)
    while start_s <= latest_s:
        if nodes.blocked < on and storages.blocked < first:
            off_s = start_s + duration_s + lead_s
            if uses & USE_NODES:
                nodes = _slide(times, count, rows, work, USE_NODES, on, off_s, nodes, demand, machine)
            if uses & USE_STORAGES and nodes.blocked < on:
                end_s = max(off_s + tail_s, start_s)
                storages = _slide(times, count, rows, work, USE_STORAGES, first, end_s, storages, demand, machine)
            if nodes.blocked < on and storages.blocked < first:
                if uses & USE_LINKS:
                    end_s = max(off_s + links_tail_s, start_s + lead_s)
                    links = _slide(times, count, rows, work, USE_LINKS, on, end_s, links, demand, machine)
                if holds(work, WINDOW, demand, machine, scratch.chosen):
                    return start_s
        next_s = np.inf
        if on + 1 < count:
            next_s = start_before(times[on + 1], lead_s)
        if first + 1 < count:
            next_s = min(next_s, times[first + 1])
        if next_s == np.inf:
            return np.inf
        start_s = next_s
        first, on = _segment_from(times, count, first, start_s), _segment_from(times, count, on, start_s + lead_s)
    return np.inf


@inner(float64(TIMES, int64, ROWS, DEMAND, SPAN, float64, float64, MACHINE, SCRATCH), **OPTIONS)
def _find_in_set(times, count, rows, demand, span, not_before_s, latest_s, machine, scratch):
    """The same as :func:`find_apart` on one set of nodes, that of ``work[FULL]``."""
    work, (duration_s, lead_s, tail_s, _) = scratch.work, span
    if not demand.uses & USE_NODES:
        for column in range(HEAD, HEAD + machine.words):
            work[WINDOW, column] = work[FULL, column]
        work[WINDOW, FREE_NODES] = work[FULL, FREE_NODES]
    start_s = _earliest(times, count, rows, demand, span, not_before_s, latest_s, machine, scratch)
    if start_s == np.inf:
        return start_s
    after = 0
    if machine.storage_order == FULLEST_AT_END and demand.bb_bytes > 0:
        after = segment_at(times, count, max(start_s + duration_s + lead_s + tail_s, start_s))
        note_since(rows, after, work[SINCE], HEAD + machine.words, machine.storages)
    choose(work[WINDOW], rows[after], work[SINCE], demand, machine, scratch)
    return start_s


@njit(float64(TIMES, int64, ROWS, PLAIN_DEMAND, SPAN, float64, float64, PLAIN_MACHINE, PLAIN_SCRATCH), **OPTIONS)
def find_apart(times, count, rows, demand, span, not_before_s, latest_s, machine, scratch):
    """Find the earliest start of a job with separate lives of its holdings, and its allocation there.

    Candidates are ``not_before_s`` and the later starts up to ``latest_s`` at which some part begins at a breakpoint,
    in order: only there can a later interval have more free resources. Arguments are those of
    :func:`spillway.schedulers.timeline.fit_kernels.find_fit`, with a :data:`SPAN` in place of the duration.

    Returns
    -------
    float
        The start, with ``usage`` and ``chosen`` filled; infinity if there is no start.

    Notes
    -----
    Nodes, storages and links have a sliding window each (:class:`_Slide`), of two parts as in ``find_fit``: every
    segment is visited three times at most per kind. If one kind is blocked up to some segment, the others skip the
    candidates up to there.
    """
    demand, machine, scratch = Demand(*demand), Machine(*machine), Scratch(*scratch)
    found_s, best = np.inf, demand.first_set
    last = best + machine.sets[best, FREE_BYTES]
    for number in range(best, last + 1):
        use_set(scratch.work, number, machine)
        until_s, here = min(latest_s, found_s), on_set(demand, number)
        start_s = _find_in_set(times, count, rows, here, span, not_before_s, until_s, machine, scratch)
        if start_s < found_s:
            found_s, best = start_s, number
    if found_s < np.inf and best != last:
        use_set(scratch.work, best, machine)
        _find_in_set(times, count, rows, on_set(demand, best), span, found_s, found_s, machine, scratch)
    return found_s


@inner(int64(TIMES, int64, ROWS, ROW, ROW, int64, int64, float64, float64), **OPTIONS)
def _book_columns(times, count, rows, usage, part, low, high, start_s, end_s):
    """Book some columns of a usage over an interval; ``part`` is working memory."""
    if not start_s < end_s:
        return count
    for column in range(len(usage)):
        part[column] = usage[column] if low <= column < high else 0
    if low == HEAD:
        part[FREE_NODES] = usage[FREE_NODES]
    else:
        part[FREE_BYTES] = usage[FREE_BYTES] if low < high else 0
    return book(times, count, rows, start_s, end_s, part, 1)


@inner(int64(TIMES, int64, ROWS, SPAN, float64, PLAIN_MACHINE, PLAIN_SCRATCH), **OPTIONS)
def book_apart(times, count, rows, span, start_s, machine, scratch):
    """Book the choice of :func:`find_apart`, each part over its own interval; return the new number of segments.

    Six rows beyond ``count`` must exist.
    """
    machine, scratch = Machine(*machine), Scratch(*scratch)
    duration_s, lead_s, tail_s, links_tail_s = span
    usage, part = scratch.usage, scratch.work[SINCE]
    on_s = start_s + lead_s
    off_s = start_s + duration_s + lead_s
    first, last = HEAD + machine.words, HEAD + machine.words + machine.storages
    count = _book_columns(times, count, rows, usage, part, HEAD, first, on_s, off_s)
    count = _book_columns(times, count, rows, usage, part, first, last, start_s, max(off_s + tail_s, start_s))
    usage[FREE_BYTES] = 0
    links = last + len(machine.parents)
    count = _book_columns(times, count, rows, usage, part, links, len(usage), on_s, off_s)  # pools go with the nodes
    return _book_columns(times, count, rows, usage, part, last, links, on_s, max(off_s + links_tail_s, on_s))
