"""Branch and bound for choosing items that fit together: exact, with the remaining gap when the budget is used up.

Items are taken or left out one by one, largest size first. A branch is cut when even its bound cannot beat the best set
known; the bound treats all bins as one, and is exact in units (tables over all sums of units). After each item taken,
:mod:`spillway.schedulers.search.packing` decides whether the set fits; a set that does not fit cuts its whole branch.
The search begins with good sets from several greedy fillings, so that mostly only a proof remains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spillway.core import branch_and_bound as native
from spillway.schedulers.search.packing import Packing
from spillway.schedulers.search.subset import Score, SubsetProblem, SubsetResult

_Settle = Callable[[tuple[int, ...]], Packing]
"""A second method to find whether a set of the problem's items can be packed."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on the work of a choice.

    Attributes
    ----------
    steps
        Steps of the whole search: sets evaluated and steps of packing (some 50 million per second).
    pack_steps
        Steps of packing one set, after which it is left undecided.
    table_cells
        Most cells of the table of sums of waits; larger problems have a weaker bound for the third part of the score.
    """

    steps: int = 1_000_000
    pack_steps: int = 100_000
    table_cells: int = 2_000_000


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
    choice = native(
        problem.units, problem.sizes, problem.waits, problem.free_units, problem.capacities, problem.units_first,
        problem.mandatory, problem.loads, problem.load_limits, budget.steps, budget.pack_steps, budget.table_cells,
        None if settle is None else _answers(settle),
    )  # fmt: skip
    chosen = None if choice.chosen is None else tuple(choice.chosen)
    score = None if chosen is None else problem.score(chosen)
    bound = None if choice.bound is None else Score(int(choice.bound[0]), int(choice.bound[1]), choice.bound[2])
    return SubsetResult(chosen, choice.taken, score, score if choice.proven else bound, choice.steps)


def _answers(settle: _Settle) -> Callable[[list[int]], tuple[int, list[int]]]:
    """The second method with its answers as the core takes them: a code, and the packing item by item."""

    def answer(chosen: list[int]) -> tuple[int, list[int]]:
        packing = settle(tuple(chosen))
        return packing.verdict.value, packing.taken.ravel().tolist()

    return answer
