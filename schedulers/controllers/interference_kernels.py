"""Predicted collisions and what could be done about them, compiled: Algorithms 3 and 4 for many conflicts at once.

The plain forms, one conflict at a time, are in :mod:`schedulers.controllers.shifting`,
:mod:`schedulers.controllers.coupling` and :mod:`schedulers.controllers.overlaps`;
:class:`tests.reference.interference.PlainInterference` puts them together.

Layout
------
``apps: float64[13, applications]``  a row per :data:`START` ... :data:`WILLING`
``ends: float64[applications]``      end of the next I/O phases, taken to last longer by the margins
``tables: float64[:]``               seconds of an iteration by size, for the applications that are marked
``firsts: int64[applications + 1]``  where the table of each begins
``rules: float64[4]``                equal, similar, tolerance, whether periods are coupled
"""

from __future__ import annotations

import numpy as np
from numba import njit

START, DURATION, PERIOD, MARGIN, MEAN, NODES, BASE, MINIMUM, NEXT_CONTROL, LAST_CONTROL, IO_EVERY, OVERHEAD, WILLING = (
    range(13)
)
"""Rows of ``apps``: next I/O phase and its margin (s), seconds of an iteration, sizes, control points, and so on."""

COUPLED, COUPLED_BY, SHIFTED, OUTCOME, EXTRA = range(5)
"""Columns of an answer: which application a coupling resizes (-1: none) and by how many nodes; which one a shift
resizes, what comes of it, and the nodes that it takes."""

SHIFT, UNWILLING, NO_CONTROL_POINTS, THIRD, TOO_SHORT, TOO_SLOW = range(6)
"""Outcomes of a shift, as far as they do not depend on idle nodes."""

_OPTIONS = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_FLOATS, _INTEGERS, _TABLE, _ANSWERS = "float64[::1]", "int64[::1]", "float64[:, ::1]", "int64[:, ::1]"


@njit(f"void({_FLOATS}, {_FLOATS}, {_INTEGERS}, {_INTEGERS})", **_OPTIONS)
def first_collisions(starts, ends, places, others):
    """For each of ``places``: the application whose next phase collides first with its own, -1 for none."""
    for k in range(len(places)):
        place = places[k]
        start_s, end_s = starts[place], ends[place]
        best, best_s = -1, np.inf
        for other in range(len(starts)):
            begin_s = max(starts[other], start_s)
            if begin_s < best_s and min(ends[other], end_s) - begin_s > 0.0 and other != place:
                best, best_s = other, begin_s
                if begin_s == start_s:
                    break  # none begins earlier, and of those that begin as early the first counts
        others[k] = best


@njit(inline="always")
def _meets_another(apps, start_s, duration_s, place, other):
    """Whether a phase collides with *any* coming phase of the rest of the applications (Algorithm 3, line 4)."""
    end_s = start_s + duration_s
    for k in range(apps.shape[1]):
        lasts_s = apps[DURATION, k]
        if k in (place, other) or not lasts_s > 0.0:
            continue
        begin_s, period_s = apps[START, k], apps[PERIOD, k]
        if begin_s >= end_s:
            continue
        behind_s = start_s - (begin_s + lasts_s)
        if behind_s >= 0.0 and 0.0 < period_s < np.inf:
            begin_s += (np.floor(behind_s / period_s) + 1.0) * period_s
        if begin_s < end_s and begin_s + lasts_s > start_s:
            return True
    return False


@njit(inline="always")
def _selected(apps, place, other, equal, similar):
    """Which of two applications to shift (``select_application``)."""
    mine_s, its_s = apps[PERIOD, place], apps[PERIOD, other]
    longer_s, shorter_s = max(mine_s, its_s), min(mine_s, its_s)
    difference = (longer_s - shorter_s) / longer_s if longer_s > 0.0 else 0.0
    if equal < difference <= similar:
        return place if mine_s < its_s else other
    return place if apps[START, place] <= apps[START, other] else other


@njit(f"void({_TABLE}, {_INTEGERS}, {_INTEGERS}, {_FLOATS}, boolean[::1])", **_OPTIONS)
def mark_resizable(apps, places, others, rules, marked):
    """Mark the applications that conflicts of ``places`` with ``others`` could resize: whose tables are needed."""
    for k in range(len(places)):
        place, other = places[k], others[k]
        chosen = _selected(apps, place, other, rules[0], rules[1])
        if apps[WILLING, chosen] > 0.0:
            marked[chosen] = True
        if rules[3] > 0.0:
            chosen = place if apps[PERIOD, place] >= apps[PERIOD, other] else other
            if apps[WILLING, chosen] > 0.0:
                marked[chosen] = True


