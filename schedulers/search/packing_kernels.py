"""The compiled search of :mod:`spillway.schedulers.search.packing`: bin by bin, with a bound on the wasted capacity.

Layout
------
``units, sizes: int64[items]``
    Item ``i`` is ``units[i] >= 1`` units of ``sizes[i] >= 1``; sizes fall. All units are whole.
``capacities: int64[bins]``
    Capacity per bin.
``taken: int64[items, bins]``
    Output: units of each item in each bin.
``memo: int64[MEMO + 1, 2]``
    Scratch memory, zeros at first, to be passed on from call to call: remainders found not to fit.

References
----------
A. S. Fukunaga, R. E. Korf, *Bin completion algorithms for multicontainer packing, knapsack, and covering problems*,
JAIR 28, 2007 (bin by bin, dominance); S. Martello, P. Toth, *Knapsack problems*, 1990, chapter 8 (dominance criterion).
"""

from __future__ import annotations

import numpy as np

from spillway.base.kernel_cache import njit

FITS, DOES_NOT_FIT, UNDECIDED = 1, 0, -1
MEMO = 1 << 12
"""Places for remainders found not to fit; a later one may overwrite an earlier one."""

_LARGEST_KEY = 4.0e18
_OPTIONS = {"cache": True, "error_model": "numpy"}
_INLINE = {"inline": "always", "error_model": "numpy"}
"""For steps with one caller: compiled once, as part of it."""


