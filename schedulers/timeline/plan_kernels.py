"""Plan scoring and annealing, compiled, on the timeline's own arrays.

A plan of an order places each job in turn at its earliest start and books it (thesis, section 3.4). Its score is a
weighted sum of powers of waiting times, or the latest start (:mod:`spillway.schedulers.policykit.objectives`).

Two savings make a score cheap, both exact. A changed order is planned again only from a checkpoint before the first
changed position: checkpoints of the timeline are kept every ``stride`` positions, in two slots per level (current and
trial) that change places when a trial is accepted. And a trial is given up as soon as its score, with the least that
the jobs not yet placed must add, cannot be accepted any more; the random number that decides on acceptance is drawn
first.

Layout (beyond that of :mod:`spillway.schedulers.timeline.fit_kernels`)
------
``demands: int64[jobs, 6]``       as :class:`spillway.schedulers.timeline.layout.Demand`
``spans: float64[jobs, 8]``    estimated duration, submission time (s), weight in the score, the start that the job
                               would have if no job were placed before it, 1 if its holdings have lives of their own
                               (else 0), and then lead, tail of the burst buffer, and tail of the bandwidth
``least: float64[jobs]``       the least that each job can add to the score (its start with the queue empty before it)
``Slots``                      checkpoints: ``times[2 * levels, capacity]``, ``rows``, ``counts``,
                               ``score[2 * levels, 2]`` (score of the jobs placed before, and their least)
``which: int64[2, levels]``    slot of the current order's and of the trial's checkpoint per level
``keys: int64[2, jobs]``       demands to compare, as the smaller one and as the larger one
                               (:mod:`spillway.schedulers.timeline.demand_keys`)
``starts: float64[jobs]``      planned start per job (by job, not by position)
``placed: int64[3, jobs]``     jobs placed so far, by position: planned start (the bits of a double), key as the
                               smaller one; and by block of positions the latest start
``held: bool``                 whether nodes are held one rounding step longer
                               (:mod:`spillway.schedulers.timeline.published_timeline`)
``machine, scratch``           the last arguments of ``find_fit``
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import boolean, float64, int64, types, void
from numba.extending import intrinsic

from spillway.base.kernel_cache import njit
from spillway.schedulers.search.random64 import below, uniform
from spillway.schedulers.timeline.apart_kernels import book_apart, find_apart
from spillway.schedulers.timeline.copying import copy_items
from spillway.schedulers.timeline.fit_kernels import book, demand_at, find_fit, segment_at
from spillway.schedulers.timeline.kernel_types import (
    INDICES,
    OPTIONS,
    PLAIN_MACHINE,
    PLAIN_SCRATCH,
    ROW,
    ROWS,
    TIMES,
    inner,
    named,
    plain,
)
from spillway.schedulers.timeline.layout import FREE_NODES, HEAD

_BLOCK = 128
"""Positions in a block."""
_SPANS = types.Array(types.float64, 2, "C")
_RANDOM = types.Array(types.uint64, 1, "C")
_SHAPE = types.UniTuple(types.float64, 3)
_OPTIONS = {**OPTIONS, "nogil": True}


class Rules(NamedTuple):
    """Rules for making and scoring plans.

    Positions between checkpoints, ``held`` as above, whether the score is the latest start, and otherwise the power,
    the guard (s, infinity without one) and its power; the guard bits of the keys.
    """

    stride: int
    held: bool
    latest: bool
    shape: tuple[float, float, float]
    guards: int


class Jobs(NamedTuple):
    """The jobs to plan, as above."""

    demands: npt.NDArray[np.int64]
    spans: npt.NDArray[np.float64]
    least: npt.NDArray[np.float64]
    keys: npt.NDArray[np.int64]


class Slots(NamedTuple):
    """Checkpoints, as above."""

    times: npt.NDArray[np.float64]
    rows: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    which: npt.NDArray[np.int64]


class Plan(NamedTuple):
    """The plan in progress: the timeline with the jobs placed so far, ``starts`` and ``placed`` as above."""

    times: npt.NDArray[np.float64]
    rows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.float64]
    placed: npt.NDArray[np.int64]


class Moves(NamedTuple):
    """Parameters of annealing, as in :class:`spillway.schedulers.policykit.planning.Annealing`."""

    steps: int
    temperature: float
    cooling: float
    period: int
    coolest: float
    swaps_only: bool
    delayed_only: bool


class Orders(NamedTuple):
    """Working memory of annealing.

    The current order, its starts, the trial order, and two numbers: the current order's score and the temperature.
    """

    current: npt.NDArray[np.int32]
    starts: npt.NDArray[np.float64]
    trial: npt.NDArray[np.int32]
    state: npt.NDArray[np.float64]


_RULES = plain(types.int64, types.boolean, types.boolean, _SHAPE, types.int64)
_JOBS = (ROWS, _SPANS, TIMES, ROWS)
JOBS, PLAIN_JOBS = named(Jobs, *_JOBS), plain(*_JOBS)
_SLOTS = plain(_SPANS, types.Array(types.int64, 3, "C"), ROW, _SPANS, ROWS)
_PLAN = plain(TIMES, ROWS, TIMES, ROWS)
_MOVES = plain(
    types.int64, types.float64, types.float64, types.int64, types.float64, types.boolean, types.boolean
)  # fmt: skip
_ORDERS = plain(INDICES, TIMES, INDICES, TIMES)
"""Types of the groups, which come as plain tuples (:func:`spillway.schedulers.timeline.kernel_types.plain`)."""


@inner(void(INDICES, INDICES), **_OPTIONS)
def _copy_order(target, source):
    for position in range(len(source)):
        target[position] = source[position]


@inner(void(TIMES, TIMES), **_OPTIONS)
def _copy_starts(target, source):
    for job in range(len(source)):
        target[job] = source[job]


@inner(void(ROWS, int64, int64), **_OPTIONS)
def _exchange_slots(which, begin, end):
    for level in range(begin, end):
        which[0, level], which[1, level] = which[1, level], which[0, level]


@inner(float64(float64, float64, _SHAPE), **_OPTIONS)
def term(wait_s, weight, shape):
    """Contribution of a job to the score: ``shape`` is the power, the guard (s, infinity without one) and its power."""
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


@inner(int64(INDICES, JOBS, TIMES, _SHAPE, _RANDOM), **_OPTIONS)
def _delayed_position(order, jobs, starts, shape, random):
    """Draw a position among the jobs that start later than with no job before them; -1 if there is no such job."""
    spans, least = jobs.spans, jobs.least
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


@inner(void(ROWS, int64, JOBS, int64, float64), **_OPTIONS)
def _note_placed(placed, position, jobs, job, start_s):
    """Note the job placed at a position."""
    start, block = _bits(start_s), position // _BLOCK
    placed[0, position] = start
    placed[1, position] = jobs.keys[0, job]
    placed[2, block] = start if position % _BLOCK == 0 else max(placed[2, block], start)


@inner(float64(ROWS, int64, JOBS, int64, int64), **_OPTIONS)
def _not_before(placed, position, jobs, job, guards):
    """Give a time before which a job cannot start, at which the search for its start begins.

    A job starts neither before its start in an empty plan, nor before the start of a job placed earlier in this plan
    that requests no more of any resource, and is striped alike: where the larger job fits now, the smaller one would
    have fitted then. Whole numbers without a branch become vector instructions; with branches this took most of the
    time of long plans. Blocks of positions in which no job starts later than the bound so far are left out.
    """
    if jobs.spans[job, 4] > 0:
        return jobs.spans[job, 3]  # its parts begin at different times: other jobs give no bound, nor does it for them
    earliest, key = _bits(jobs.spans[job, 3]), jobs.keys[1, job] | guards
    for block in range((position - 1) // _BLOCK, -1, -1):
        if placed[2, block] <= earliest:
            continue
        for before in range(np.uint64(block * _BLOCK), np.uint64(min(block * _BLOCK + _BLOCK, position))):
            more = ~(key - placed[1, before]) & guards  # no bit where that job requests no more of any resource
            earliest = max(earliest, placed[0, before] if more == 0 else np.int64(0))
    return _from_bits(earliest)


@inner(void(INDICES, int64, int64, boolean), **_OPTIONS)
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


@inner(int64(TIMES, int64, ROWS, int64, float64, ROW), **_OPTIONS)
def _hold_nodes(times, count, rows, words, end_s, usage):
    """Book the nodes of a usage for one rounding step more, if they are free; overwrites the usage."""
    segment = segment_at(times, count, end_s)
    for column in range(HEAD, HEAD + words):
        if usage[column] & ~rows[segment, column]:
            return count
    for column in range(len(usage)):
        if column != FREE_NODES and not HEAD <= column < HEAD + words:
            usage[column] = 0
    return book(times, count, rows, end_s, np.nextafter(end_s, np.inf), usage, 1)


@njit(float64(INDICES, int64, float64, _RULES, PLAIN_JOBS, _SLOTS, _PLAN, PLAIN_MACHINE, PLAIN_SCRATCH), **_OPTIONS)
def plan_from(order, level, limit, rules, jobs, slots, plan, machine, scratch):
    """Plan an order from a level's current checkpoint on; return its score, or infinity once it must exceed ``limit``.

    Later levels are written into the trial slots. Groups of arguments are plain tuples.
    """
    stride, held, latest, shape, guards = rules
    jobs, slots, plan = Jobs(*jobs), Slots(*slots), Plan(*plan)
    demands, spans, times, rows, starts, placed = (
        jobs.demands,
        jobs.spans,
        plan.times,
        plan.rows,
        plan.starts,
        plan.placed,
    )
    words, usage = machine[0], scratch[1]
    slot = slots.which[0, level]
    count = slots.counts[slot]
    copy_items(times, 0, slots.times[slot], 0, count)
    copy_items(rows, 0, slots.rows[slot], 0, count)
    score, bound = slots.score[slot, 0], slots.score[slot, 1]
    first = level * stride
    for position in range(first):
        _note_placed(placed, position, jobs, order[position], starts[order[position]])
    for position in range(first, len(order)):
        if position % stride == 0 and position > first:
            slot = slots.which[1, position // stride]
            slots.counts[slot] = count
            copy_items(slots.times[slot], 0, times, 0, count)
            copy_items(slots.rows[slot], 0, rows, 0, count)
            slots.score[slot, 0], slots.score[slot, 1] = score, bound
        job = order[position]
        apart, span = spans[job, 4] > 0, (spans[job, 0], spans[job, 5], spans[job, 6], spans[job, 7])
        start_s = _not_before(placed, position, jobs, job, guards)
        if start_s < np.inf:
            demand = demand_at(demands, job)
            if apart:
                start_s = find_apart(times, count, rows, demand, span, start_s, np.inf, machine, scratch)
            else:
                start_s = find_fit(times, count, rows, demand, spans[job, 0], start_s, np.inf, machine, scratch)
        starts[job] = start_s
        _note_placed(placed, position, jobs, job, start_s)
        if start_s == np.inf:
            continue
        if apart:
            count = book_apart(times, count, rows, span, start_s, machine, scratch)
        else:
            count = book(times, count, rows, start_s, start_s + spans[job, 0], usage, 1)
        if held and start_s + spans[job, 0] < np.inf:
            count = _hold_nodes(times, count, rows, words, start_s + spans[job, 0], usage)
        if latest:
            score = max(score, start_s)
        else:
            score += term(start_s - spans[job, 1], spans[job, 2], shape)
            bound += jobs.least[job]
        if score - bound > limit:
            return np.inf
    return score


@njit(void(INDICES, _RULES, PLAIN_JOBS, _SLOTS, _PLAN, PLAIN_MACHINE, PLAIN_SCRATCH), **_OPTIONS)
def plan_alone(single, rules, jobs, slots, plan, machine, scratch):
    """Plan each job as if it were the only one; note its start, and the least that it can add to the score.

    ``single`` is an order of one job, working memory. Groups of arguments are plain tuples.
    """
    _, _, latest, shape, _ = rules
    table, starts = Jobs(*jobs), plan[2]
    for job in range(len(starts)):
        single[0] = job
        plan_from(single, 0, np.inf, rules, jobs, slots, plan, machine, scratch)
        wait_s = starts[job] - table.spans[job, 1]
        table.spans[job, 3] = starts[job]
        table.least[job] = 0.0 if latest or wait_s == np.inf else term(wait_s, table.spans[job, 2], shape)
        starts[job] = 0.0


@njit(
    types.Tuple((types.float64, types.int64))(
        INDICES, float64, int64, int64, _MOVES, _RANDOM, _RULES, PLAIN_JOBS, _SLOTS, _PLAN, _ORDERS, PLAIN_MACHINE,
        PLAIN_SCRATCH,
    ),
    **_OPTIONS,
)  # fmt: skip
def anneal(best, best_score, begin, end, moves, random, rules, jobs, slots, plan, orders, machine, scratch):
    """Simulated annealing over orders from ``best``, which is improved in place: the steps from ``begin`` to ``end``.

    Returns the best score, and the step reached: below ``end`` when no job is delayed, as no plan is better then.
    Groups of arguments are plain tuples.

    Notes
    -----
    The level-0 checkpoint (nothing placed) must be in slot ``which[0, 0]``. Step 0 plans ``best`` first, which fills
    the other levels; a later ``begin`` continues from the state that the step before left in the groups: the same steps
    give the same result in any number of calls.
    """
    _, warmest, cooling, period, coolest, swaps_only, delayed_only = moves
    stride, _, latest, shape, _ = rules
    table, which, starts = Jobs(*jobs), slots[4], plan[2]
    current, current_starts, trial, state = orders
    number = len(best)
    levels = (number + stride - 1) // stride
    total_least = 0.0
    if not latest:
        for job in range(number):
            total_least += table.least[job]
    if begin == 0:
        _copy_order(current, best)
        state[0] = plan_from(current, 0, np.inf, rules, jobs, slots, plan, machine, scratch)
        state[1] = warmest
        _exchange_slots(which, 1, levels)
        _copy_starts(current_starts, starts)
    score, temperature = state[0], state[1]
    for step in range(begin, end):
        if step > 0 and step % period == 0:
            temperature = max(temperature * cooling, coolest)
        first = below(random, number)
        if delayed_only:
            first = _delayed_position(current, table, current_starts, shape, random)
            if first < 0:
                return best_score, step
        second = below(random, number)
        insert = (not swaps_only) and uniform(random) < 0.5
        limit = score - temperature * np.log(uniform(random))
        if first == second:
            continue
        _copy_order(trial, current)
        _move_job(trial, first, second, insert)
        level = min(first, second) // stride
        _copy_starts(starts, current_starts)
        new_score = plan_from(trial, level, limit - total_least, rules, jobs, slots, plan, machine, scratch)
        if new_score <= limit:
            score = new_score
            _copy_order(current, trial)
            _copy_starts(current_starts, starts)
            _exchange_slots(which, level + 1, levels)
            if score < best_score:
                best_score = score
                _copy_order(best, current)
    state[0], state[1] = score, temperature
    return best_score, end
