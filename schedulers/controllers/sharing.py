"""How idle nodes are shared among running applications: fair, by speed-up, or by speed-up and I/O. Pure functions.

Each returns how many nodes every application gets. The greedy ones hand out node by node, as the paper's algorithms do;
only the score of the application that got the last node changes between two steps, so that a step costs one turn of a
heap.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.3.2, Algorithms 5 and 6.
"""

from __future__ import annotations

import enum
import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from schedulers.applications.performance import PerformanceModel

LEAST_RATIO = 1e-3
"""I/O ratios below this count as this: an application that hardly writes must not win by that alone."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An application that may get nodes.

    Attributes
    ----------
    model
        Its times by size.
    nodes
        Present size, agreed changes included.
    io_every
        Iterations between two I/O phases; 0: none.
    io_s
        Duration of an I/O phase.
    limit
        Most nodes that it may get, >= 0.
    """

    model: PerformanceModel
    nodes: int
    io_every: int
    io_s: float
    limit: int

    @cached_property
    def room(self) -> int:
        """Most nodes that it can use."""
        return max(0, min(self.limit, self.model.maximum - self.nodes))

    def first_score(self, weight: float) -> float:
        """Score of the first node that it would get; it is remembered, as most applications are asked again."""
        known: dict[float, float] = self.__dict__.setdefault("first_scores", {})
        if weight not in known:
            known[weight] = _score(self, 0, weight)
        return known[weight]

    def io_ratio(self, nodes: int) -> float:
        """Share of the I/O phases in its period on so many nodes (Eq. 3); 0 without I/O."""
        if not self.io_every:
            return 0.0
        return self.io_s / (self.io_every * self.model.iteration_s(nodes) + self.io_s)


def balance(gain: float, io_ratio: float, weight: float) -> float:
    """Score of an application in Algorithm 6 (``select_balance``): the largest is given the next node.

    ``gain / max(io_ratio, LEAST_RATIO) ** weight``: the speed-up that a node adds per unit of I/O pressure. With
    weight 0 it is Algorithm 5; with 1, the default, an application with half the I/O ratio may have half the gain.
    A gain that is not positive counts as it is: nodes that slow an application down are never given.

    The paper only says that the choice "balances a small I/O ratio and a large speed-up improvement".
    """
    return gain / max(io_ratio, LEAST_RATIO) ** weight if gain > 0 else gain


def fair(candidates: Sequence[Candidate], idle: int, weight: float = 0.0) -> list[int]:
    """Share evenly: one node each in turn, as long as there is room (the paper's baseline)."""
    given = [0] * len(candidates)
    room = [candidate.room for candidate in candidates]
    while idle > 0 and any(room):
        for index, left in enumerate(room):
            if left and idle:
                given[index] += 1
                room[index] -= 1
                idle -= 1
    return given


def by_speedup(candidates: Sequence[Candidate], idle: int, weight: float = 0.0) -> list[int]:
    """Algorithm 5: each node to the application whose speed-up it raises most; the first of equals."""
    return _greedy(candidates, idle, 0.0)


def by_io(candidates: Sequence[Candidate], idle: int, weight: float = 1.0) -> list[int]:
    """Algorithm 6: each node to the application with the best :func:`balance`; the first of equals."""
    return _greedy(candidates, idle, weight)


def _greedy(candidates: Sequence[Candidate], idle: int, weight: float) -> list[int]:
    given = [0] * len(candidates)
    first = [candidate.first_score(weight) for candidate in candidates]
    heap = [(-score, index) for index, score in enumerate(first) if score > 0]  # of equal scores the first one
    heapq.heapify(heap)
    for _ in range(idle):
        if not heap:
            break
        winner = heap[0][1]
        given[winner] += 1
        score = _score(candidates[winner], given[winner], weight)
        if score > 0:
            heapq.heapreplace(heap, (-score, winner))
        else:
            heapq.heappop(heap)
    return given


def _score(candidate: Candidate, given: int, weight: float) -> float:
    """Score of an application's next node after ``given`` ones; minus infinity where there is no room for it."""
    if given >= candidate.room:
        return -math.inf
    speedups, times = candidate.model.lists
    place = candidate.nodes + given - candidate.model.minimum
    gain = speedups[place + 1] - speedups[place]
    if not weight or gain <= 0:
        return gain
    io_s, io_every = candidate.io_s, candidate.io_every
    ratio = io_s / (io_every * times[place + 1] + io_s) if io_every else 0.0
    return balance(gain, ratio, weight)


def reference(candidates: Sequence[Candidate], idle: int, weight: float) -> list[int]:
    """Algorithms 5 (weight 0) and 6 as the paper writes them, for comparison: all scores anew for every node."""
    given = [0] * len(candidates)
    while idle > 0:
        scores = []
        for candidate, so_far in zip(candidates, given, strict=True):
            size = candidate.nodes + so_far
            if so_far >= candidate.room:
                scores.append(-math.inf)
                continue
            gain = candidate.model.speedup(size + 1) - candidate.model.speedup(size)
            scores.append(balance(gain, candidate.io_ratio(size + 1), weight))
        if not scores or max(scores) <= 0:
            break
        given[scores.index(max(scores))] += 1
        idle -= 1
    return given


class Expansion(enum.Enum):
    """How idle nodes are shared."""

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
