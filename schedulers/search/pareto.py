"""Choice of items that fit together with two objectives: a genetic search for the Pareto set, and a rule of exchange.

The problem is that of :mod:`spillway.schedulers.search.subset`; here units and sizes are not compared one after the
other, but weighed: a set that uses fewer units is taken if it gains much more of the sizes.

References
----------
Fan, Lan, Rich, Allcock, Papka, Austin, Paul, *Scheduling beyond CPUs for HPC*, HPDC 2019 (DOI 10.1145/3307681.3325401):
window, genetic search on bit strings, Pareto set, exchange of one objective for the other. Our addition, because the
paper leaves it open: a set that does not fit loses its latest items until it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from spillway.schedulers.search.packing import Packing, PackingAnswer, pack
from spillway.schedulers.search.subset import SubsetProblem, SubsetResult, loosest

Bits = int
"""A set of items: bit ``i`` is item ``i``."""

PACK_STEPS = 100_000
"""Steps of packing one set, after which it counts as one that does not fit."""


@dataclass(frozen=True)
class Genetic:
    """Parameters of the search for the Pareto set.

    Attributes
    ----------
    exhaustive
        Up to this many items, all sets are evaluated.
    population
        Sets of a generation; fewer where a fiftieth of all sets is less.
    generations
        Most generations; with the population, they evaluate a tenth of all sets at most.
    mutation
        Probability that an item of a child is put in or left out, in [0, 1].
    best_parents
        Probability that a parent is of the generation's own Pareto set, in [0, 1].
    exchange
        Another set of the Pareto set is taken instead of the one with most units if its gain in sizes is at least
        this many times its loss of units (both as shares of the machine), above 0.
    """

    exhaustive: int = 10
    population: int = 40
    generations: int = 50
    mutation: float = 0.05
    best_parents: float = 0.7
    exchange: float = 2.0


@dataclass(frozen=True, slots=True)
class _Set:
    """A set that fits: its bits, and its units and sizes as shares of the machine."""

    bits: Bits
    units: float
    sizes: float


def choose(problem: SubsetProblem, totals: tuple[int, int], how: Genetic, seed: int) -> SubsetResult:
    """Choose a set of the Pareto set by the rule of exchange.

    Parameters
    ----------
    problem
        The items to choose from.
    totals
        Units and sum of capacities of the machine, for shares; 0 for no bins.
    how
        Parameters of the search.
    seed
        Seed of the genetic search; the same seed gives the same set.
    """
    search = _Search(problem, totals)
    best = exchanged(search.front(how, Random(seed)), how.exchange)
    if best is None:
        return SubsetResult(None, np.zeros((0, len(problem.capacities)), np.int64), None, None, search.steps)
    chosen = _items(best.bits)
    score = problem.score(chosen)
    bound = score if len(chosen) == len(problem.units) else loosest(problem)
    return SubsetResult(chosen, search.packing(best.bits).taken, score, bound, search.steps)


def exchanged(front: Sequence[_Set], exchange: float) -> _Set | None:
    """The set with most units, or the one that gains most sizes among those that gain ``exchange`` times their loss."""
    if not front:
        return None
    most = max(front, key=lambda one: (one.units, one.sizes, -one.bits))
    worth = [
        chosen
        for chosen in front
        if chosen.sizes > most.sizes and chosen.sizes - most.sizes >= exchange * (most.units - chosen.units)
    ]
    return max(worth, key=lambda one: (one.sizes, one.units, -one.bits), default=most)


def pareto(sets: Iterable[_Set]) -> list[_Set]:
    """Sets that no other set dominates (as much of both, and more of one); of equal sets the first in order of bits."""
    front: list[_Set] = []
    for chosen in sorted(sets, key=lambda one: (-one.units, -one.sizes, one.bits)):
        if not front or chosen.sizes > front[-1].sizes:
            front.append(chosen)
    return front


class _Search:
    """Search over a problem's sets, with the packings found so far."""

    def __init__(self, problem: SubsetProblem, totals: tuple[int, int]) -> None:
        self._problem = problem
        self._totals = totals
        self._mandatory = sum(1 << item for item in problem.mandatory)
        self._packings: dict[Bits, Packing] = {}
        self._alone = [item for item in range(len(problem.units)) if self._fits(1 << item)]

    @property
    def steps(self) -> int:
        """Number of sets that were packed."""
        return len(self._packings)

    def packing(self, bits: Bits) -> Packing:
        """Packing of a set's units into the bins."""
        found = self._packings.get(bits)
        if found is None:
            found = pack(*self._problem.of(_items(bits)), self._problem.capacities, PACK_STEPS)
            self._packings[bits] = found
        return found

    def front(self, how: Genetic, rng: Random) -> list[_Set]:
        """The Pareto set, or the part of it that the search finds; empty if the mandatory items do not fit."""
        every = sum(1 << item for item in self._alone)
        if not self._fits(self._mandatory) or self._mandatory & ~every:
            return []
        if self._fits(every):
            return [self._set(every)]
        if len(self._alone) <= how.exhaustive:
            return pareto(self._all())
        return self._evolved(how, rng)

    def _all(self) -> Iterable[_Set]:
        for number in range(1 << len(self._alone)):
            bits = sum(1 << item for place, item in enumerate(self._alone) if number >> place & 1)
            if bits & self._mandatory == self._mandatory and self._fits(bits):
                yield self._set(bits)

    def _evolved(self, how: Genetic, rng: Random) -> list[_Set]:
        items = len(self._alone)
        size = max(4, min(how.population, (1 << items) // 50))
        generations = min(how.generations, max(1, (1 << items) // (10 * size)))
        ages = {self._mended(rng.getrandbits(items), rng): 0 for _ in range(size)}
        for generation in range(1, generations + 1):
            parents = [self._set(bits) for bits in ages]
            best = pareto(parents)
            for _ in range(size):
                first, second = (rng.choice(best if rng.random() < how.best_parents else parents) for _ in range(2))
                ages.setdefault(self._child(first.bits, second.bits, how, rng), generation)
            ages = self._survivors(ages, size)
        return pareto(self._set(bits) for bits in ages)

    def _child(self, first: Bits, second: Bits, how: Genetic, rng: Random) -> Bits:
        """Crossing at the middle: the first items of one parent, the others of the other; then mutation."""
        middle = len(self._alone) // 2
        number = 0
        for place, item in enumerate(self._alone):
            inside = (first if place < middle else second) >> item & 1
            number |= (inside ^ (rng.random() < how.mutation)) << place
        return self._mended(number, rng)

    def _mended(self, number: int, rng: Random) -> Bits:
        """The set of a bit string of the items that fit alone, less its latest items until it fits."""
        bits = self._mandatory | sum(1 << item for place, item in enumerate(self._alone) if number >> place & 1)
        for item in reversed(self._alone):
            if self._fits(bits):
                break
            if not self._mandatory >> item & 1:
                bits &= ~(1 << item)
        return bits

    def _survivors(self, ages: dict[Bits, int], size: int) -> dict[Bits, int]:
        """Keep front after front, and of the last one the youngest sets."""
        left = {bits: self._set(bits) for bits in ages}
        kept: dict[Bits, int] = {}
        while left and len(kept) < size:
            rank = sorted(pareto(left.values()), key=lambda one: (-ages[one.bits], one.bits))
            for chosen in rank[: size - len(kept)]:
                kept[chosen.bits] = ages[chosen.bits]
            for chosen in rank:
                del left[chosen.bits]
        return kept

    def _fits(self, bits: Bits) -> bool:
        items = _items(bits)
        return self._problem.within_limits(items) and self.packing(bits).verdict is PackingAnswer.YES

    def _set(self, bits: Bits) -> _Set:
        units, sizes = self._problem.of(_items(bits))
        used = sum(unit * size for unit, size in zip(units, sizes, strict=True))
        return _Set(bits, sum(units) / max(self._totals[0], 1), used / max(self._totals[1], 1))


def _items(bits: Bits) -> tuple[int, ...]:
    return tuple(item for item in range(bits.bit_length()) if bits >> item & 1)
