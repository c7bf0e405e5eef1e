"""Rules that share idle nodes among running applications: fair, by speed-up, or by speed-up and I/O. Pure functions.

Each returns the number of nodes that every application gets. The greedy rules assign one node at a time, as the paper's
algorithms do; between two steps only the score of the application that got the last node changes, so a heap keeps the
order.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.3.2, Algorithms 5 and 6.
"""

from __future__ import annotations

import enum
import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from spillway.schedulers.applications.performance import PerformanceModel

_LEAST_RATIO = 1e-3
"""Lower bound of I/O ratios: an application must not win only because it hardly writes."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An application that may get nodes.

    Attributes
    ----------
    model
        Its times by size.
    nodes
        Present size, agreed changes included.
    io_every
        Iterations between two I/O phases; 0: no I/O.
    io_s
        Duration of an I/O phase.
    """

    model: PerformanceModel
    nodes: int
    io_every: int
    io_s: float

    @property
    def most(self) -> int:
        """Most further nodes that it can use."""
        return max(0, self.model.maximum - self.nodes)

    def io_ratio(self, iteration_s: float) -> float:
        """Share of the I/O phases in its period with iterations of this duration (Eq. 3); 0 without I/O."""
        return self.io_s / (self.io_every * iteration_s + self.io_s) if self.io_every else 0.0

    def score(self, given: int, weight: float) -> float:
        """Score of the next node after ``given`` ones (:func:`balance`); 0 where the application can use no more."""
        model, place = self.model, self.nodes + given - self.model.minimum
        times_s = model.iterations_s
        if place + 1 >= len(times_s):
            return 0.0
        now_s, then_s = times_s.item(place), times_s.item(place + 1)
        gain = model.sequential_s / then_s - model.sequential_s / now_s
        return balance(gain, self.io_ratio(then_s), weight) if weight else gain


def balance(gain: float, io_ratio: float, weight: float) -> float:
    """Score of an application in Algorithm 6 (``select_balance``): the highest score gets the next node.

    ``gain / max(io_ratio, _LEAST_RATIO) ** weight``: the speed-up that a node adds per unit of I/O pressure. With
    weight 0 it is Algorithm 5; with 1, the default, an application with half the I/O ratio may have half the gain.
    A gain that is not positive counts as it is: nodes that slow an application down are never given.

    The paper says only that the choice "balances a small I/O ratio and a large speed-up improvement".
    """
    return gain / max(io_ratio, _LEAST_RATIO) ** weight if gain > 0 else gain


def fair(candidates: Sequence[Candidate], idle: int, weight: float = 0.0) -> list[int]:
    """Share evenly: one node each in turn, as long as they can use more (the paper's baseline).

    Each application gets one node per whole round, up to its most; the remaining nodes go to the first applications.
    """
    most = np.array([candidate.most for candidate in candidates], np.int64)
    low, high = 0, max(0, idle)
    while low < high:  # largest number of rounds for which the nodes suffice
        rounds = (low + high + 1) // 2
        if np.minimum(most, rounds).sum() <= idle:
            low = rounds
        else:
            high = rounds - 1
    given = np.minimum(most, low)
    given[np.flatnonzero(most > low)[: max(0, idle) - int(given.sum())]] += 1
    return cast("list[int]", given.tolist())


def by_speedup(candidates: Sequence[Candidate], idle: int, weight: float = 0.0) -> list[int]:
    """Algorithm 5: each node to the application whose speed-up it raises most; the first of equals."""
    return by_io(candidates, idle, 0.0)


def by_io(candidates: Sequence[Candidate], idle: int, weight: float = 1.0) -> list[int]:
    """Algorithm 6: each node to the application with the best :func:`balance`; the first of equals."""
    given = [0] * len(candidates)
    worth = ((candidate.score(0, weight), place) for place, candidate in enumerate(candidates))
    heap = [(-score, place) for score, place in worth if score > 0]  # the best score is the smallest entry
    heapq.heapify(heap)
    while idle > 0 and heap:
        _, winner = heap[0]
        given[winner] += 1
        idle -= 1
        score = candidates[winner].score(given[winner], weight)
        if score > 0:
            heapq.heapreplace(heap, (-score, winner))
        else:
            heapq.heappop(heap)
    return given


class Expansion(enum.Enum):
    """Rules for sharing idle nodes."""

    NONE = "none"
    FAIR = "fair"
    SPEEDUP = "speedup"
    IO = "io"


SHARING: Mapping[Expansion, Callable[[Sequence[Candidate], int, float], list[int]]] = {
    Expansion.FAIR: fair,
    Expansion.SPEEDUP: by_speedup,
    Expansion.IO: by_io,
}
"""The rules by name; each takes the candidates, the idle nodes and the weight of I/O."""
