"""How idle nodes are shared among running applications: fair, by speed-up, or by speed-up and I/O. Pure functions.

Each returns how many nodes every application gets. The greedy ones hand out node by node, as the paper's algorithms do;
only the score of the application that got the last node changes between two steps, so that a step costs one turn of a
heap (:mod:`schedulers.controllers.sharing_kernels`).

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.3.2, Algorithms 5 and 6.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from schedulers.applications.performance import PerformanceModel
from schedulers.controllers.sharing_kernels import LEAST_RATIO, hand_out

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


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

    def io_ratio(self, nodes: int) -> float:
        """Share of the I/O phases in its period on so many nodes (Eq. 3); 0 without I/O."""
        if not self.io_every:
            return 0.0
        return self.io_s / (self.io_every * self.model.iteration_s(nodes) + self.io_s)


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Applications that may get nodes, as columns with an entry for each; see :class:`Candidate`.

    Attributes
    ----------
    models
        Their times by size.
    nodes
        Present sizes, agreed changes included.
    rooms
        Most nodes that they can use.
    io_s, io_every
        Duration of an I/O phase, and iterations between two.
    """

    models: Sequence[PerformanceModel]
    nodes: Integers
    rooms: Integers
    io_s: Floats
    io_every: Floats

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Claims:
        """Claims of these candidates."""
        return cls(
            [candidate.model for candidate in candidates],
            np.array([candidate.nodes for candidate in candidates], np.int64),
            np.array([candidate.room for candidate in candidates], np.int64),
            np.array([candidate.io_s for candidate in candidates], np.float64),
            np.array([candidate.io_every for candidate in candidates], np.float64),
        )

    def tables(self, idle: int) -> tuple[Floats, Integers]:
        """Seconds of an iteration by size, from the present one to the largest that ``idle`` nodes allow.

        One application after another; and where each begins.
        """
        counts = np.minimum(self.rooms, idle) + 1
        firsts = self.nodes - np.array([model.minimum for model in self.models], np.int64)
        times = [
            model.iterations_s[first:end]
            for model, first, end in zip(self.models, firsts.tolist(), (firsts + counts).tolist(), strict=True)
        ]
        return np.concatenate(times) if times else np.zeros(0), np.cumsum(counts) - counts


def balance(gain: float, io_ratio: float, weight: float) -> float:
    """Score of an application in Algorithm 6 (``select_balance``): the largest is given the next node.

    ``gain / max(io_ratio, LEAST_RATIO) ** weight``: the speed-up that a node adds per unit of I/O pressure. With
    weight 0 it is Algorithm 5; with 1, the default, an application with half the I/O ratio may have half the gain.
    A gain that is not positive counts as it is: nodes that slow an application down are never given.

    The paper only says that the choice "balances a small I/O ratio and a large speed-up improvement".
    """
    return gain / max(io_ratio, LEAST_RATIO) ** weight if gain > 0 else gain


def fair(claims: Claims, idle: int, weight: float = 0.0) -> Integers:
    """Share evenly: one node each in turn, as long as there is room (the paper's baseline).

    All get as many nodes as there are whole rounds, or what they have room for; what is left goes to the first ones.
    """
    low, high = 0, max(0, idle)
    while low < high:  # the most rounds that there are nodes for
        rounds = (low + high + 1) // 2
        if np.minimum(claims.rooms, rounds).sum() <= idle:
            low = rounds
        else:
            high = rounds - 1
    given: Integers = np.minimum(claims.rooms, low)
    given[np.flatnonzero(claims.rooms > low)[: max(0, idle) - int(given.sum())]] += 1
    return given


def by_speedup(claims: Claims, idle: int, weight: float = 0.0) -> Integers:
    """Algorithm 5: each node to the application whose speed-up it raises most; the first of equals."""
    return by_io(claims, idle, 0.0)


def by_io(claims: Claims, idle: int, weight: float = 1.0) -> Integers:
    """Algorithm 6: each node to the application with the best :func:`balance`; the first of equals."""
    count = len(claims.rooms)
    given, heap, scores = np.zeros(count, np.int64), np.empty(count, np.int64), np.empty(count)
    times, firsts = claims.tables(idle)
    sequential_s = np.array([model.sequential_s for model in claims.models], np.float64)
    about = (claims.rooms, firsts, sequential_s, claims.io_s, claims.io_every)
    hand_out(times, *about, float(weight), idle, heap, scores, given)
    return given


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


SHARING: Mapping[Expansion, Callable[[Claims, int, float], Integers]] = {
    Expansion.FAIR: fair,
    Expansion.SPEEDUP: by_speedup,
    Expansion.IO: by_io,
}
"""The rules by name; each takes the claims, the idle nodes and the weight of I/O."""
