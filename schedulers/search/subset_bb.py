"""Branch and bound for choosing items that fit together: exact, with the remaining gap when the budget is used up.

Items are taken or left out one by one, largest size first. A branch is cut when even its bound cannot beat the best set
known; the bound treats all bins as one, and is exact in units (tables over all sums of units). After each item taken,
:mod:`spillway.schedulers.search.packing` decides whether the set fits; a set that does not fit cuts its whole branch.
The search begins with good sets from several greedy fillings, so that mostly only a proof remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.base.lazy_modules import late
from spillway.schedulers.search.packing import Fits, Packing, new_memo
from spillway.schedulers.search.subset import Score, SubsetProblem, SubsetResult

if TYPE_CHECKING:
    from spillway.schedulers.search import packing_kernels, subset_bb_kernels
else:
    packing_kernels = late("spillway.schedulers.search.packing_kernels")
    subset_bb_kernels = late("spillway.schedulers.search.subset_bb_kernels")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_Selection = tuple[int, ...]
_Settle = Callable[[_Selection], Packing]
"""A second method to find whether a set of the problem's items can be packed."""

_NO_SET = np.iinfo(np.int64).max // 4
_LARGEST_TABLE = 2_000_000
_OPEN_SETS = 64


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on the work of a choice.

    Attributes
    ----------
    steps
        Steps of the whole search: sets evaluated and steps of packing (some 50 million per second).
    pack_steps
        Steps of packing one set, after which it is left undecided.
    """

    steps: int = 1_000_000
    pack_steps: int = 100_000


def branch_and_bound(
    problem: SubsetProblem, budget: Budget | None = None, settle: _Settle | None = None
) -> SubsetResult:
    """Find the best set of items that fit together.

    Parameters
    ----------
    problem
        The items to choose from.
    budget
        See :class:`Budget`.
    settle
        Decides sets that the packing search left undecided, the most promising first.
    """
    budget = budget or Budget()
    items = _Items.of(problem)
    limits = np.array([items.free, _usable_capacity(items), *problem.load_limits], np.int64)
    best = _Best.nothing(len(items.order), len(problem.capacities))
    for candidate in _greedy(items, limits):
        best = max(best, candidate, key=lambda one: one.score)
    score = np.array(best.score, np.float64)
    took, repacked = np.zeros((2, len(items.order)), np.bool_)
    notes = np.full((_OPEN_SETS + 1, 3), -1.0)
    undecided = np.zeros((_OPEN_SETS, len(items.order)), np.bool_)
    rules = (problem.units_first, budget.steps, budget.pack_steps)
    steps = subset_bb_kernels.search(
        (items.units, items.sizes, items.waits, items.must, items.loads), limits, items.capacities, items.tables,
        rules, (took, repacked, score), (undecided, notes), new_memo(),
    )  # fmt: skip
    if tuple(score) > best.score:
        best = _Best(_tuple(score), took, _replay(items, took, repacked, budget.pack_steps))
    best, bound = _settle(items, best, undecided, notes, settle)
    return _result(problem, items, best, bound, steps)


class _Best(NamedTuple):
    """A set found: score, items taken (in the search's order), and their packing."""

    score: tuple[float, ...]
    took: Flags
    taken: Ints

    @classmethod
    def nothing(cls, items: int, bins: int) -> _Best:
        return cls((-1.0, -1.0, -1.0), np.zeros(items, np.bool_), np.zeros((items, bins), np.int64))


@dataclass(frozen=True)
class _Items:
    """The items in the search's order, and tables over their sums."""

    problem: SubsetProblem
    order: Ints
    units: Ints
    sizes: Ints
    waits: Floats
    must: Flags
    loads: Ints
    capacities: Ints
    free: int
    tables: tuple[Ints, Ints, Floats]

    @classmethod
    def of(cls, problem: SubsetProblem) -> _Items:
        """Sort items by size, largest first; those that cannot be chosen are left out unless they are mandatory."""
        mandatory = frozenset(problem.mandatory)
        possible = [i for i in range(len(problem.units)) if i in mandatory or _possible(problem, i)]
        order = np.array(sorted(possible, key=lambda i: (-problem.sizes[i], -problem.units[i], i)), np.int64)
        units = np.array(problem.units, np.int64)[order]
        sizes = np.array(problem.sizes, np.int64)[order]
        waits = np.array(problem.waits, np.float64)[order]
        must = np.array([i in mandatory for i in order.tolist()], np.bool_)
        loads = np.array(problem.loads, np.int64).reshape(len(problem.load_limits), len(problem.units))[:, order]
        free = max(0, min(problem.free_units, int(units.sum())))
        tables = _tables(units, units * sizes, waits, must, free)
        capacities = np.array(problem.capacities, np.int64)
        return cls(problem, order, units, sizes, waits, must, np.ascontiguousarray(loads), capacities, free, tables)


def _possible(problem: SubsetProblem, i: int) -> bool:
    """Whether an item fits by itself."""
    size = problem.sizes[i]
    fits = size == 0 or sum(capacity // size for capacity in problem.capacities) >= problem.units[i]
    return fits and problem.within_limits([i])


def _usable_capacity(items: _Items) -> int:
    """Capacity of the bins that can hold any unit at all."""
    smallest = min((size for size in items.sizes.tolist() if size > 0), default=0)
    return sum(capacity for capacity in items.problem.capacities if capacity >= smallest)


def _tables(units: Ints, totals: Ints, waits: Floats, must: Flags, free: int) -> tuple[Ints, Ints, Floats]:
    """``least``, ``most`` and ``wait_sums`` of :mod:`spillway.schedulers.search.subset_bb_kernels`."""
    n = len(units)
    least, most = np.full((n + 1, free + 1), _NO_SET), np.full((n + 1, free + 1), -1, np.int64)
    small = (n + 1) * (n + 1) * (free + 1) <= _LARGEST_TABLE
    sums = np.full((n + 1, free + 1, n + 1) if small else (1, 1, 1), -np.inf)
    least[n, 0], most[n, 0], sums[-1, 0, 0] = 0, 0, 0.0
    for d in range(n - 1, -1, -1):
        u = int(units[d])
        if not must[d]:
            least[d], most[d] = least[d + 1], most[d + 1]
            if small:
                sums[d] = sums[d + 1]
        if u > free:
            continue
        below = slice(0, free + 1 - u)
        least[d, u:] = np.minimum(least[d, u:], np.minimum(least[d + 1, below] + totals[d], _NO_SET))
        reached = most[d + 1, below]
        most[d, u:] = np.maximum(most[d, u:], np.where(reached < 0, -1, reached + totals[d]))
        if small:
            sums[d, u:, 1:] = np.maximum(sums[d, u:, 1:], sums[d + 1, below, :-1] + waits[d])
    return least, most, sums


def _greedy(items: _Items, limits: Ints) -> Iterator[_Best]:
    """Sets from greedy fillings in several orders: by one property of the items, and along the tables' best sums."""
    totals = items.units * items.sizes
    keys = (items.sizes, -items.sizes, items.units, -items.units, totals, -totals, -items.waits)
    orders = [np.argsort(key, kind="stable").tolist() for key in keys]
    least, most, _ = items.tables
    reachable = [m for m in range(items.free, -1, -1) if most[0, m] >= 0 and least[0, m] <= limits[1]]
    for m in reachable[:3]:
        for table in (least, most):
            along = _path(table, items.units, m)
            orders.append(along + [i for i in range(len(items.order)) if i not in set(along)])
    memo = np.zeros(len(items.capacities), np.int64)
    for order in orders:
        found = _fill(items, limits, order, memo)
        if found is not None:
            yield found


def _path(table: Ints, units: Ints, m: int) -> list[int]:
    """Items of the set behind ``table[0, m]``."""
    path = []
    for d in range(len(units)):
        if table[d, m] != table[d + 1, m]:
            path.append(d)
            m -= int(units[d])
    return path


def _fill(items: _Items, limits: Ints, order: Iterable[int], row: Ints) -> _Best | None:
    """Take the items that fit, in an order, mandatory items first; ``None`` when one of these does not fit."""
    problem, capacities = items.problem, items.capacities.copy()
    best = _Best.nothing(len(items.order), len(capacities))
    left = [items.free, *problem.load_limits]
    for i in sorted(order, key=lambda i: not items.must[i]):
        demands = [items.units[i], *items.loads[:, i]]
        trial = capacities.copy()
        fits = all(demand <= free for demand, free in zip(demands, left, strict=True))
        if fits and items.sizes[i] > 0:
            fits = packing_kernels.tightest_fit(items.units[i], items.sizes[i], trial, row)
        if fits:
            best.took[i] = True
            best.taken[i] = row if items.sizes[i] > 0 else 0
            capacities = trial
            left = [free - demand for demand, free in zip(demands, left, strict=True)]
        elif items.must[i]:
            return None
    return best._replace(score=_score(items, best.took))


def _score(items: _Items, took: Flags) -> tuple[float, ...]:
    chosen = items.order[took].tolist()
    return tuple(float(part) for part in items.problem.score(chosen))


def _replay(items: _Items, took: Flags, repacked: Flags, pack_steps: int) -> Ints:
    """Repeat the search's packing of its best set: everything anew at the last repacked item, later items on top."""
    capacities = items.capacities.copy()
    taken = np.zeros((len(took), len(capacities)), np.int64)
    sized = [i for i in np.flatnonzero(took).tolist() if items.sizes[i] > 0]
    last = max((i for i in sized if repacked[i]), default=-1)
    anew = [i for i in sized if i <= last]
    if anew:
        packed = np.zeros((len(anew), len(capacities)), np.int64)
        packing_kernels.pack(items.units[anew], items.sizes[anew], items.capacities, pack_steps, packed, new_memo())
        taken[anew] = packed
        capacities -= (packed * items.sizes[anew][:, None]).sum(axis=0)
    for i in sized:
        if i > last:
            packing_kernels.tightest_fit(items.units[i], items.sizes[i], capacities, taken[i])
    return taken


def _settle(
    items: _Items, best: _Best, undecided: Flags, notes: Floats, settle: _Settle | None
) -> tuple[_Best, tuple[float, ...]]:
    """Decide undecided sets by the second method; returns the best set and the bound."""
    bound = _tuple(notes[-1])
    entries = [(_tuple(note), took) for note, took in zip(notes[:-1], undecided, strict=True)]
    for note, took in sorted(entries, key=lambda entry: entry[0], reverse=True):
        if note <= best.score:
            break
        chosen = np.flatnonzero(took)
        packing = settle(tuple(items.order[chosen].tolist())) if settle is not None else None
        if packing is not None and packing.verdict is Fits.NO:
            continue
        bound = max(bound, note)  # the sets that continue from this one stay unexplored
        if packing is not None and packing.verdict is Fits.YES and _score(items, took) > best.score:
            taken = np.zeros_like(best.taken)
            taken[chosen] = packing.taken
            best = _Best(_score(items, took), took, taken)
    return best, max(bound, best.score)


def _result(problem: SubsetProblem, items: _Items, best: _Best, bound: tuple[float, ...], steps: int) -> SubsetResult:
    """Translate back to the problem's items."""
    limit = Score(int(bound[0]), int(bound[1]), bound[2]) if bound[0] >= 0 else None
    if best.score[0] < 0:
        return SubsetResult(None, np.zeros((0, len(problem.capacities)), np.int64), None, limit, steps)
    positions = sorted(np.flatnonzero(best.took).tolist(), key=lambda position: items.order[position])
    chosen = tuple(items.order[positions].tolist())
    score = problem.score(chosen)
    if bound <= best.score:
        limit = score
    return SubsetResult(chosen, best.taken[positions], score, limit, steps)


def _tuple(score: Floats) -> tuple[float, ...]:
    return tuple(score.tolist())
