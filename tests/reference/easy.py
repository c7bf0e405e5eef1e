"""EASY backfilling by totals in plain code: free resources at an instant are added up anew each time."""

from __future__ import annotations

import math
from collections.abc import Sequence

Busy = tuple[float, float, int, int]
"""From, until (s), nodes and bytes that are held."""


def easy_starts(free: Sequence[tuple[float, int, int]], waiting: Sequence[tuple[int, int, float]]) -> list[float]:
    """Start of each job in the order given, as :func:`spillway.core.easy_starts` has them.

    ``free``: starts of segments with nodes and bytes free from then on; ``waiting``: nodes, bytes, duration (s).
    """
    begun: list[Busy] = []
    starts = [math.inf] * len(waiting)
    left = list(range(len(waiting)))

    def fits(job: int, at_s: float, reserved: Sequence[Busy] = ()) -> bool:
        nodes, size, duration_s = waiting[job]
        held = [*begun, *reserved]
        marks = {at_s, *(begin for begin, *_ in free), *(time for busy in held for time in busy[:2])}
        for mark in marks:
            if at_s == mark or at_s <= mark < at_s + duration_s:
                _, free_nodes, free_size = max(entry for entry in free if entry[0] <= mark)
                running = [busy for busy in held if busy[0] <= mark < busy[1]]
                if free_nodes - sum(busy[2] for busy in running) < nodes:
                    return False
                if free_size - sum(busy[3] for busy in running) < size:
                    return False
        return True

    def instants() -> list[float]:
        return sorted({*(begin for begin, *_ in free), *(busy[1] for busy in begun if busy[1] < math.inf)})

    now_s: float | None = free[0][0]
    while left and now_s is not None:
        reserved: list[Busy] = []
        for job in list(left):
            nodes, size, duration_s = waiting[job]
            if fits(job, now_s, reserved):
                begun.append((now_s, now_s + duration_s, nodes, size))
                starts[job] = now_s
                left.remove(job)
            elif not reserved:
                later = [at_s for at_s in instants() if at_s > now_s and fits(job, at_s)]
                if later:
                    reserved.append((later[0], later[0] + duration_s, nodes, size))
        now_s = next((at_s for at_s in instants() if at_s > now_s), None)
    return starts
