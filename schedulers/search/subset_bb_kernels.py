"""Numba kernel of :mod:`schedulers.search.subset_bb`: the depth-first search."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

import sys
sys.path.insert(0,'/tmp/w')
from pb import packb as pack
from schedulers.search.packing_kernels import DOES_NOT_FIT, FITS, tightest_fit

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

NO_SUM = -1
"""In a table of largest sums: no selection has this many units."""

_I1, _I2, _F1, _F2, _F3, _B1, _B2 = "i8[::1]", "i8[:,::1]", "f8[::1]", "f8[:,::1]", "f8[:,:,::1]", "b1[::1]", "b1[:,::1]"


@nb.njit("b1(f8[::1], f8[::1])", cache=True)
def better(one: Floats, other: Floats) -> bool:
    """Whether one score is lexicographically greater than another."""
    for k in range(one.shape[0]):
        if one[k] != other[k]:
            return bool(one[k] > other[k])
    return False


@nb.njit(f"b1(i8, i8[::1], f8, f8, b1, {_I1}, {_I2}, {_I2}, {_F3}, {_F1})", cache=True)
def bound(
    depth: int,
    chosen: Ints,
    wait: float,
    top_wait: float,
    units_first: bool,
    limits: Ints,
    least: Ints,
    most: Ints,
    waits: npt.NDArray[np.float64],
    out: Floats,
) -> bool:
    """Bound of every completion of a partial selection into ``out``; ``False`` when there is none.

    ``chosen`` holds the selection's (units, sum of sizes, number of items), ``limits`` (free units, usable room).
    """
    units, size, count = chosen[0], chosen[1], chosen[2]
    free, room = limits[0] - units, limits[1] - size
    best_units, best_size = -1, -1
    for m in range(free, -1, -1):
        if most[depth, m] == NO_SUM or least[depth, m] > room:
            continue
        if units_first:
            best_units, best_size = m, min(room, most[depth, m])
            break
        reach = min(room, most[depth, m])
        if reach > best_size:
            best_units, best_size = m, reach
    if best_units < 0:
        return False
    mean = wait / count if count > 0 else 0.0
    if waits.shape[0] > 1:
        # waits[depth, m, k]: largest sum of the waits of k more items with m units in all
        for k in range(waits.shape[2]):
            total = waits[depth, best_units, k]
            if total > -np.inf and count + k > 0:
                mean = max(mean, (wait + total) / (count + k))
    else:
        mean = max(mean, top_wait)
    out[0] = units + best_units if units_first else size + best_size
    out[1] = size + best_size if units_first else units + best_units
    out[2] = mean
    return True


@nb.njit(
    f"i8({_I1}, {_I1}, {_F1}, {_B1}, {_I2}, {_I1}, {_I1}, {_I1}, {_I2}, {_I2}, {_F3}, b1, i8, i8, {_B1}, {_F1}, {_F1}, {_B2}, {_F2})",
    cache=True,
)
def search(
    units: Ints,
    sizes: Ints,
    waits: Floats,
    must: Flags,
    loads: Ints,
    load_limits: Ints,
    limits: Ints,
    rooms: Ints,
    least: Ints,
    most: Ints,
    wait_sums: Floats,
    units_first: bool,
    budget: int,
    packing_budget: int,
    best: Flags,
    best_score: Floats,
    open_bound: Floats,
    undecided: Flags,
    undecided_bounds: Floats,
) -> Any:
    """Depth-first branch and bound, items in the order given (sizes falling); returns the steps taken."""
    n, bins = units.shape[0], rooms.shape[0]
    state = np.empty((n + 1, bins), np.int64)  # rooms left under the packing found for the selection so far
    state[0] = rooms
    chosen = np.zeros((n + 1, 3), np.int64)
    wait = np.zeros(n + 1, np.float64)
    load = np.zeros((n + 1, load_limits.shape[0]), np.int64)
    top_wait = np.zeros(n + 1, np.float64)
    for d in range(n - 1, -1, -1):
        top_wait[d] = max(top_wait[d + 1], waits[d])
    took = np.zeros(n, np.bool_)
    stage = np.zeros(n + 1, np.int64)  # 0: new, 1: included below, 2: excluded below
    row = np.empty(bins, np.int64)
    score = np.empty(3, np.float64)
    pack_units, pack_sizes = np.empty(n, np.int64), np.empty(n, np.int64)
    taken = np.empty((n, bins), np.int64)
    steps, n_undecided, depth = 0, 0, 0
    exhausted = False
    while depth >= 0:
        if stage[depth] == 0:
            steps += 1
            exhausted = exhausted or steps > budget
            alive = bound(
                depth, chosen[depth], wait[depth], top_wait[depth], units_first, limits, least, most, wait_sums, score
            ) and better(score, best_score)
            if alive and exhausted:
                if better(score, open_bound):
                    open_bound[:] = score
                alive = False
            if alive and depth == n:
                best[:] = took
                best_score[:] = score
                alive = False
            if not alive:
                depth -= 1
                continue
            stage[depth] = 1
            size = sizes[depth]
            ok = chosen[depth, 0] + units[depth] <= limits[0] and chosen[depth, 1] + units[depth] * size <= limits[1]
            for k in range(load_limits.shape[0]):
                load[depth + 1, k] = load[depth, k] + loads[k, depth]
                ok = ok and load[depth + 1, k] <= load_limits[k]
            if ok:
                state[depth + 1] = state[depth]
                if size > 0 and not tightest_fit(units[depth], size, state[depth + 1], row):
                    items = 0
                    for d in range(depth + 1):
                        if (took[d] or d == depth) and sizes[d] > 0:
                            pack_units[items], pack_sizes[items] = units[d], sizes[d]
                            items += 1
                    verdict, spent = pack(pack_units[:items], pack_sizes[:items], rooms, packing_budget, taken[:items])
                    steps += spent
                    ok = verdict == FITS
                    if ok:
                        state[depth + 1] = rooms
                        for i in range(items):
                            for j in range(bins):
                                state[depth + 1, j] -= taken[i, j] * pack_sizes[i]
                    elif verdict != DOES_NOT_FIT:
                        if n_undecided < undecided.shape[0]:
                            undecided[n_undecided] = took
                            undecided[n_undecided, depth] = True
                            undecided_bounds[n_undecided] = score
                            n_undecided += 1
                        elif better(score, open_bound):
                            open_bound[:] = score
            if ok:
                took[depth] = True
                chosen[depth + 1, 0] = chosen[depth, 0] + units[depth]
                chosen[depth + 1, 1] = chosen[depth, 1] + units[depth] * size
                chosen[depth + 1, 2] = chosen[depth, 2] + 1
                wait[depth + 1] = wait[depth] + waits[depth]
                depth += 1
                stage[depth] = 0
                continue
        if stage[depth] == 1:
            stage[depth] = 2
            took[depth] = False
            if not must[depth]:
                state[depth + 1] = state[depth]
                chosen[depth + 1] = chosen[depth]
                wait[depth + 1] = wait[depth]
                load[depth + 1] = load[depth]
                depth += 1
                stage[depth] = 0
                continue
        depth -= 1
    return steps


@nb.njit(f"b1({_I1}, {_I1}, {_I1}, {_F1}, {_B1}, {_I2}, {_I1}, i8, {_I1}, b1, {_B1}, {_F1})", cache=True)
def fill(
    order: Ints,
    units: Ints,
    sizes: Ints,
    waits: Floats,
    must: Flags,
    loads: Ints,
    load_limits: Ints,
    free: int,
    rooms: Ints,
    units_first: bool,
    out: Flags,
    score: Floats,
) -> bool:
    """Greedy selection in an order, mandatory items first; ``False`` when a mandatory item does not fit."""
    room = rooms.copy()
    trial = rooms.copy()
    row = np.empty(rooms.shape[0], np.int64)
    left = load_limits.copy()
    out[:] = False
    n_units, n_size, count, wait = 0, 0, 0, 0.0
    for round_ in range(2):
        for i in order:
            if must[i] != (round_ == 0):
                continue
            ok = units[i] <= free - n_units
            for k in range(left.shape[0]):
                ok = ok and loads[k, i] <= left[k]
            if ok and sizes[i] > 0:
                trial[:] = room
                ok = tightest_fit(units[i], sizes[i], trial, row)
                if ok:
                    room[:] = trial
            if ok:
                out[i] = True
                n_units += units[i]
                n_size += units[i] * sizes[i]
                count += 1
                wait += waits[i]
                for k in range(left.shape[0]):
                    left[k] -= loads[k, i]
            elif round_ == 0:
                return False
    score[0] = n_units if units_first else n_size
    score[1] = n_size if units_first else n_units
    score[2] = wait / count if count > 0 else 0.0
    return True
