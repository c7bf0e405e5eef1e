"""Nodes that idle although jobs wait: fragmentation, reservations, and lack of burst buffers.

References
----------
Zhang, Franke, Moreira, Sivasubramaniam, *An integrated approach to parallel scheduling using gang-scheduling,
backfilling and migration*, IEEE TPDS 14(3), 2003, section 4.1 (loss of capacity).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spillway.analysis.metrics import makespan_s
from spillway.analysis.tables import Floats, JobTable
from spillway.analysis.timelines import Steps, busy_nodes, queue_length, queued_nodes


def idle_while_queued(table: JobTable) -> float:
    """Share of the node-seconds in ``[0, makespan)`` in which a node idled while at least one job waited, in [0, 1]."""
    return _share(table, lambda idle, queued_jobs, _: idle * (queued_jobs > 0))


def loss_of_capacity(table: JobTable) -> float:
    """Share of node-seconds lost: idle nodes, but no more than waiting jobs request, over the machine, in [0, 1].

    Idle nodes that no waiting job requests are no loss.
    """
    return _share(table, lambda idle, _, queued: np.minimum(idle, queued))


def _share(table: JobTable, lost: Callable[[Floats, Floats, Floats], Floats]) -> float:
    ran = table.ran()
    nodes, end_s = len(table.machine.nodes), makespan_s(ran)
    if not nodes or end_s <= 0:
        return float("nan")
    busy, jobs, queued = busy_nodes(ran), queue_length(ran), queued_nodes(ran)
    times = _edges(end_s, busy, jobs, queued)
    begin = times[:-1]
    values = lost(nodes - busy.at(begin), jobs.at(begin), queued.at(begin))
    return float(np.sum(values * np.diff(times))) / (nodes * end_s)


def _edges(end_s: float, *functions: Steps) -> Floats:
    times = np.unique(np.concatenate([[0.0, end_s], *(function.time_s for function in functions)]))
    return times[(times >= 0) & (times <= end_s)]