@njit(inline="always")
def _shift(apps, ends, tables, firsts, place, other, equal, similar, answer):
    """Algorithm 3 for one conflict."""
    chosen = _selected(apps, place, other, equal, similar)
    rival = other if chosen == place else place
    answer[SHIFTED] = chosen
    if apps[WILLING, chosen] == 0.0:
        answer[OUTCOME] = UNWILLING
        return
    margin_s = apps[MARGIN, chosen]
    shift_s = ends[chosen] - apps[START, rival]
    original_s = (apps[LAST_CONTROL, chosen] - apps[NEXT_CONTROL, chosen]) * apps[MEAN, chosen]
    if not original_s > 0.0:
        answer[OUTCOME] = NO_CONTROL_POINTS
        return
    lasts_s = apps[DURATION, chosen] + margin_s
    if lasts_s > 0.0 and _meets_another(apps, apps[START, chosen] - (shift_s + margin_s), lasts_s, place, other):
        answer[OUTCOME] = THIRD
        return
    reduction_s = shift_s + 2.0 * apps[OVERHEAD, chosen] + margin_s
    speedup = original_s / (original_s - reduction_s) if reduction_s < original_s else np.inf
    if not speedup < np.inf:
        answer[OUTCOME] = TOO_SHORT
        return
    first, end = firsts[chosen], firsts[chosen + 1]
    at = first + np.int64(apps[NODES, chosen] - apps[MINIMUM, chosen])
    wanted_s = tables[at] / speedup * (1 + 1e-12)
    answer[OUTCOME] = TOO_SLOW
    for size in range(at if speedup >= 1.0 else first, end):
        if tables[size] <= wanted_s:
            answer[OUTCOME] = SHIFT
            answer[EXTRA] = size - at
            return


@njit(inline="always")
def _couple(apps, tables, firsts, place, other, tolerance, answer):
    """Algorithm 4 for one conflict: the application with the larger period, and the size that fits."""
    mine_s, its_s = apps[PERIOD, place], apps[PERIOD, other]
    if not (mine_s > 0.0 and its_s > 0.0):
        return
    chosen, larger_s, smaller_s = (place, mine_s, its_s) if mine_s >= its_s else (other, its_s, mine_s)
    period_s = max(1.0, np.ceil(larger_s / smaller_s - 0.5)) * smaller_s
    if abs(larger_s - period_s) <= tolerance * period_s or apps[WILLING, chosen] == 0.0:
        return
    io_s = apps[DURATION, chosen]
    compute_s = larger_s - io_s
    if compute_s <= 0.0 or apps[IO_EVERY, chosen] <= 0.0:
        return
    begin, end = firsts[chosen], firsts[chosen + 1]
    at = begin + np.int64(apps[NODES, chosen] - apps[MINIMUM, chosen])
    scale = compute_s / tables[at]
    best, least_s = -1, np.inf
    for size in range(begin + max(np.int64(apps[BASE, chosen] - apps[MINIMUM, chosen]), 0), end):
        away_s = abs(tables[size] * scale + io_s - period_s)
        if away_s < least_s:
            best, least_s = size, away_s
    if best >= 0 and best != at and least_s < abs(larger_s - period_s):
        answer[COUPLED], answer[COUPLED_BY] = chosen, best - at


@njit(f"void({_TABLE}, {_FLOATS}, {_FLOATS}, {_INTEGERS}, {_INTEGERS}, {_INTEGERS}, {_FLOATS}, {_ANSWERS})", **_OPTIONS)
def resolve(apps, ends, tables, firsts, places, others, rules, answers):
    """Work out for each conflict of ``places`` with ``others`` (-1: no conflict) what a coupling and a shift take."""
    for k in range(len(places)):
        answer = answers[k]
        answer[COUPLED] = -1
        if others[k] < 0:
            continue
        if rules[3] > 0.0:
            _couple(apps, tables, firsts, places[k], others[k], rules[2], answer)
        _shift(apps, ends, tables, firsts, places[k], others[k], rules[0], rules[1], answer)
