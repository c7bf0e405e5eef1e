"""Plan scoring and annealing, compiled, on the timeline's own arrays.

A plan of an order places each job in turn at its earliest start and books it (thesis, section 3.4). Its score is a
weighted sum of powers of waiting times, or the latest start (:mod:`schedulers.policykit.objectives`).

Two savings make a score cheap, both exact. A changed order is planned again only from a checkpoint before the first
changed position: checkpoints of the timeline are kept every ``stride`` positions, in two slots per level (current and
trial) that change places when a trial is accepted. And a trial is given up as soon as its score, with the least the
jobs not yet placed must add, cannot be accepted any more; the random number that decides on acceptance is drawn first.

Layout (beyond that of :mod:`schedulers.timeline.fit_kernels`)
------
``asks: int64[jobs, 4]``       nodes, burst-buffer bytes and I/O rate per node, and which resources count
``spans: float64[jobs, 4]``    estimated duration, submission time (s), weight in the score, and the start that the job
                               would have if nobody were placed before it
``least: float64[jobs]``       the least that each job can add to the score (its start with the queue empty before it)
``slot_*``                     checkpoints: ``slot_times[2 * levels, capacity]``, ``slot_rows``, ``slot_count``,
                               ``slot_score[2 * levels, 2]`` (score of the jobs placed before, and their least)
``which: int64[2, levels]``    slot of the current order's and of the trial's checkpoint per level
``starts: float64[jobs]``      planned start per job (by job, not by position)
``placed: int64[5, jobs]``     what was placed so far, by position: planned start, nodes, burst-buffer bytes and
                               I/O rate per node, duration (times as the bits of doubles)
``held: bool``                 whether nodes are held one rounding step longer (:mod:`schedulers.timeline.published`)
``machine``                    the last arguments of ``find_fit``, as a tuple
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from schedulers.search.random64 import below, uniform
from schedulers.timeline.fit_kernels import book, find_fit, segment_at
from schedulers.timeline.layout import FREE_NODES, HEAD

_ROW, _ROWS, _TIMES, _INDICES, _TABLE = "int64[::1]", "int64[:, ::1]", "float64[::1]", "int32[::1]", "int32[:, ::1]"
_MACHINE = f"Tuple((int64, int64, {_TABLE}, {_INDICES}, {_INDICES}, {_ROWS}, {_ROWS}, {_ROW}, {_TABLE}))"
_JOBS = f"{_ROWS}, float64[:, ::1], {_TIMES}"
_SLOTS = f"float64[:, ::1], int64[:, :, ::1], {_ROW}, float64[:, ::1], {_ROWS}"
_SHAPE = "UniTuple(float64, 3)"
_OPTIONS = {"cache": True, "error_model": "numpy", "nogil": True}


@njit(f"void({_INDICES}, {_INDICES})", **_OPTIONS)
def _copy_order(target, source):
    for position in range(len(source)):
        target[position] = source[position]


@njit("void(float64[::1], float64[::1])", **_OPTIONS)
def _copy_starts(target, source):
    for job in range(len(source)):
        target[job] = source[job]


@njit(f"void({_ROWS}, int64, int64)", **_OPTIONS)
def _exchange_slots(which, begin, end):
    for level in range(begin, end):
        which[0, level], which[1, level] = which[1, level], which[0, level]


@njit(f"float64(float64, float64, {_SHAPE})", **_OPTIONS)
def term(wait_s, weight, shape):
    """What a job adds to the score: ``shape`` is the power, the guard (s, infinite for none) and its power."""
    alpha, guard_s, guard_power = shape
    if alpha == 1.0:
        score = weight * wait_s
    elif alpha == 2.0:
        score = weight * wait_s * wait_s
    else:
        score = weight * wait_s**alpha
    if guard_s < np.inf:
        score *= 1.0 + (wait_s / guard_s) ** guard_power
    return score


@njit(f"int64({_INDICES}, float64[:, ::1], {_TIMES}, {_TIMES}, {_SHAPE}, uint64[::1])", **_OPTIONS)
def _delayed_position(order, spans, least, starts, shape, random):
    """Draw a position among the jobs that start later than with nobody before them; -1 when there is none."""
    delayed = 0
    for job in range(len(order)):
        if term(starts[job] - spans[job, 1], spans[job, 2], shape) > least[job]:
            delayed += 1
    if delayed == 0:
        return -1
    pick = below(random, delayed)
    for position in range(len(order)):
        job = order[position]
        if term(starts[job] - spans[job, 1], spans[job, 2], shape) > least[job]:
            if pick == 0:
                return position
            pick -= 1
    return -1


def _bitcast(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _bits(_context: Any, number: Any) -> Any:
    """Return a double's bits as an integer; those of numbers that are not negative are ordered like the numbers."""
    return types.int64(number), _bitcast


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _from_bits(_context: Any, bits: Any) -> Any:
    """Return the double that has these bits."""
    return types.float64(bits), _bitcast


