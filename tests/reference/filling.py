"""The score of a queue order, by the timeline's own methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from spillway.core import Timeline
from spillway.schedulers.model.job import Job
from spillway.schedulers.search.subset import Score


def plain_score(
    timeline: Timeline, jobs: Sequence[Job], order: Iterable[int], estimate_s: Callable[[Job], float], nodes_first: bool
) -> tuple[Score, int]:
    """Score of an order, and the last position that starts."""
    timeline = timeline.copy()
    now_s = timeline.now_s
    nodes, size, waits, last = 0, 0, [], -1
    for position, index in enumerate(order):
        job = jobs[index]
        allocation = timeline.fit_now(job, estimate_s(job))
        if allocation is not None:
            timeline.reserve(now_s, now_s + estimate_s(job), allocation)
            nodes, size, last = nodes + job.nodes, size + job.requests * job.bb_bytes, position
            waits.append(now_s - job.submit_time_s)
    parts = (nodes, size) if nodes_first else (size, nodes)
    return Score(*parts, sum(waits) / len(waits) if waits else 0.0), last
