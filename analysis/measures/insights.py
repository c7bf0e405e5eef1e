"""Further figures of a run, beyond sums over its jobs: lost capacity, fairness, time spent in I/O.

References
----------
Zhang, Franke, Moreira, Sivasubramaniam, *An integrated approach to parallel scheduling using gang-scheduling,
backfilling and migration*, IEEE TPDS 14(3), 2003, section 4.1 (loss of capacity).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from spillway.analysis.errors import AnalysisError
from spillway.analysis.measures.compare import comparable
from spillway.analysis.measures.fairness import jain, later_share, overtaken, starved, waits_by_user
from spillway.analysis.measures.metrics import makespan_s, mean, percentile
from spillway.analysis.tables.jobs import Floats, JobTable, read_contention
from spillway.analysis.tables.timelines import Steps, busy_nodes, queue_length, queued_nodes
from spillway.analysis.tables.traffic import read_io_times, read_transfers


def insights(table: JobTable, folder: Path, fcfs: JobTable | None = None) -> dict[str, float]:
    """The further figures of a run, by the names of :data:`spillway.analysis.report.columns.LOSSES`.

    NaN where the run's files do not contain them.

    Parameters
    ----------
    table
        The run.
    folder
        Its folder, for the files of the IO-Aware model.
    fcfs
        The strict FCFS run of the same workload, if there is one.
    """
    ran = table.ran()
    behind = overtaken(ran)
    by_user = np.array([wait_s for _, wait_s in waits_by_user(ran).values()])
    io_share, stretch = _io(folder)
    slowdowns = read_contention(folder / "jobs.csv")
    return {
        "loss_of_capacity": loss_of_capacity(ran),
        "idle_while_queued": idle_while_queued(ran),
        "mean_overtaken": float(behind.mean()) if behind.size else float("nan"),
        "max_overtaken": float(behind.max(initial=0)),
        "starved": float(starved(ran)),
        "later_than_fcfs": later_share(ran, fcfs) if fcfs is not None and comparable(ran, fcfs) else float("nan"),
        "fairness_of_users": jain(by_user) if by_user.size else float("nan"),
        "io_share": io_share,
        "transfer_stretch": stretch,
        "mean_contention_slowdown": mean(slowdowns),
        "max_contention_slowdown": percentile(slowdowns, 100),
    }


def _io(folder: Path) -> tuple[float, float]:
    try:
        transfers = read_transfers(folder)
        stretches = np.concatenate([part.stretch() for part in transfers.values()])
        return read_io_times(folder).io_share, float(stretches.mean()) if stretches.size else float("nan")
    except AnalysisError:
        return float("nan"), float("nan")


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
