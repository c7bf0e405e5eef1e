"""The specification of the window policy for few jobs, on the table of :mod:`tests.reference.specification`.

References
----------
Kopanski's thesis 2020, section 3.3, Algorithm 7.
"""

from collections.abc import Sequence
from itertools import combinations

from tests.reference.specification import BYTES, NODES, Job, Table, use


def packs(requests: Sequence[int], room: Sequence[int]) -> bool:
    """Whether requests can be put whole onto storage nodes with so much room."""
    return not requests or any(
        packs(requests[1:], [*room[:at], left - requests[0], *room[at + 1 :]])
        for left, at in {left: at for at, left in enumerate(room) if left >= requests[0]}.items()
    )


def windows(table: Table, queue: Sequence[Job], window: Sequence[Job], balance: float = 1.0) -> list[list[Job]]:
    """Best sets of jobs to start together (Algorithm 7), by free nodes and bytes over the longest job's duration.

    For jobs of any nodes with a request for each, without rates and pools.
    """
    end_s = table.now_s + max(job.duration_s for job in window)
    nodes, room = sum(table.least(NODES, table.now_s, end_s)), table.least(BYTES, table.now_s, end_s)
    scores = list[tuple[tuple[float, float, float], list[Job]]]()
    for chosen in [[*jobs] for count in range(len(window) + 1) for jobs in combinations(window, count)]:
        requests = sorted((job.bb_bytes for job in chosen for _ in range(job.nodes) if job.bb_bytes), reverse=True)
        if sum(job.nodes for job in chosen) <= nodes and packs(requests, room):
            scores.append((use(table, queue, chosen, balance), chosen))
    return [chosen for score, chosen in scores if score == max(score for score, _ in scores)]