@njit(f"void({_ROWS}, int64, {_ROWS}, float64[:, ::1], int64, float64)", **_OPTIONS)
def _note_placed(placed, position, asks, spans, job, start_s):
    """Write down what was placed at a position."""
    placed[0, position] = _bits(start_s)
    placed[1, position] = asks[job, 0]
    placed[2, position] = asks[job, 1]
    placed[3, position] = asks[job, 2]
    placed[4, position] = _bits(spans[job, 0])


@njit(f"float64({_ROWS}, int64, {_ROWS}, float64[:, ::1], int64)", **_OPTIONS)
def _not_before(placed, position, asks, spans, job):
    """Give a time before which a job cannot start: where to begin the search for its start.

    Neither before its start alone, nor before the start of a job placed earlier in this plan that asks for no more of
    anything: where the larger job fits now, the smaller one would have fitted then. Whole numbers without a branch
    become vector instructions; with branches this took most of the time of long plans.
    """
    nodes, bb_bytes, io_rate, duration = asks[job, 0], asks[job, 1], asks[job, 2], _bits(spans[job, 0])
    earliest = _bits(spans[job, 3])
    for before in range(np.uint64(position)):
        more = (
            (nodes - placed[1, before])
            | (bb_bytes - placed[2, before])
            | (io_rate - placed[3, before])
            | (duration - placed[4, before])
        ) >> 63  # all bits set where that job asks for more of something, else none
        earliest = max(earliest, placed[0, before] & ~more)
    return _from_bits(earliest)


@njit(f"void({_INDICES}, int64, int64, boolean)", **_OPTIONS)
def _move_job(order, first, second, insert):
    """Exchange two positions, or take the first one's job out and insert it at the second."""
    job = order[first]
    if not insert:
        order[first], order[second] = order[second], job
        return
    step = 1 if first < second else -1
    position = first
    while position != second:
        order[position] = order[position + step]
        position += step
    order[second] = job


@njit(f"int64({_TIMES}, int64, {_ROWS}, int64, float64, {_ROW})", **_OPTIONS)
def _hold_nodes(times, count, rows, words, end_s, demand):
    """Book the nodes of a demand for one rounding step more, where they are free; spoils the demand."""
    segment = segment_at(times, count, end_s)
    for column in range(HEAD, HEAD + words):
        if demand[column] & ~rows[segment, column]:
            return count
    for column in range(len(demand)):
        if column != FREE_NODES and not HEAD <= column < HEAD + words:
            demand[column] = 0
    return book(times, count, rows, end_s, np.nextafter(end_s, np.inf), demand, 1)