@njit("boolean(int64, int64, int64[::1], int64[::1])", **_OPTIONS)
def tightest_fit(units, size, capacities, taken):
    """Put units into the fullest bin that still takes one, again and again; updates ``capacities`` and ``taken``.

    Returns ``False`` when some do not fit; units placed until then stay placed.
    """
    for j in range(len(capacities)):
        taken[j] = 0
    left = units
    while left > 0:
        best = -1
        for j in range(len(capacities)):
            if capacities[j] >= size and (best < 0 or capacities[j] < capacities[best]):
                best = j
        if best < 0:
            return False
        count = min(left, capacities[best] // size)
        capacities[best] -= count * size
        taken[best] += count
        left -= count
    return True


@njit(**_INLINE)
def _finish_or_refute(left, sizes, capacities, taken, order, first, scratch):
    """Try to settle the remaining units for the bins from ``first`` on: by the rule of thumb, or by counting places."""
    items, bins = len(left), len(order)
    spare_capacities, row = scratch[0, : bins - first], scratch[1, : bins - first]
    for k in range(first, bins):
        spare_capacities[k - first] = capacities[order[k]]
    total = 0
    for i in range(items):
        if left[i] > 0:
            total += left[i]  # all these are at least as large as sizes[i]
            places = 0
            for k in range(len(spare_capacities)):
                places += spare_capacities[k] // sizes[i]
            if places < total:
                return DOES_NOT_FIT
    for i in range(items):
        if not tightest_fit(left[i], sizes[i], spare_capacities, row):
            return UNDECIDED
        for k in range(first, bins):
            taken[i, order[k]] = row[k - first]
    return FITS


@njit(**_INLINE)
def _undominated(left, sizes, taken, j, spare):
    """Whether bin ``j`` with ``spare`` free is full: no unit fits in, and no unit in it can give way to a larger one.

    Otherwise any packing that continues from here could be changed into one that continues from the fuller bin.
    """
    for i in range(len(left)):
        if left[i] > 0 and sizes[i] <= spare:
            return False
    for i in range(len(left)):
        if taken[i, j] > 0:
            for k in range(i - 1, -1, -1):
                if sizes[k] > sizes[i] + spare:
                    break
                if left[k] > 0 and sizes[k] > sizes[i]:
                    return False
    return True


@njit(**_INLINE)
def _radices(units, radix):
    """Compute weights that number all remainders; returns ``False`` when the numbers would exceed 64 bits."""
    product, weight = 1.0, 1
    for i in range(len(units)):
        product *= units[i] + 1
        if product > _LARGEST_KEY:
            return False
        radix[i] = weight
        weight *= units[i] + 1
    return True


@njit(**_INLINE)
def _usable(units, sizes, capacities, order):
    """Put bins that hold at least one unit at the front of ``order``, least capacity first; returns their number."""
    count = 0
    for j in range(len(capacities)):
        if capacities[j] >= sizes[len(units) - 1]:
            k = count
            while k > 0 and capacities[order[k - 1]] > capacities[j]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = j
            count += 1
    return count


@njit("boolean(int64[::1], int64[::1], int64[:, ::1], int64, boolean)", **_OPTIONS)
def _known(left, radix, memo, b, remember):
    """Whether the remaining units are known not to fit into the bins from ``b`` on; ``remember`` stores that fact."""
    key = 0
    for i in range(len(left)):
        key += left[i] * radix[i]
    place, stamp = (key * 31 + b) % MEMO, memo[MEMO, 0] + b
    if remember:
        memo[place, 0], memo[place, 1] = key, stamp
    return memo[place, 0] == key and memo[place, 1] == stamp


@njit("UniTuple(int64, 2)(int64[::1], int64[::1], int64[::1], int64, int64[:, ::1], int64[:, ::1])", **_OPTIONS)
def pack(units, sizes, capacities, budget, taken, memo):
    """Search for a packing (:func:`spillway.schedulers.search.packing.pack`); returns the verdict and the steps taken.

    One cell of the search is (bin, item): how many units of the item go into the bin, most first. A bin closed with
    ``spare`` capacity wastes it; the sum of the wastes is at most the surplus of all capacities over all units.
    """
    items = len(units)
    for i in range(items):
        for j in range(len(capacities)):
            taken[i, j] = 0
    order_all = np.empty(len(capacities), np.int64)
    bins = _usable(units, sizes, capacities, order_all) if items > 0 else 0
    order = order_all[:bins]
    left, radix = units.copy(), np.zeros(items, np.int64)
    numbered = _radices(units, radix)
    scratch = np.empty((2, bins), np.int64)
    spare = np.zeros(bins * items + 1, np.int64)  # capacity left in the bin on entering a cell
    equal = np.zeros(bins * items + 1, np.bool_)  # so far filled like the bin before, which has the same capacity
    waste = np.zeros(bins + 1, np.int64)
    for k in range(bins):
        waste[0] += capacities[order[k]]
    for i in range(items):
        waste[0] -= units[i] * sizes[i]
    if items == 0 or waste[0] < 0:
        return (FITS if items == 0 else DOES_NOT_FIT), 0
    memo[MEMO, 0] += len(capacities) + 1
    steps, cell, entering = 0, 0, True
    while cell >= 0:
        b, i = cell // items, cell % items
        if entering and i == 0:
            verdict = DOES_NOT_FIT if b == bins else UNDECIDED
            if b < bins and numbered and _known(left, radix, memo, b, False):
                verdict = DOES_NOT_FIT
            if verdict == UNDECIDED:
                verdict = _finish_or_refute(left, sizes, capacities, taken, order, b, scratch)
            if verdict == FITS:
                return FITS, steps
            if verdict == DOES_NOT_FIT:
                cell, entering = cell - 1, False
                continue
            spare[cell] = capacities[order[b]]
            equal[cell] = b > 0 and capacities[order[b - 1]] == capacities[order[b]]
        j = order[b]
        if entering:
            possible = 0
            for k in range(i, items):
                possible += left[k] * sizes[k]
            if spare[cell] - possible > waste[b]:
                cell, entering = cell - 1, False
                continue
            taken[i, j] = min(left[i], spare[cell] // sizes[i])
            if equal[cell]:
                taken[i, j] = min(taken[i, j], taken[i, order[b - 1]])
        else:
            left[i] += taken[i, j]
            taken[i, j] -= 1
            if taken[i, j] < 0:
                taken[i, j] = 0
                if i == 0 and numbered:
                    _known(left, radix, memo, b, True)
                cell -= 1
                continue
        steps += 1
        if steps > budget:
            return UNDECIDED, steps
        left[i] -= taken[i, j]
        left_over = spare[cell] - taken[i, j] * sizes[i]
        if i == items - 1:
            entering = left_over <= waste[b] and _undominated(left, sizes, taken, j, left_over)
            if not entering:
                continue
            waste[b + 1] = waste[b] - left_over
        spare[cell + 1] = left_over
        equal[cell + 1] = equal[cell] and taken[i, j] == taken[i, order[b - 1]]
        cell, entering = cell + 1, True
    return DOES_NOT_FIT, steps
