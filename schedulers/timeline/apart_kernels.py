"""Jobs whose holdings have lives of their own, compiled: find the earliest start, book each part over its interval.

The plain form is :func:`schedulers.timeline.lives.find`, which serves single questions; plans query a thousand times as
often. Layout and groups of arguments: :mod:`schedulers.timeline.layout`.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, njit, types, void

from schedulers.timeline.fit_kernels import _note_since, book, segment_at
from schedulers.timeline.layout import (
    DEMAND,
    FREE_BYTES,
    FREE_NODES,
    FULL,
    FULLEST_AT_END,
    HEAD,
    MACHINE,
    OPTIONS,
    PLAIN_DEMAND,
    PLAIN_MACHINE,
    PLAIN_SCRATCH,
    ROW,
    ROWS,
    SINCE,
    TIMES,
    USE_LINKS,
    USE_NODES,
    USE_STORAGES,
    WINDOW,
    Demand,
    Machine,
    Scratch,
    plain,
)
from schedulers.timeline.placement_kernels import choose, holds, popcount

SPAN = plain(*(types.float64,) * 4)
"""Seconds that the nodes are held, how much later than the burst buffer they are given, and how much longer than they
burst buffer and bandwidth are held."""


@njit(void(TIMES, int64, ROWS, ROWS, int64, int64, float64, float64), **OPTIONS)
def _least(times, count, rows, work, low, high, start_s, end_s):
    """Write what is free over an interval to the window, in columns of sizes; an empty interval is its start."""
    segment = segment_at(times, count, start_s)
    for column in range(low, high):
        work[WINDOW, column] = rows[segment, column]
    segment += 1
    while segment < count and times[segment] < end_s:
        for column in range(low, high):
            work[WINDOW, column] = min(work[WINDOW, column], rows[segment, column])
        segment += 1


@njit(boolean(TIMES, int64, ROWS, ROWS, DEMAND, MACHINE, SPAN, float64), **OPTIONS)
def _window(times, count, rows, work, demand, machine, span, start_s):
    """Fill the window with what each part has over its own interval; whether there is enough of it in total."""
    duration_s, lead_s, tail_s, links_tail_s = span
    on_s = start_s + lead_s
    off_s = start_s + duration_s + lead_s
    first, last = HEAD + machine.words, HEAD + machine.words + machine.storages
    for column in range(HEAD, first):
        work[WINDOW, column] = work[FULL, column]
    work[WINDOW, FREE_NODES] = work[FULL, FREE_NODES]
    if demand.uses & USE_NODES:
        segment = segment_at(times, count, on_s)
        begin = segment
        while segment == begin or (segment < count and times[segment] < off_s):
            for column in range(HEAD, first):
                work[WINDOW, column] &= rows[segment, column]
            segment += 1
        free = 0
        for column in range(HEAD, first):
            free += popcount(work[WINDOW, column])
        work[WINDOW, FREE_NODES] = free
        if free < demand.nodes:
            return False
    if demand.uses & USE_STORAGES:
        _least(times, count, rows, work, first, last, start_s, max(off_s + tail_s, start_s))
        total = 0
        for column in range(first, last):
            total += work[WINDOW, column]
        work[WINDOW, FREE_BYTES] = total
        if total < demand.requests * demand.bb_bytes:
            return False
    if demand.uses & USE_LINKS:
        _least(times, count, rows, work, last, rows.shape[1], on_s, max(off_s + links_tail_s, on_s))
    return True


@njit(float64(float64, float64), **OPTIONS)
def start_before(begin_s, lead_s):
    """Earliest start whose lead does not end before a time, rounding considered."""
    start_s = begin_s - lead_s
    while start_s + lead_s < begin_s:
        start_s = np.nextafter(start_s, np.inf)
    return start_s


@njit(float64(TIMES, int64, ROWS, PLAIN_DEMAND, SPAN, float64, PLAIN_MACHINE, PLAIN_SCRATCH), **OPTIONS)
def find_apart(times, count, rows, demand, span, not_before_s, machine, scratch):
    """Find the earliest start of a job whose holdings have lives of their own, and what it gets there.

    Candidates are ``not_before_s`` and the later starts at which some part begins at a breakpoint, in order.

    Returns
    -------
    float
        The start, with ``usage`` and ``chosen`` filled; infinity when there is none.
    """
    demand, machine, scratch = Demand(*demand), Machine(*machine), Scratch(*scratch)
    work, lead_s = scratch.work, span[1]
    of_buffer = segment_at(times, count, not_before_s) + 1
    of_nodes = segment_at(times, count, not_before_s + lead_s) + 1
    start_s = not_before_s
    while not (
        _window(times, count, rows, work, demand, machine, span, start_s)
        and holds(work, WINDOW, demand, machine, scratch.chosen)
    ):
        next_s = np.inf
        while of_nodes < count and start_before(times[of_nodes], lead_s) <= start_s:
            of_nodes += 1
        if of_nodes < count:
            next_s = start_before(times[of_nodes], lead_s)
        while of_buffer < count and times[of_buffer] <= start_s:
            of_buffer += 1
        if of_buffer < count:
            next_s = min(next_s, times[of_buffer])
        if next_s == np.inf:
            return np.inf
        start_s = next_s
    after = segment_at(times, count, start_s)
    if machine.storage_order == FULLEST_AT_END and demand.bb_bytes > 0:
        end_s = max(start_s + span[0] + lead_s + span[2], start_s)
        after = segment_at(times, count, end_s)
        _note_since(rows, after, work[SINCE], HEAD + machine.words, machine.storages)
    choose(work[WINDOW], rows[after], work[SINCE], demand, machine, scratch)
    return start_s


@njit(int64(TIMES, int64, ROWS, ROW, ROW, int64, int64, float64, float64), **OPTIONS)
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


@njit(int64(TIMES, int64, ROWS, SPAN, float64, PLAIN_MACHINE, PLAIN_SCRATCH), **OPTIONS)
def book_apart(times, count, rows, span, start_s, machine, scratch):
    """Book what :func:`find_apart` chose, each part over its own interval; return the new number of segments.

    Six rows beyond ``count`` must be there.
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
    return _book_columns(times, count, rows, usage, part, last, len(usage), on_s, max(off_s + links_tail_s, on_s))
