"""The compiled branch and bound of :mod:`spillway.schedulers.search.subset_bb`.

Layout
------
``limits: int64[2 + limits]``
    Free units, capacity of all usable bins, and the further limits.
``capacities: int64[bins]``
    Capacity per bin.
``memo``
    As in :mod:`spillway.schedulers.search.packing_kernels`.

Groups of arrays are named tuples: :class:`Items`, :class:`Tables`, :class:`Rules`, :class:`Best`, :class:`Open`, which
Python passes as plain tuples (Numba reads those faster), and :class:`Path`, :class:`Sums` of the search itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import boolean, types

from spillway.base.kernel_cache import njit
from spillway.schedulers.search.packing_kernels import DOES_NOT_FIT, FITS, UNDECIDED, pack, tightest_fit

_INT, _FLOAT = types.int64, types.float64
_I1, _I2 = types.Array(_INT, 1, "C"), types.Array(_INT, 2, "C")
_F1, _F2, _F3 = (types.Array(_FLOAT, dimensions, "C") for dimensions in (1, 2, 3))
_B1, _B2 = types.Array(boolean, 1, "C"), types.Array(boolean, 2, "C")
_OPTIONS = {"cache": True, "error_model": "numpy"}
_LEAF = {**_OPTIONS, "_nrt": False}
"""For steps that allocate nothing: they do not count references to their arguments."""


class Items(NamedTuple):
    """The items, in the order of falling sizes.

    ``units, sizes: int64[items]``, ``waits: float64[items]``, ``must: boolean[items]``; ``loads: int64[limits, items]``
    is their use of the further limits.
    """

    units: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    waits: npt.NDArray[np.float64]
    must: npt.NDArray[np.bool_]
    loads: npt.NDArray[np.int64]


class Tables(NamedTuple):
    """Sums over sets of the items from ``d`` on with ``m`` units in all.

    ``least, most: int64[items + 1, free units + 1]`` are the least and the largest sum of sizes; ``most`` is -1 where
    there is no such set. ``wait_sums: float64[items + 1, free units + 1, items + 1]`` is, with ``k`` items, the largest
    sum of waits, -infinity where there is no such set; it has a single element where it is not known.
    """

    least: npt.NDArray[np.int64]
    most: npt.NDArray[np.int64]
    wait_sums: npt.NDArray[np.float64]


class Rules(NamedTuple):
    """Whether units come first in a score, and the most steps: of the search, and of packing one set."""

    units_first: bool
    steps: int
    pack_steps: int


class Best(NamedTuple):
    """The best set, output: ``took, repacked: boolean[items]``, ``score: float64[3]``.

    The score is that of :mod:`spillway.schedulers.search.subset`.
    """

    took: npt.NDArray[np.bool_]
    repacked: npt.NDArray[np.bool_]
    score: npt.NDArray[np.float64]


class Open(NamedTuple):
    """Branches given up, output: ``undecided: boolean[open, items]``, ``notes: float64[open + 1, 3]``.

    Row ``open`` of the notes is the largest bound of the branches that the budget left open; the rows before it are
    bounds of all sets that begin like a set of ``undecided``, for which packing ran out of its budget.
    """

    undecided: npt.NDArray[np.bool_]
    notes: npt.NDArray[np.float64]


class Path(NamedTuple):
    """The current branch.

    Items taken, items at which all were packed anew, capacities left before each item (``int64[items + 1, bins]``), and
    scratch memory for packings (``int64[bins]``, ``int64[items, bins]``).
    """

    took: npt.NDArray[np.bool_]
    repacked: npt.NDArray[np.bool_]
    left: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    taken: npt.NDArray[np.int64]


class Sums(NamedTuple):
    """Sums over the items taken before each item.

    Units, size, number and loads (``int64[items + 1, 3 + limits]``) and waits (``float64[items + 1]``); and the longest
    wait from each item on.
    """

    counts: npt.NDArray[np.int64]
    waits: npt.NDArray[np.float64]
    longest: npt.NDArray[np.float64]


_TABLES, _SUMS = (_I2, _I2, _F3), (_I2, _F1, _F1)
TABLES, SUMS = types.BaseTuple.from_types(_TABLES, Tables), types.BaseTuple.from_types(_SUMS, Sums)
PLAIN_ITEMS, PLAIN_TABLES = types.Tuple((_I1, _I1, _F1, _B1, _I2)), types.Tuple(_TABLES)
PLAIN_BEST, PLAIN_OPEN = types.Tuple((_B1, _B1, _F1)), types.Tuple((_B2, _F2))
_PLAIN_RULES = types.Tuple((boolean, _INT, _INT))


@njit(boolean(_F1, _F1), **_LEAF)
def better(one, other):
    """Whether one score is greater than another, compared from the left."""
    for k in range(len(one)):
        if one[k] != other[k]:
            return one[k] > other[k]
    return False


@njit(boolean(_INT, SUMS, boolean, _I1, TABLES, _F1), **_LEAF)
def bound(depth, sums, units_first, limits, tables, score):
    """Bound the scores of all sets that continue from here; ``False`` if no such set exists. All bins count as one."""
    units, size, number = sums.counts[depth, 0], sums.counts[depth, 1], sums.counts[depth, 2]
    wait, least, most, wait_sums = sums.waits[depth], tables.least, tables.most, tables.wait_sums
    free, capacity = limits[0] - units, limits[1] - size
    more_units, more_size = -1, -1
    for m in range(free, -1, -1):
        if most[depth, m] < 0 or least[depth, m] > capacity:
            continue
        reach = min(capacity, most[depth, m])
        if reach > more_size:
            more_units, more_size = m, reach
        if units_first or more_size == capacity:
            break
    if more_units < 0:
        return False
    mean = max(wait / max(number, 1), sums.longest[depth])
    if len(wait_sums) > 1:
        mean = 0.0
        for k in range(wait_sums.shape[2]):
            if wait_sums[depth, more_units, k] > -np.inf and number + k > 0:
                mean = max(mean, (wait + wait_sums[depth, more_units, k]) / (number + k))
    score[0] = units + more_units if units_first else size + more_size
    score[1] = size + more_size if units_first else units + more_units
    score[2] = mean
    return True


@njit(inline="always")
def place(item, items, capacities, budget, path, memo):
    """Pack one more item together with those taken before it; returns the verdict and the steps.

    ``path.left[item + 1]`` gets the capacities left. First the new item goes on top of the packing so far; if that
    fails, all are packed anew, and ``path.repacked`` is set.
    """
    units, sizes, bins = items.units, items.sizes, len(capacities)
    for j in range(bins):
        path.left[item + 1, j] = path.left[item, j]
    path.repacked[item] = False
    if sizes[item] == 0 or tightest_fit(units[item], sizes[item], path.left[item + 1], path.row):
        return FITS, 0
    count = 0
    pack_units, pack_sizes = np.empty(item + 1, np.int64), np.empty(item + 1, np.int64)
    for i in range(item + 1):
        if (path.took[i] or i == item) and sizes[i] > 0:
            pack_units[count], pack_sizes[count] = units[i], sizes[i]
            count += 1
    verdict, steps = pack(pack_units[:count], pack_sizes[:count], capacities, budget, path.taken, memo)
    if verdict == FITS:
        path.repacked[item] = True
        for j in range(bins):
            path.left[item + 1, j] = capacities[j]
            for i in range(count):
                path.left[item + 1, j] -= path.taken[i, j] * pack_sizes[i]
    return verdict, steps


@njit(inline="always")
def _within_limits(depth, items, limits, counts):
    """Whether one more item stays within all limits."""
    units, size = items.units[depth], items.units[depth] * items.sizes[depth]
    if counts[depth, 0] + units > limits[0] or counts[depth, 1] + size > limits[1]:
        return False
    for k in range(len(limits) - 2):  # noqa: SIM110  # a generator would not compile
        if counts[depth, 3 + k] + items.loads[k, depth] > limits[2 + k]:
            return False
    return True


@njit(inline="always")
def _add_up(depth, take, items, sums):
    """Compute the sums with one more item taken or left out."""
    counts = sums.counts
    for k in range(counts.shape[1]):
        counts[depth + 1, k] = counts[depth, k]
    sums.waits[depth + 1] = sums.waits[depth]
    if take:
        counts[depth + 1, 0] += items.units[depth]
        counts[depth + 1, 1] += items.units[depth] * items.sizes[depth]
        counts[depth + 1, 2] += 1
        for k in range(counts.shape[1] - 3):
            counts[depth + 1, 3 + k] += items.loads[k, depth]
        sums.waits[depth + 1] += items.waits[depth]


@njit(types.void(_F1, _F1), **_LEAF)
def _raise_to(score, other):
    """Set a score to another one if that is greater."""
    if better(other, score):
        for k in range(len(score)):
            score[k] = other[k]


@njit(_INT(PLAIN_ITEMS, _I1, _I1, PLAIN_TABLES, _PLAIN_RULES, PLAIN_BEST, PLAIN_OPEN, _I2), **_OPTIONS)
def search(items, limits, capacities, tables, rules, best, given_up, memo):
    """Search depth-first: take each item, then leave it out; improve the best set and return the steps.

    When the budget is used up, the branches still open are not searched: their bounds are noted.
    """
    items, tables, rules, best, given_up = Items(*items), Tables(*tables), Rules(*rules), Best(*best), Open(*given_up)
    n, bins, undecided, last = len(items.units), len(capacities), 0, len(given_up.undecided)
    took, left = np.zeros(n, np.bool_), np.empty((n + 1, bins), np.int64)
    path = Path(took, np.zeros(n, np.bool_), left, np.empty(bins, np.int64), np.empty((n, bins), np.int64))
    for j in range(bins):
        left[0, j] = capacities[j]
    sums = Sums(np.zeros((n + 1, 1 + len(limits)), np.int64), np.zeros(n + 1), np.zeros(n + 1))
    for d in range(n - 1, -1, -1):
        sums.longest[d] = max(sums.longest[d + 1], items.waits[d])
    stage, score = np.zeros(n + 1, np.int64), np.empty(3)  # stage 1: take the item; 2: leave it out
    steps, depth = 0, 0
    while depth >= 0:
        stage[depth] += 1
        if stage[depth] == 1:
            steps += 1
            if not bound(depth, sums, rules.units_first, limits, tables, score) or not better(score, best.score):
                stage[depth] = 3
            elif steps > rules.steps:
                stage[depth] = 3
                _raise_to(given_up.notes[last], score)
            elif depth == n:
                stage[depth] = 3
                _raise_to(best.score, score)
                for i in range(n):
                    best.took[i], best.repacked[i] = took[i], path.repacked[i]
        take = stage[depth] == 1
        if take:
            verdict = FITS if _within_limits(depth, items, limits, sums.counts) else DOES_NOT_FIT
            if verdict == FITS:
                verdict, spent = place(depth, items, capacities, rules.pack_steps, path, memo)
                steps += spent
            if verdict == UNDECIDED and undecided < last:
                for i in range(depth + 1):
                    given_up.undecided[undecided, i] = took[i] or i == depth
                _raise_to(given_up.notes[undecided], score)
                undecided += 1
            elif verdict == UNDECIDED:
                _raise_to(given_up.notes[last], score)
            if verdict != FITS:
                continue
        elif stage[depth] > 2 or items.must[depth]:
            if depth < n:
                took[depth] = False
            depth -= 1
            continue
        else:
            for j in range(bins):
                left[depth + 1, j] = left[depth, j]
        took[depth] = take
        _add_up(depth, take, items, sums)
        depth += 1
        stage[depth] = 0
    return steps
