"""Hill climbing over orders by swaps of growing distance.

References
----------
Kopanski, master's thesis 2020, section 3.2, Algorithm 6, lines 16-31.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.schedulers.search.permutations import Order

_Evaluate = Callable[[Order], tuple[Any, int]]
"""Score of an order (larger is better), and the last position that has any influence on it (-1: no position)."""


def climb(order: Order, evaluate: _Evaluate, budget: int) -> tuple[Order, Any, int]:
    """Improve an order until no single swap improves it, or the budget is used up.

    Positions at distance 1 are exchanged first, then at distance 2, and so on, from the front up to the last position
    that matters. The first exchange that improves the score is kept, and the search begins again.

    Parameters
    ----------
    order
        The order to start from.
    evaluate
        Function that scores an order.
    budget
        Most exchanges to evaluate.

    Returns
    -------
    order, score, evaluations
        The best order, its score, and the number of exchanges that were evaluated.

    Notes
    -----
    :class:`spillway.core.FillSearch` is a compiled version for one kind of score.
    """
    best = order.copy()
    best_score, last = evaluate(best)
    evaluations, improved = 0, True
    while improved:
        improved = False
        for position, other in _exchanges(len(best), last):
            if evaluations == budget:
                return best, best_score, evaluations
            evaluations += 1
            trial = best.copy()
            trial[[position, other]] = best[[other, position]]
            score, reached = evaluate(trial)
            if score > best_score:
                best, best_score, last, improved = trial, score, reached, True
                break
    return best, best_score, evaluations


def _exchanges(number: int, last: int) -> list[tuple[int, int]]:
    return [
        (position, position + distance)
        for distance in range(1, number)
        for position in range(min(last + 1, number - distance))
    ]
