"""Choice of items that fit together: the problem, its score, and the plain way to solve it.

Independent of jobs: an item needs *units* (nodes), each with a *size* (burst-buffer bytes) that one bin (storage node)
must hold whole. Sets are compared by a lexicographic score.

References
----------
Kopanski, master's thesis 2020, section 3.3 (Algorithm 7, equations 3.1-3.3; the score is that of section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.schedulers.search.packing import Packing, PackingAnswer


class Score(NamedTuple):
    """Score of a set; larger is better, compared from the left.

    Attributes
    ----------
    first, second
        Units and sum of sizes of the set, or the other way round: see :attr:`SubsetProblem.units_first`.
    mean_wait
        Mean wait of the set's items, 0 for the empty set.
    """

    first: int
    second: int
    mean_wait: float


@dataclass(frozen=True)
class SubsetProblem:
    """A choice among items: the set with the best score that keeps within all limits.

    Attributes
    ----------
    units
        Units per item, at least 1.
    sizes
        Size of each of the item's units, at least 0; 0 needs no bin.
    waits
        Time that each item has waited, at least 0: breaks ties of the first two parts of the score.
    free_units
        Free units.
    capacities
        Capacity per bin.
    units_first
        Whether units or sizes come first in the score.
    mandatory
        Items that every set must contain.
    loads, load_limits
        Further limits: ``loads[k][i]`` of every chosen item ``i`` add up to at most ``load_limits[k]``.
    """

    units: Sequence[int]
    sizes: Sequence[int]
    waits: Sequence[float]
    free_units: int
    capacities: Sequence[int]
    units_first: bool = True
    mandatory: tuple[int, ...] = ()
    loads: Sequence[Sequence[int]] = ()
    load_limits: Sequence[int] = ()

    def score(self, chosen: Iterable[int]) -> Score:
        """Score of a set."""
        items = list(chosen)
        units = sum(self.units[i] for i in items)
        size = sum(self.units[i] * self.sizes[i] for i in items)
        mean = sum(self.waits[i] for i in items) / len(items) if items else 0.0
        return Score(units, size, mean) if self.units_first else Score(size, units, mean)

    def within_limits(self, chosen: Iterable[int]) -> bool:
        """Whether a set keeps within the free units and the further limits (the bins are not checked)."""
        items = list(chosen)
        return sum(self.units[i] for i in items) <= self.free_units and all(
            sum(load[i] for i in items) <= limit for load, limit in zip(self.loads, self.load_limits, strict=True)
        )

    def of(self, chosen: Iterable[int]) -> tuple[list[int], list[int]]:
        """Units and sizes of a set's items, in the set's order."""
        items = list(chosen)
        return [self.units[i] for i in items], [self.sizes[i] for i in items]


@dataclass(frozen=True)
class SubsetResult:
    """The best set found.

    Attributes
    ----------
    chosen
        The items, ascending; ``None`` when no set was found (the mandatory items do not fit together).
    taken
        ``int64[chosen, bins]``: units of each chosen item in each bin; zeros for items without size.
    score
        Score of the set, ``None`` without a set.
    bound
        No set can have a score above this: the score itself when the set is proven best.
    steps
        Steps of the search, in the method's own measure.
    """

    chosen: tuple[int, ...] | None
    taken: npt.NDArray[np.int64]
    score: Score | None
    bound: Score | None
    steps: int

    @property
    def proven(self) -> bool:
        """Whether the set is proven to be best (or proven not to exist)."""
        return self.bound == self.score

    @property
    def gap(self) -> tuple[float, float]:
        """Possible gain of the first and the second part of the score, relative to the bound."""
        if self.bound is None:
            return 0.0, 0.0
        first, second = (self.score.first, self.score.second) if self.score is not None else (0, 0)
        gap = (self.bound.first - first) / max(self.bound.first, 1)
        return gap, 0.0 if gap > 0 else (self.bound.second - second) / max(self.bound.second, 1)


Check = Callable[[tuple[int, ...]], Packing]
"""Function that packs the items of a set into the bins, or finds that they do not fit."""


def largest_first(problem: SubsetProblem, fits: Check, budget: int) -> SubsetResult:
    """Try the set of all items, then those with one fewer, and so on, as Algorithm 7 does (lines 11-28).

    Below a set that fits, nothing is tried: its subsets score less. A set that could not be decided counts as one
    that does not fit, as in the thesis.

    Parameters
    ----------
    problem
        The items to choose from; at most some 15, because there are ``2**n`` sets.
    fits
        Decides whether a set that is within the limits can be packed.
    budget
        Most sets to try.
    """
    mandatory = frozenset(problem.mandatory)
    best: tuple[int, ...] | None = None
    best_score, taken = Score(0, 0, 0.0), np.zeros((0, len(problem.capacities)), np.int64)
    level: dict[tuple[int, ...], None] = {tuple(range(len(problem.units))): None}
    looked_at, exact = 0, True
    while level and looked_at < budget:
        misfits = []
        for chosen in level:
            looked_at += 1
            if looked_at > budget:
                exact = False
                break
            packing = fits(chosen) if problem.within_limits(chosen) else Packing(PackingAnswer.NO, taken, 0)
            exact = exact and packing.verdict is not PackingAnswer.UNDECIDED
            if packing.verdict is not PackingAnswer.YES:
                misfits.append(chosen)
            elif best is None or problem.score(chosen) > best_score:
                best, best_score, taken = chosen, problem.score(chosen), packing.taken
        fewer = (smaller for chosen in misfits if chosen for smaller in combinations(chosen, len(chosen) - 1))
        level = {chosen: None for chosen in fewer if mandatory.issubset(chosen)}
    score = None if best is None else best_score
    return SubsetResult(best, taken, score, score if exact and not level else loosest(problem), looked_at)


def loosest(problem: SubsetProblem) -> Score:
    """Upper bound of the scores of all sets."""
    units = min(problem.free_units, sum(problem.units))
    size = min(sum(problem.capacities), sum(u * s for u, s in zip(problem.units, problem.sizes, strict=True)))
    wait = max(problem.waits, default=0.0)
    return Score(units, size, wait) if problem.units_first else Score(size, units, wait)
