"""Packings and sets of jobs by exhaustive search: the definitions for the tests of the searches."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations

from spillway.schedulers.search.subset import Score, SubsetProblem


def pack_plain(units: Sequence[int], sizes: Sequence[int], capacities: Sequence[int]) -> bool:
    """Whether units fit."""
    singles = sorted((s for u, s in zip(units, sizes, strict=True) if s > 0 for _ in range(u)), reverse=True)

    @cache
    def fits(first: int, left: tuple[int, ...]) -> bool:
        if first == len(singles):
            return True
        return any(
            fits(first + 1, tuple(sorted((*left[:j], left[j] - singles[first], *left[j + 1 :]))))
            for j in range(len(left))
            if left[j] >= singles[first]
        )

    return fits(0, tuple(sorted(capacities)))


def every_set(
    problem: SubsetProblem, fits: Callable[[Sequence[int], Sequence[int], Sequence[int]], bool]
) -> Score | None:
    """Best score over all sets."""
    mandatory = set(problem.mandatory)
    scores = [
        problem.score(chosen)
        for count in range(len(problem.units) + 1)
        for chosen in combinations(range(len(problem.units)), count)
        if mandatory.issubset(chosen)
        and problem.within_limits(chosen)
        and fits(*problem.of(chosen), problem.capacities)
    ]
    return max(scores, default=None)
