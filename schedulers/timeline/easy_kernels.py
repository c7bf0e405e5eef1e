"""Starts of waiting jobs under EASY backfilling, if no job arrived and all took their estimates; compiled.

Only totals of nodes and bytes of burst buffer count, not their locations. The starts give an order in which a plan
places the jobs properly, and for which the result of backfilling is known.

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
    """Whether ``nodes`` nodes and ``size`` bytes are free in a segment."""
    return free[segment, NODES] >= nodes and free[segment, BYTES] >= size


@inner(int64(TIMES, int64, ROWS, int64, float64, int64, int64), **OPTIONS)
def _first_short(times, count, free, begin, end_s, nodes, size):
    """First segment from ``begin`` on, before ``end_s``, with less free; -1 if there is no such segment."""
    segment = begin
    while segment < count and (segment == begin or times[segment] < end_s):
        if not _holds(free, segment, nodes, size):
            return segment
        segment += 1
    return -1


@inner(float64(TIMES, int64, ROWS, int64, float64, int64, int64), **OPTIONS)
def _reserved(times, count, free, begin, duration_s, nodes, size):
    """Earliest start from segment ``begin`` on; infinity for never."""
    while begin < count:
        short = _first_short(times, count, free, begin, times[begin] + duration_s, nodes, size)
        if short < 0:
            return times[begin]
        begin = short + 1
    return np.inf


@inner(boolean(TIMES, int64, ROWS, int64, float64, ROW, float64, float64, ROW), **OPTIONS)
def _leaves(times, count, free, begin, end_s, demand, from_s, until_s, reserved):
    """Whether a job that starts with segment ``begin`` leaves ``reserved`` free over ``[from_s, until_s)``."""
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
    """Book a job that starts with segment ``begin``; return the number of segments."""
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
    """Compute the start of each job (s, infinity for never) under EASY backfilling from the timeline's beginning on.

    At every release of resources, jobs start in their order; the first job that cannot start reserves its earliest
    start, and later jobs start if they leave this reservation free.

    Parameters
    ----------
    times, free
        Starts of the segments, ascending, ``count`` of them, with space for one more per job. Overwritten.
    waiting
        Jobs in their order. Overwritten.
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
