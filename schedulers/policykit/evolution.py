"""Genetic search over the orders of a plan.

References
----------
Lv, Xie, Song, *The plan-based job scheduling optimized by genetic algorithm for HPC systems with shared burst
buffers*, Proc. SPIE 13210, 2024 (DOI 10.1117/12.3034965): plans of the whole queue, their order found by a genetic
algorithm in place of annealing. Its abstract does not name the operators; ours are order crossover (Davis, IJCAI
1985), swaps, tournaments of two, and an elite that stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from spillway.schedulers.policykit.pass_limit import Over, never
from spillway.schedulers.policykit.planning import Order, Planner


@dataclass(frozen=True, slots=True)
class Evolution:
    """Settings of the genetic search.

    Attributes
    ----------
    evaluations
        Orders that are planned, at least 0, with those of the first generation (but not its starting orders).
    population
        Orders of a generation, at least 2.
    elite
        Best orders of a generation that stay, at least 1 and below ``population``.
    mutation
        Probability that two jobs of a child change places, in [0, 1].
    """

    evaluations: int
    population: int = 20
    elite: int = 2
    mutation: float = 0.5


def evolve(
    planner: Planner, starts: Sequence[tuple[float, Order]], how: Evolution, seed: int, over: Over = never
) -> tuple[Order, float]:
    """Find a good order by genetic search; return it and its score, at least as good as the best starting order's.

    Parameters
    ----------
    planner
        Scores orders.
    starts
        Scores and orders for the first generation: the best of them, then copies with two jobs swapped up to its size.
    how
        Settings of the search.
    seed
        The same seed gives the same order, unless the time is ``over``.
    """
    rng = Random(seed)
    people = sorted(starts, key=lambda one: one[0])[: how.population]
    left, given = how.evaluations, len(people)
    while len(people) < how.population and left > 0 and not over():
        order = _swapped(people[rng.randrange(given)][1], rng)
        people.append((planner.score(order), order))
        left -= 1
    while left > 0 and not over():
        people.sort(key=lambda one: one[0])
        children = people[: how.elite]
        while len(children) < how.population and left > 0 and not over():
            first, second = (min(rng.choice(people), rng.choice(people), key=lambda one: one[0]) for _ in range(2))
            order = crossed(first[1], second[1], rng)
            if rng.random() < how.mutation:
                order = _swapped(order, rng)
            children.append((planner.score(order), order))
            left -= 1
        people = children
    score, best = min(people, key=lambda one: one[0])
    return best, score


def crossed(first: Order, second: Order, rng: Random) -> Order:
    """Order crossover: a piece of the first order stays where it is, the rest is in the second one's order."""
    number = len(first)
    begin, end = sorted((rng.randrange(number + 1), rng.randrange(number + 1)))
    kept = np.zeros(number, bool)
    kept[first[begin:end]] = True
    rest = second[~kept[second]]
    return np.concatenate([rest[:begin], first[begin:end], rest[begin:]]).astype(np.int32)


def _swapped(order: Order, rng: Random) -> Order:
    """The order with two of its positions exchanged."""
    one, other = rng.randrange(len(order)), rng.randrange(len(order))
    swapped = order.copy()
    swapped[one], swapped[other] = order[other], order[one]
    return swapped
