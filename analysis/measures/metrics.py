"""Metrics of one run: pure functions of a job table.

Every metric is about the jobs that *ran*; rejected and cancelled jobs are counted apart. Batsim's own summary divides
by all jobs, rejected ones included, and therefore reports smaller means.

References
----------
Feitelson, Rudolph, *Metrics and benchmarking for parallel job scheduling*, JSSPP 1998 (slowdown, bounded slowdown);
Zotkin, Keleher, *Job-length estimation and performance in backfilling schedulers*, HPDC 1999 (per-processor slowdown);
Kopanski, master's thesis 2020, section 4.1 (the figures that this project reproduces).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from spillway.analysis.tables.holdings import byte_seconds, byte_seconds_by_storage, node_seconds
from spillway.analysis.tables.jobs import Floats, JobTable

SHORTEST_EXECUTION_S = 1e-5
"""Batsim's shortest execution; guards the slowdown of jobs without work."""


def slowdown(table: JobTable) -> Floats:
    """Turnaround time over execution time of each job (Batsim's ``stretch``).

    The execution time of a job that was pre-empted is the time that it received: waiting for a turn slows it down.
    """
    return table.turnaround_s / np.maximum(table.execution_s, SHORTEST_EXECUTION_S)


def bounded_slowdown(table: JobTable, tau_s: float) -> Floats:
    """Slowdown in which short jobs count as if they ran for ``tau_s``: ``max(1, turnaround / max(run, tau))``."""
    return np.maximum(1.0, table.turnaround_s / np.maximum(table.execution_s, _positive(tau_s)))


def per_processor_bounded_slowdown(table: JobTable, tau_s: float) -> Floats:
    """Bounded slowdown in relation to the nodes held: ``max(1, turnaround / (nodes * max(run, tau)))``."""
    return np.maximum(1.0, table.turnaround_s / (table.nodes * np.maximum(table.execution_s, _positive(tau_s))))


def makespan_s(table: JobTable) -> float:
    """End of the last job in simulated seconds from t = 0 (as Batsim reports it); 0 when no job ran."""
    ran = table.finish_s[table.executed]
    return float(ran.max()) if ran.size else 0.0


def compute_utilisation(table: JobTable) -> float:
    """Share of the node-seconds in ``[0, makespan)`` that jobs held, in [0, 1]; NaN for an unknown machine.

    Jobs that share nodes in time hold them in their own slices only.
    """
    return _share(node_seconds(table), len(table.machine.nodes) * makespan_s(table))


def storage_utilisation(table: JobTable) -> float:
    """Share of the machine's burst-buffer byte-seconds in ``[0, makespan)`` that jobs held, in [0, 1].

    A job holds ``bb_bytes`` for each of its nodes while it runs, pre-empted or not, or over the intervals that the run
    states (:mod:`spillway.analysis.tables.holdings`). (The thesis's figures leave out the number of nodes and divide by
    an eighth of the capacity; they cannot be compared.) NaN where capacity or requests are unknown.
    """
    return _share(byte_seconds(table), table.machine.total_storage_bytes * makespan_s(table))


def storage_hot_spot(table: JobTable) -> float:
    """Most byte-seconds that jobs held on one storage node, over the mean of all storage nodes: 1 where all are equal.

    At most the number of storage nodes, where one node had all bytes. NaN where nothing was held, or the storage nodes
    of the requests are unknown.
    """
    held = byte_seconds_by_storage(table)
    return _share(float(held.max(initial=0.0)), float(held.mean()) if held.size else 0.0)


def percentile(values: Floats, percent: float) -> float:
    """Percentile with linear interpolation; NaN for no values."""
    return float(np.percentile(values, percent)) if values.size else float("nan")


def mean(values: Floats) -> float:
    """Arithmetic mean; NaN for no values."""
    return float(values.mean()) if values.size else float("nan")


@dataclass(frozen=True)
class Summary:
    """The figures of one run, for a summary table. See the functions of the same names."""

    jobs: int
    rejected: int
    cancelled: int
    killed: int
    mean_waiting_time_s: float
    median_waiting_time_s: float
    p95_waiting_time_s: float
    p99_waiting_time_s: float
    max_waiting_time_s: float
    mean_turnaround_time_s: float
    mean_slowdown: float
    mean_bounded_slowdown: float
    mean_pp_bounded_slowdown: float
    makespan_s: float
    compute_utilisation: float
    storage_utilisation: float
    storage_hot_spot: float

    def as_dict(self) -> dict[str, float]:
        """Return the figures by name, in the order of the columns."""
        return asdict(self)


def summarise(table: JobTable, tau_s: float) -> Summary:
    """Compute a run's summary. ``jobs`` counts the jobs that ran; ``tau_s`` bounds the bounded slowdowns."""
    ran, cancelled = table.ran(), int(table.cancelled.sum())
    wait_s = ran.wait_s
    return Summary(
        jobs=len(ran),
        rejected=len(table) - len(ran) - cancelled,
        cancelled=cancelled,
        killed=int(ran.killed.sum()) if len(ran) else 0,
        mean_waiting_time_s=mean(wait_s),
        median_waiting_time_s=percentile(wait_s, 50),
        p95_waiting_time_s=percentile(wait_s, 95),
        p99_waiting_time_s=percentile(wait_s, 99),
        max_waiting_time_s=percentile(wait_s, 100),
        mean_turnaround_time_s=mean(ran.turnaround_s),
        mean_slowdown=mean(slowdown(ran)),
        mean_bounded_slowdown=mean(bounded_slowdown(ran, tau_s)),
        mean_pp_bounded_slowdown=mean(per_processor_bounded_slowdown(ran, tau_s)),
        makespan_s=makespan_s(ran),
        compute_utilisation=compute_utilisation(ran),
        storage_utilisation=storage_utilisation(ran),
        storage_hot_spot=storage_hot_spot(ran),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def _positive(tau_s: float) -> float:
    if not tau_s > 0:
        raise ValueError(f"tau must be a positive number of seconds, got {tau_s!r}")
    return tau_s
