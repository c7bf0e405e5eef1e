"""Algorithms 5 and 6 as in the paper, for comparison with the heap in the product."""

from spillway.schedulers.controllers.sharing import Candidate


def node_by_node(candidates: list[Candidate], idle: int, weight: float) -> list[int]:
    """Hand out node by node, with all scores worked out anew for each (Algorithm 5: weight 0)."""
    given = [0] * len(candidates)
    while idle > 0 and candidates:
        scores = [candidate.score(so_far, weight) for candidate, so_far in zip(candidates, given, strict=True)]
        if max(scores) <= 0:
            break
        given[scores.index(max(scores))] += 1
        idle -= 1
    return given
