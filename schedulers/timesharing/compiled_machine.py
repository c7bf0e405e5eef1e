"""Compiled gang scheduling without the protocol, from one scheduling event to the next, whole cycles at once.

Between two events the matrix does not change, so each job's service and end follow from closed formulas
(:mod:`spillway.schedulers.timesharing.slices`), in whole microseconds: no quantum is simulated separately, and no time
is lost to rounding.

These kernels are compiled when the study of gang scheduling first runs (half a minute), not with those that every run
needs; by its name, :mod:`spillway.schedulers.kernels` does not find this module.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, int64, types

from spillway.base.kernel_cache import njit
from spillway.schedulers.timesharing.compiled_matrix import (
    FIRST,
    JOBS,
    LAST,
    MOVES,
    PLACES,
    ROW,
    ROWS,
    RULES,
    USED,
    Ints,
    Places,
    Rules,
    empty,
    recompute,
)

NEVER = 2**62
"""An instant after all others."""


class Clock(NamedTuple):
    """Slices and costs, in whole microseconds.

    Attributes
    ----------
    level, quantum
        Rows; length of a slice.
    local, remote, migration
        Costs of a block on the task's own node and on another; of a restart.
    at_once
        1: jobs that migrate restart inside the running slice; 0: with the next.
    limit
        Most tasks that migrate in one slice.
    """

    level: int
    quantum: int
    local: int
    remote: int
    migration: int
    at_once: int
    limit: int


_CLOCK = types.NamedUniTuple(types.int64, 7, Clock)


class Work(NamedTuple):
    """Jobs in their present places, as arrays by number: their work, the work left at an instant, their ends.

    A job that is ``moving`` to its place with the next slice runs in its old place in the rest of the running slice
    (``rows`` 0: not in this slice any more).

    Attributes
    ----------
    submit, cpu, blocks
        The workload.
    left, lag, since
        Work left at the instant ``since``, and the rest of a restart that comes before it.
    rows, columns
        Rows (a mask) and columns in which it runs.
    moving
        1 until it has moved.
    start, end, local
        Instants of its start and its end (:data:`NEVER`: not known); whether it ended on its file's nodes.
    """

    submit: Ints
    cpu: Ints
    blocks: Ints
    left: Ints
    lag: Ints
    since: Ints
    rows: Ints
    columns: Ints
    moving: Ints
    start: Ints
    end: Ints
    local: Ints


WORK = types.NamedTuple((ROW,) * 7 + (ROWS,) + (ROW,) * 4, Work)


@njit(int64(int64), cache=True)
def _count(rows: int) -> int:
    found = 0
    while rows:
        rows &= rows - 1
        found += 1
    return found


@njit(int64(_CLOCK, int64, int64), cache=True)
def service(clock: Clock, now: int, rows: int) -> int:
    """Time that a job in these rows would have received since time 0 (``Slices.service_us``)."""
    cycle = clock.quantum * clock.level
    cycles, left = now // cycle, now % cycle
    row, within = left // clock.quantum, left % clock.quantum
    before = _count(rows & ((1 << row) - 1))
    return (cycles * _count(rows) + before) * clock.quantum + (within if rows >> row & 1 else 0)


@njit(int64(_CLOCK, int64, int64), cache=True)
def instant(clock: Clock, received: int, rows: int) -> int:
    """The first instant at which :func:`service` is this much, more than 0 (``Slices.instant_us``)."""
    quanta, within = (received - 1) // clock.quantum, (received - 1) % clock.quantum
    cycles, nth = quanta // _count(rows), quanta % _count(rows)
    for _ in range(nth):
        rows &= rows - 1
    return (cycles * clock.level + _count((rows & -rows) - 1)) * clock.quantum + within + 1


@njit(boolean(ROW, ROW), cache=True)
def _equal(one: Ints, other: Ints) -> bool:
    apart = 0
    for place in range(one.shape[0]):
        apart |= one[place] ^ other[place]
    return apart == 0


@njit(boolean(ROW, ROW), cache=True)
def _meet(one: Ints, other: Ints) -> bool:
    both = 0
    for place in range(one.shape[0]):
        both |= one[place] & other[place]
    return both != 0


@njit(types.void(_CLOCK, WORK, int64, int64), cache=True)
def _serve(clock: Clock, work: Work, job: int, now: int) -> None:
    """Account for the time that a job has received since its last update; a restart is paid first."""
    rows = work.rows[job]
    received = service(clock, now, rows) - service(clock, work.since[job], rows) if rows else 0
    paid = min(work.lag[job], received)
    work.lag[job] -= paid
    work.left[job] -= received - paid
    work.since[job] = now


@njit(types.void(_CLOCK, WORK, int64), cache=True)
def _foresee(clock: Clock, work: Work, job: int) -> None:
    """Compute the end of a job if nothing changes."""
    rows = work.rows[job]
    need = work.lag[job] + work.left[job]
    work.end[job] = instant(clock, service(clock, work.since[job], rows) + need, rows)


@njit(int64(_CLOCK, WORK, int64, boolean), cache=True)
def _length(clock: Clock, work: Work, job: int, local: bool) -> int:
    return work.cpu[job] + work.blocks[job] * (clock.local if local else clock.remote)


@njit(int64(int64, int64, int64), cache=True)
def _scaled(value: int, factor: int, divisor: int) -> int:
    """``(value * factor + divisor // 2) // divisor`` for a value below the divisor, bit by bit of the factor."""
    quotient, rest = 0, 0
    for bit in range(62, -1, -1):
        quotient, rest = 2 * quotient, 2 * rest
        if factor >> bit & 1:
            rest += value
        quotient += rest // divisor
        rest %= divisor
    return quotient + (1 if rest + divisor // 2 >= divisor else 0)


@njit(types.void(_CLOCK, WORK, PLACES, int64), cache=True)
def _settle_in(clock: Clock, work: Work, places: Places, job: int) -> None:
    """Let a job run in its place from now on; on other columns it restarts first."""
    if not _equal(places.columns[job], work.columns[job]):
        remote, local = _length(clock, work, job, False), _length(clock, work, job, True)
        # left * local can exceed a word: whole remotes and the rest separately
        whole, rest = work.left[job] // remote, work.left[job] % remote
        work.left[job] = max(whole * local + _scaled(rest, local, remote), 1)
        work.lag[job] = clock.migration
        work.columns[job] = places.columns[job]
    work.rows[job] = places.rows[job]
    work.moving[job] = 0
    _foresee(clock, work, job)


@njit(types.void(_CLOCK, WORK, PLACES, int64, int64), cache=True)
def _move(clock: Clock, work: Work, places: Places, job: int, now: int) -> None:
    """Move a job to its new place: at once, or with the next slice where it migrates."""
    _serve(clock, work, job, now)
    begins = now if clock.at_once else -(-now // clock.quantum) * clock.quantum
    if begins > now and not _equal(places.columns[job], work.columns[job]):
        work.moving[job] = 1
        work.rows[job] &= 1 << now // clock.quantum % clock.level
        if work.rows[job]:
            _foresee(clock, work, job)
        if not work.rows[job] or work.end[job] > begins:
            work.end[job] = NEVER
        return
    _settle_in(clock, work, places, job)


@njit(types.void(_CLOCK, WORK, PLACES, int64), cache=True)
def _displace(clock: Clock, work: Work, places: Places, now: int) -> None:
    """Stop jobs that will move with the next slice, where other jobs received their columns in this slice."""
    row = now // clock.quantum % clock.level
    wanted = np.zeros(places.columns.shape[1], np.int64)
    for index in range(places.count[JOBS]):
        job = places.order[index]
        if places.rows[job] >> row & 1 and not work.moving[job]:
            for place in range(wanted.shape[0]):
                wanted[place] |= places.columns[job, place]
    for index in range(places.count[JOBS]):
        job = places.order[index]
        if work.moving[job] and work.rows[job] and _meet(work.columns[job], wanted):
            _serve(clock, work, job, now)
            work.rows[job] = 0
            work.end[job] = NEVER


@njit(types.void(_CLOCK, WORK, PLACES, ROW, RULES, int64), cache=True)
def _event(clock: Clock, work: Work, places: Places, whole: Ints, rules: Rules, now: int) -> None:
    """Recompute the matrix, and the end of each job whose place changed."""
    jobs = places.count[JOBS]
    old_rows = np.empty(jobs, np.int64)
    old_columns = np.empty((jobs, whole.shape[0]), np.int64)
    for index in range(jobs):
        old_rows[index] = places.rows[places.order[index]]
        old_columns[index] = places.columns[places.order[index]]
    recompute(places, clock.level, whole, rules, clock.limit - places.count[USED])
    some = False
    for index in range(jobs):
        job = places.order[index]
        changed = places.rows[job] != old_rows[index] or not _equal(places.columns[job], old_columns[index])
        if changed and not work.moving[job]:
            _move(clock, work, places, job, now)
        some |= work.moving[job] == 1
    for index in range(jobs, places.count[JOBS]):
        job = places.order[index]
        local = empty(places.files[job]) or _equal(places.files[job], places.columns[job])
        work.columns[job] = places.columns[job]
        work.rows[job] = places.rows[job]
        work.left[job] = _length(clock, work, job, local)
        work.since[job] = now
        work.start[job] = now
        _foresee(clock, work, job)
    if some:
        _displace(clock, work, places, now)


@njit(types.void(WORK, PLACES, int64), cache=True)
def _take_out(work: Work, places: Places, now: int) -> None:
    """Remove the jobs that end now from the matrix."""
    kept = 0
    for index in range(places.count[JOBS]):
        job = places.order[index]
        if work.end[job] == now:
            files = places.files[job]
            work.local[job] = empty(files) or _equal(work.columns[job], files)
            continue
        places.order[kept] = job
        kept += 1
    places.count[JOBS] = kept


@njit(types.void(PLACES, int64), cache=True)
def _enqueue(places: Places, job: int) -> None:
    places.following[job] = -1
    if places.count[FIRST] < 0:
        places.count[FIRST] = job
    else:
        places.following[places.count[LAST]] = job
    places.count[LAST] = job


@njit(int64(_CLOCK, WORK, PLACES, ROW, RULES), cache=True)
def run(clock: Clock, work: Work, places: Places, whole: Ints, rules: Rules) -> int:
    """Process the instants at which jobs arrive or end, in order; return the number of moves to files' nodes.

    Parameters
    ----------
    clock, rules
        The scheduler.
    work, places
        The jobs in order of submission, all outside the matrix and the queue at first; results are in ``work``.
    whole
        All columns.
    """
    coming, total, slice_number = 0, work.submit.shape[0], -1
    while coming < total or places.count[JOBS]:
        end, arrives, moving = NEVER, NEVER, False
        for index in range(places.count[JOBS]):
            end = min(end, work.end[places.order[index]])
            moving |= work.moving[places.order[index]] == 1
        if moving:
            arrives = (slice_number + 1) * clock.quantum  # they were moved in the slice of the last event
        submit = work.submit[coming] if coming < total else NEVER
        now = min(end, submit, arrives)
        if end == now:
            _take_out(work, places, now)
        if arrives == now:
            for index in range(places.count[JOBS]):
                job = places.order[index]
                if work.moving[job]:
                    _serve(clock, work, job, now)
                    _settle_in(clock, work, places, job)
            if now != end and now != submit:
                continue  # the matrix has been computed for them already
        while coming < total and work.submit[coming] == now:
            _enqueue(places, coming)
            coming += 1
        if now // clock.quantum != slice_number:
            slice_number = now // clock.quantum
            places.count[USED] = 0
        _event(clock, work, places, whole, rules, now)
    return int(places.count[MOVES])