@njit(
    f"float64({_INDICES}, int64, int64, float64, {_SHAPE}, boolean, boolean, {_TIMES}, {_ROWS}, int64, {_JOBS}, "
    f"{_SLOTS}, {_TIMES}, {_ROWS}, {_MACHINE})",
    **_OPTIONS,
)
def plan_from(
    order, level, stride, limit, shape, latest, held, times, rows, words, asks, spans, least, slot_times, slot_rows,
    slot_count, slot_score, which, starts, placed, machine,
):  # fmt: skip
    """Plan an order from a level's current checkpoint on; return its score, or infinity once it must exceed ``limit``.

    ``times`` and ``rows`` are working memory. Later levels are written into the trial slots.
    """
    node_order, storage_order, nearest, node_link, parents, groups, work, demand, chosen = machine
    slot = which[0, level]
    count = slot_count[slot]
    for segment in range(count):
        times[segment] = slot_times[slot, segment]
        for column in range(rows.shape[1]):
            rows[segment, column] = slot_rows[slot, segment, column]
    score, bound = slot_score[slot, 0], slot_score[slot, 1]
    first = level * stride
    for position in range(first):
        _note_placed(placed, position, asks, spans, order[position], starts[order[position]])
    for position in range(first, len(order)):
        if position % stride == 0 and position > first:
            slot = which[1, position // stride]
            slot_count[slot] = count
            for segment in range(count):
                slot_times[slot, segment] = times[segment]
                for column in range(rows.shape[1]):
                    slot_rows[slot, segment, column] = rows[segment, column]
            slot_score[slot, 0], slot_score[slot, 1] = score, bound
        job = order[position]
        start_s = _not_before(placed, position, asks, spans, job)
        if start_s < np.inf:
            start_s = find_fit(
                times, count, rows, words, asks[job, 0], spans[job, 0], asks[job, 1], asks[job, 2], asks[job, 3],
                start_s, np.inf, node_order, storage_order, nearest, node_link, parents, groups, work, demand,
                chosen,
            )  # fmt: skip
        starts[job] = start_s
        _note_placed(placed, position, asks, spans, job, start_s)
        if start_s == np.inf:
            continue
        count = book(times, count, rows, start_s, start_s + spans[job, 0], demand, 1)
        if held and start_s + spans[job, 0] < np.inf:
            count = _hold_nodes(times, count, rows, words, start_s + spans[job, 0], demand)
        if latest:
            score = max(score, start_s)
        else:
            score += term(start_s - spans[job, 1], spans[job, 2], shape)
            bound += least[job]
        if score - bound > limit:
            return np.inf
    return score


@njit(
    f"Tuple((float64, int64))({_INDICES}, float64, int64, int64, {_SHAPE}, boolean, boolean, float64, float64, int64, "
    f"float64, boolean, boolean, uint64[::1], {_TIMES}, {_ROWS}, int64, {_JOBS}, {_SLOTS}, {_TIMES}, {_ROWS}, "
    f"{_TIMES}, {_INDICES}, {_INDICES}, {_MACHINE})",
    **_OPTIONS,
)
def anneal(
    best, best_score, stride, steps, shape, latest, held, temperature, cooling, period, coolest, swaps_only,
    delayed_only, random, times, rows, words, asks, spans, least, slot_times, slot_rows, slot_count, slot_score,
    which, starts, placed, current_starts, current, trial, machine,
):  # fmt: skip
    """Simulated annealing over orders from ``best``, which is improved in place; return its score and the steps taken.

    Parameters
    ----------
    temperature, cooling, period, coolest
        The temperature starts here and is multiplied by ``cooling`` every ``period`` steps, never below ``coolest``.
    swaps_only
        Move by exchanging two positions; else half of the moves take a job out and insert it elsewhere.
    delayed_only
        The first position of a move is drawn among jobs that start later than they would with nobody before them.

    Notes
    -----
    The level-0 checkpoint (nothing placed) must be in slot ``which[0, 0]``. ``best`` is planned first, which fills the
    other levels. Stops early when nobody is delayed: such a plan is the best there is.
    """
    jobs = len(best)
    levels = (jobs + stride - 1) // stride
    _copy_order(current, best)
    total_least = 0.0
    if not latest:
        for job in range(jobs):
            total_least += least[job]
    score = plan_from(
        current, 0, stride, np.inf, shape, latest, held, times, rows, words, asks, spans, least, slot_times, slot_rows,
        slot_count, slot_score, which, starts, placed, machine,
    )  # fmt: skip
    _exchange_slots(which, 1, levels)
    _copy_starts(current_starts, starts)
    for step in range(steps):
        if step > 0 and step % period == 0:
            temperature = max(temperature * cooling, coolest)
        first = below(random, jobs)
        if delayed_only:
            first = _delayed_position(current, spans, least, current_starts, shape, random)
            if first < 0:
                return best_score, step
        second = below(random, jobs)
        insert = (not swaps_only) and uniform(random) < 0.5
        limit = score - temperature * np.log(uniform(random))
        if first == second:
            continue
        _copy_order(trial, current)
        _move_job(trial, first, second, insert)
        level = min(first, second) // stride
        _copy_starts(starts, current_starts)
        new_score = plan_from(
            trial, level, stride, limit - total_least, shape, latest, held, times, rows, words, asks, spans, least,
            slot_times, slot_rows, slot_count, slot_score, which, starts, placed, machine,
        )  # fmt: skip
        if new_score <= limit:
            score = new_score
            _copy_order(current, trial)
            _copy_starts(current_starts, starts)
            _exchange_slots(which, level + 1, levels)
            if score < best_score:
                best_score = score
                _copy_order(best, current)
    return best_score, steps
