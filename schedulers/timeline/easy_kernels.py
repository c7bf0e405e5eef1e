"""When waiting jobs would start under EASY backfilling, if no job arrived and all took their estimates; compiled.

By totals: nodes and bytes of burst buffer are counted, where they lie is not. This is a way to an order of jobs, in
which a plan places them properly, and of which it knows what backfilling would come to.

``free: int64[segments, 2]`` has free nodes and bytes per segment, ``demands: int64[jobs, 2]`` the same of jobs.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from spillway.base.kernel_cache import njit
from spillway.schedulers.timeline.fit_kernels import segment_at
from spillway.schedulers.timeline.kernel_types import INDICES, OPTIONS, ROW, ROWS, TIMES, inner

NODES, BYTES = 0, 1
"""Columns of ``free`` and ``demands``."""


@inner(boolean(ROWS, int64, int64, int64), **OPTIONS)
def _holds(free, segment, nodes, size):
    """Whether so much is free in a segment."""
    return free[segment, NODES] >= nodes and free[segment, BYTES] >= size


@inner(int64(TIMES, int64, ROWS, int64, float64, int64, int64), **OPTIONS)
def _first_short(times, count, free, begin, end_s, nodes, size):
    """First segment from one on, before a time, with less free; -1 if none."""
    segment = begin
    while segment < count and (segment == begin or times[segment] < end_s):
        if not _holds(free, segment, nodes, size):
            return segment
        segment += 1
    return -1


@inner(float64(TIMES, int64, ROWS, int64, float64, int64, int64), **OPTIONS)
def _reserved(times, count, free, begin, duration_s, nodes, size):
    """Earliest start from a segment on; infinite for never."""
    while begin < count:
        short = _first_short(times, count, free, begin, times[begin] + duration_s, nodes, size)
        if short < 0:
            return times[begin]
        begin = short + 1
    return np.inf


@inner(boolean(TIMES, int64, ROWS, int64, float64, ROW, float64, float64, ROW), **OPTIONS)
def _leaves(times, count, free, begin, end_s, demand, from_s, until_s, reserved):
    """Whether a job that starts with a segment leaves what is reserved for a time."""
    segment = begin
    while segment < count and times[segment] < end_s:
        next_s = times[segment + 1] if segment + 1 < count else np.inf
        if max(times[segment], from_s) < min(next_s, until_s, end_s) and not _holds(
            free, segment, demand[NODES] + reserved[NODES], demand[BYTES] + reserved[BYTES]
        ):
            return False
        segment += 1
    return True


@inner(int64(TIMES, int64, ROWS, int64, float64, ROW), **OPTIONS)
def _start(times, count, free, begin, end_s, demand):
    """Book a job that starts with a segment; return the number of segments."""
    last = segment_at(times, count, end_s)
    if times[last] < end_s < np.inf:
        for segment in range(count, last + 1, -1):
            times[segment] = times[segment - 1]
            free[segment, NODES], free[segment, BYTES] = free[segment - 1, NODES], free[segment - 1, BYTES]
        last += 1
        times[last] = end_s
        free[last, NODES], free[last, BYTES] = free[last - 1, NODES], free[last - 1, BYTES]
        count += 1
    stop = last if end_s < np.inf else count
    for segment in range(begin, stop):
        free[segment, NODES] -= demand[NODES]
        free[segment, BYTES] -= demand[BYTES]
    return count


@njit(void(TIMES, int64, ROWS, INDICES, ROWS, TIMES, TIMES), **OPTIONS)
def easy_starts(times, count, free, waiting, demands, durations_s, starts_s):
    """Work out the start of each job (s, infinite for never) under EASY backfilling from the timeline's beginning on.

    At every instant at which something is released, jobs start in their order; the first that cannot keeps its earliest
    start, and others start where they leave it.

    Parameters
    ----------
    times, free
        Starts of the segments, ascending, ``count`` of them, with room for one more per job. Spoiled.
    waiting
        Jobs in their order. Spoiled.
    durations_s
        Expected durations, not negative.
    starts_s
        Output, by job.
    """
    left, begin = len(waiting), 0
    starts_s[:] = np.inf
    while left > 0 and begin < count:
        now_s, kept, head = times[begin], 0, -1
        from_s = until_s = np.inf
        for position in range(left):
            job = waiting[position]
            demand, end_s = demands[job], now_s + durations_s[job]
            short = _first_short(times, count, free, begin, end_s, demand[NODES], demand[BYTES])
            if short < 0 and (
                head < 0 or _leaves(times, count, free, begin, end_s, demand, from_s, until_s, demands[head])
            ):
                count = _start(times, count, free, begin, end_s, demand)
                starts_s[job] = now_s
                continue
            if head < 0 and short >= 0:
                from_s = _reserved(times, count, free, short + 1, durations_s[job], demand[NODES], demand[BYTES])
                if from_s < np.inf:
                    head, until_s = job, from_s + durations_s[job]
            waiting[kept] = job
            kept += 1
        left, begin = kept, begin + 1
