"""The compiled branch and bound of :mod:`schedulers.search.subset_bb`.

Layout
------
``units, sizes: int64[items]``, ``waits: float64[items]``, ``must: boolean[items]``
    The items, sizes falling.
``loads: int64[limits, items]``, ``limits: int64[2 + limits]``
    Free units, capacity of all usable bins, and the further limits with what each item takes of them.
``least, most: int64[items + 1, free units + 1]``
    Over sets of the items from ``d`` on with ``m`` units in all: least and largest sum of sizes; ``most`` is -1 where
    there is no such set.
``wait_sums: float64[items + 1, free units + 1, items + 1]``
    The same with ``k`` items: largest sum of waits, -infinity where there is none. Or one element: not known.
``score: float64[3]``
    As :class:`schedulers.search.subset.Score`.
``notes: float64[open + 1, 3]``, ``undecided: boolean[open, items]``
    Output: bounds of what was given up. Row ``open`` is the largest bound of what the budget left open; the rows before
    it are bounds of all sets that begin like a set of ``undecided``, whose packing was not decided within the budget.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from schedulers.search.packing_kernels import DOES_NOT_FIT, FITS, UNDECIDED, pack, tightest_fit

_I1, _I2, _F1, _F2, _F3 = "int64[::1]", "int64[:, ::1]", "float64[::1]", "float64[:, ::1]", "float64[:, :, ::1]"
_B1, _B2 = "boolean[::1]", "boolean[:, ::1]"
_OPTIONS = {"cache": True, "error_model": "numpy"}


@njit(f"boolean({_F1}, {_F1})", **_OPTIONS)
def better(one, other):
    """Whether one score is greater than another, compared from the left."""
    for k in range(len(one)):
        if one[k] != other[k]:
            return one[k] > other[k]
    return False


@njit(f"boolean(int64, {_I1}, float64, float64, boolean, {_I1}, {_I2}, {_I2}, {_F3}, {_F1})", **_OPTIONS)
def bound(depth, sums, wait, top_wait, units_first, limits, least, most, wait_sums, score):
    """Bound of the scores of all sets that go on from here; ``False`` when there is none.

    ``sums`` holds units, size and number of the items chosen so far. The bins are looked at as one.
    """
    free, room = limits[0] - sums[0], limits[1] - sums[1]
    more_units, more_size = -1, -1
    for m in range(free, -1, -1):
        if most[depth, m] < 0 or least[depth, m] > room:
            continue
        reach = min(room, most[depth, m])
        if reach > more_size:
            more_units, more_size = m, reach
        if units_first or more_size == room:
            break
    if more_units < 0:
        return False
    mean = max(wait / max(sums[2], 1), top_wait)
    if len(wait_sums) > 1:
        mean = 0.0
        for k in range(wait_sums.shape[2]):
            if wait_sums[depth, more_units, k] > -np.inf and sums[2] + k > 0:
                mean = max(mean, (wait + wait_sums[depth, more_units, k]) / (sums[2] + k))
    score[0] = sums[0] + more_units if units_first else sums[1] + more_size
    score[1] = sums[1] + more_size if units_first else sums[0] + more_units
    score[2] = mean
    return True


@njit(inline="always")
def place(item, took, units, sizes, rooms, budget, states, row, repacked, taken, memo):
    """Pack one more item together with those taken before it; returns the verdict and the steps.

    ``states[item + 1]`` gets the capacity left. First the new item goes on top of the packing so far; if that fails,
    all are packed anew, and ``repacked`` is set.
    """
    bins = len(rooms)
    for j in range(bins):
        states[item + 1, j] = states[item, j]
    repacked[item] = False
    if sizes[item] == 0 or tightest_fit(units[item], sizes[item], states[item + 1], row):
        return FITS, 0
    count = 0
    pack_units, pack_sizes = np.empty(item + 1, np.int64), np.empty(item + 1, np.int64)
    for i in range(item + 1):
        if (took[i] or i == item) and sizes[i] > 0:
            pack_units[count], pack_sizes[count] = units[i], sizes[i]
            count += 1
    verdict, steps = pack(pack_units[:count], pack_sizes[:count], rooms, budget, taken, memo)
    if verdict == FITS:
        repacked[item] = True
        for j in range(bins):
            states[item + 1, j] = rooms[j]
            for i in range(count):
                states[item + 1, j] -= taken[i, j] * pack_sizes[i]
    return verdict, steps


@njit(f"void({_F1}, {_F1})", **_OPTIONS)
def _raise_to(score, other):
    """Set a score to another one if that is greater."""
    if better(other, score):
        for k in range(len(score)):
            score[k] = other[k]


@njit(
    f"int64({_I1}, {_I1}, {_F1}, {_B1}, {_I2}, {_I1}, {_I1}, {_I2}, {_I2}, {_F3}, boolean, int64, int64, {_B1}, {_B1}, "
    f"{_F1}, {_B2}, {_F2}, {_I2})",
    **_OPTIONS,
)
def search(
    units, sizes, waits, must, loads, limits, rooms, least, most, wait_sums, units_first, budget, pack_budget, best,
    best_repacked, best_score, undecided, notes, memo,
):  # fmt: skip
    """Depth-first: take the item, then leave it out; improve ``best`` and return the steps.

    When the budget is used up, the branches still open are not searched: their bounds are noted.
    """
    items, bins, kinds, open_ = len(units), len(rooms), len(limits) - 2, len(undecided)
    states = np.empty((items + 1, bins), np.int64)  # capacity left by the items taken so far
    for j in range(bins):
        states[0, j] = rooms[j]
    sums = np.zeros((items + 1, 3 + kinds), np.int64)
    wait, top_wait = np.zeros(items + 1), np.zeros(items + 1)
    for d in range(items - 1, -1, -1):
        top_wait[d] = max(top_wait[d + 1], waits[d])
    took, stage = np.zeros(items, np.bool_), np.zeros(items + 1, np.int64)  # stage 1: take it; 2: leave it out
    repacked, row, score = np.zeros(items, np.bool_), np.empty(bins, np.int64), np.empty(3)
    taken = np.empty((items, bins), np.int64)
    steps, n_undecided, depth = 0, 0, 0
    while depth >= 0:
        stage[depth] += 1
        if stage[depth] == 1:
            steps += 1
            if not bound(
                depth, sums[depth], wait[depth], top_wait[depth], units_first, limits, least, most, wait_sums, score
            ) or not better(score, best_score):
                stage[depth] = 3
            elif steps > budget:
                stage[depth] = 3
                _raise_to(notes[open_], score)
            elif depth == items:
                stage[depth] = 3
                _raise_to(best_score, score)
                for i in range(items):
                    best[i], best_repacked[i] = took[i], repacked[i]
        take = stage[depth] == 1
        if take:
            verdict = FITS
            if sums[depth, 0] + units[depth] > limits[0] or sums[depth, 1] + units[depth] * sizes[depth] > limits[1]:
                verdict = DOES_NOT_FIT
            for k in range(kinds):
                if sums[depth, 3 + k] + loads[k, depth] > limits[2 + k]:
                    verdict = DOES_NOT_FIT
            if verdict == FITS:
                verdict, spent = place(
                    depth, took, units, sizes, rooms, pack_budget, states, row, repacked, taken, memo
                )
                steps += spent
            if verdict == UNDECIDED and n_undecided < open_:
                for i in range(depth + 1):
                    undecided[n_undecided, i] = took[i] or i == depth
                _raise_to(notes[n_undecided], score)
                n_undecided += 1
            elif verdict == UNDECIDED:
                _raise_to(notes[open_], score)
            if verdict != FITS:
                continue
        elif stage[depth] > 2 or must[depth]:
            if depth < items:
                took[depth] = False
            depth -= 1
            continue
        else:
            for j in range(bins):
                states[depth + 1, j] = states[depth, j]
        took[depth] = take
        for k in range(sums.shape[1]):
            sums[depth + 1, k] = sums[depth, k]
        wait[depth + 1] = wait[depth]
        if take:
            sums[depth + 1, 0] += units[depth]
            sums[depth + 1, 1] += units[depth] * sizes[depth]
            sums[depth + 1, 2] += 1
            for k in range(kinds):
                sums[depth + 1, 3 + k] += loads[k, depth]
            wait[depth + 1] += waits[depth]
        depth += 1
        stage[depth] = 0
    return steps
