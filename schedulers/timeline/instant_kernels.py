"""Search for the first of many jobs that fits now, compiled: windows begin at the first segment and share minima."""

from __future__ import annotations

import numpy as np
from numba import int64, void

from spillway.base.kernel_cache import njit
from spillway.schedulers.timeline.fit_kernels import (
    demand_at,
    narrow_columns,
    note_since,
    on_set,
    pools_hold,
    segment_at,
    use_set,
)
from spillway.schedulers.timeline.kernel_types import (
    DEMAND,
    MACHINE,
    OPTIONS,
    PLAIN_MACHINE,
    PLAIN_SCRATCH,
    ROWS,
    TABLE,
    TIMES,
    inner,
)
from spillway.schedulers.timeline.layout import (
    BACK,
    FREE_BYTES,
    FREE_NODES,
    FULL,
    FULLEST_AT_END,
    HEAD,
    SINCE,
    USE_POOLS,
    USE_STORAGES,
    WINDOW,
    Demand,
    Machine,
    Scratch,
)
from spillway.schedulers.timeline.placement_kernels import choose, holds, popcount


@njit(void(ROWS, int64, ROWS, int64, MACHINE), **OPTIONS)
def _narrow_by(work, window, rows, segment, machine):
    """Set a window to the resources free in the window before it (for the first: in the machine) and in a segment."""
    to, wide, at = np.uint64(window), np.uint64(window - 1 if segment else FULL), np.uint64(segment)
    first, last, free = np.uint64(HEAD), np.uint64(HEAD + machine.words), 0
    for column in range(first, last):
        work[to, column] = work[wide, column] & rows[at, column]
        free += popcount(work[to, column])
    work[to, FREE_NODES] = free
    total = 0
    for column in range(last, np.uint64(HEAD + machine.words + machine.storages)):
        work[to, column] = min(work[wide, column], rows[at, column])
        total += work[to, column]
    work[to, FREE_BYTES] = total
    links = HEAD + machine.words + machine.storages  # and pools
    narrow_columns(work, window, np.int64(wide), rows, segment, segment + 1, links, rows.shape[1])


@inner(int64(ROWS, int64, DEMAND, MACHINE, TABLE), **OPTIONS)
def _set_that_holds(work, window, demand, machine, chosen):
    """First of a job's sets of nodes on which a window holds it, or -1; ``work[WINDOW]`` is the window there."""
    sets, number = machine.sets, demand.first_set
    if number == 0 and not holds(work, window, demand, machine, chosen):
        return -1
    for column in range(work.shape[1]):
        work[WINDOW, column] = work[window, column]
    if number == 0:
        return 0
    last = number + sets[number, FREE_BYTES]
    while number <= last:
        here = on_set(demand, number)
        if not demand.uses & USE_POOLS or pools_hold(work, window, here, machine):
            free = 0
            for column in range(HEAD, HEAD + machine.words):
                work[WINDOW, column] = work[window, column] & sets[number, column]
                free += popcount(work[WINDOW, column])
            work[WINDOW, FREE_NODES] = free
            if free >= demand.nodes and holds(work, WINDOW, here, machine, chosen):
                return number
        number += 1
    return -1


@njit(int64(TIMES, int64, ROWS, ROWS, TIMES, PLAIN_MACHINE, PLAIN_SCRATCH), **OPTIONS)
def first_that_fits(times, count, rows, demands, durations_s, machine, scratch):
    """First of many jobs that fits at the start of the timeline, or -1.

    Parameters
    ----------
    demands, durations_s
        A :class:`Demand` and a duration (s) for each job, as :func:`spillway.schedulers.timeline.fit_kernels.find_fit`
        takes them; no duration is negative.
    machine, scratch
        A :class:`Machine`, with another rule for storages than ``rack`` (under which a longer window may hold a job
        that a shorter one does not), and :class:`Scratch` memory, as plain tuples. ``usage`` and ``chosen`` are filled
        as :func:`find_fit` fills them for that job.
    """
    machine, scratch, now_s, known = Machine(*machine), Scratch(*scratch), times[0], 0
    work, chosen = scratch.work, scratch.chosen
    use_set(work, 0, machine)
    for job in range(len(durations_s)):
        if rows[0, FREE_NODES] < demands[job, 0]:
            continue
        demand = Demand(*demand_at(demands, job))
        end_s = now_s + durations_s[job]
        last = segment_at(times, count, end_s)
        if last > 0 and times[last] >= end_s:
            last -= 1
        while known <= last:
            _narrow_by(work, BACK + known, rows, known, machine)
            known += 1
        window, uses = BACK + last, demand.uses
        if work[window, FREE_NODES] < demand.nodes:
            continue
        if uses & USE_STORAGES and work[window, FREE_BYTES] < demand.requests * demand.bb_bytes:
            continue
        number = _set_that_holds(work, window, demand, machine, chosen)
        if number < 0:
            continue
        after = 0
        if machine.storage_order == FULLEST_AT_END and uses & USE_STORAGES:
            after = segment_at(times, count, end_s)
            note_since(rows, after, work[SINCE], HEAD + machine.words, machine.storages)
        choose(work[WINDOW], rows[after], work[SINCE], on_set(demand, number), machine, scratch)
        return job
    return -1
