"""Queue orders: a key function each, except a site's priorities. Smaller keys come first, equal ones as submitted.

Submission counts, also for jobs that others held, and for jobs that wait again. In every order jobs of a partition with
a higher tier come before all others (:func:`in_tiers`).

References
----------
WFP3 and UNICEF: Tang, Lan, Desai, Buettner, *Fault-aware, utility-based job scheduling on Blue Gene/P systems*,
CLUSTER 2009. F1-F4: Carastan-Santos, de Camargo, *Obtaining dynamic scheduling policies with simulation and machine
learning*, SC 2017, Table 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from spillway.core import WaitingJobs
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.slurm.priority import priorities_of
from spillway.schedulers.policykit.view import View

Key = Callable[[Job, float], float]
"""Key of a job at a time (s)."""

LONGEST_S = 1e9
"""Walltime in keys of a job without one (s; about 32 years)."""


def _walltime(job: Job) -> float:
    return min(job.walltime_s, LONGEST_S)


def _node_bytes(job: Job) -> float:
    """Burst-buffer bytes per node; of a striped buffer the share of a node."""
    return job.bb_bytes * job.stripes / job.nodes if job.stripes else job.bb_bytes


def _wait(job: Job, now_s: float) -> float:
    return max(0.0, now_s - job.submit_time_s)


def submission(job: Job, now_s: float) -> float:
    """First come, first served."""
    return job.number


def shortest(job: Job, now_s: float) -> float:
    """Shortest walltime first (SJF)."""
    return job.walltime_s


def longest(job: Job, now_s: float) -> float:
    """Longest walltime first."""
    return -_walltime(job)


def fewest_nodes(job: Job, now_s: float) -> float:
    """Narrowest job first."""
    return job.nodes


def most_nodes(job: Job, now_s: float) -> float:
    """Widest job first."""
    return -job.nodes


def _smallest_area(job: Job, now_s: float) -> float:
    """Fewest requested node-seconds first."""
    return job.nodes * _walltime(job)


def _smallest_burst_buffer(job: Job, now_s: float) -> float:
    """Smallest burst buffer in total first."""
    return job.bb_bytes * job.requests


def _largest_burst_buffer(job: Job, now_s: float) -> float:
    """Largest burst buffer in total first."""
    return -job.bb_bytes * job.requests


def _smallest_node_burst_buffer(job: Job, now_s: float) -> float:
    """Smallest burst buffer per node first."""
    return _node_bytes(job)


def _largest_node_burst_buffer(job: Job, now_s: float) -> float:
    """Largest burst buffer per node first."""
    return -_node_bytes(job)


def _lowest_ratio(job: Job, now_s: float) -> float:
    """Smallest burst buffer per node, divided by the number of nodes, first: the thesis's ratio."""
    return _node_bytes(job) / job.nodes


def _highest_ratio(job: Job, now_s: float) -> float:
    """Largest burst buffer per node, divided by the number of nodes, first: the thesis's ratio."""
    return -_node_bytes(job) / job.nodes


def _least_bandwidth(job: Job, now_s: float) -> float:
    """Least I/O rate of all its nodes together first."""
    return job.io_rate * job.nodes


def _most_bandwidth(job: Job, now_s: float) -> float:
    """Largest I/O rate of all its nodes together first."""
    return -job.io_rate * job.nodes


def _expansion_factor(job: Job, now_s: float) -> float:
    """Longest wait in relation to the walltime first: largest (wait + walltime) / walltime."""
    return -(_wait(job, now_s) + _walltime(job)) / _walltime(job)


def wfp3(job: Job, now_s: float) -> float:
    """WFP3: largest (wait / walltime)^3 x nodes first."""
    return -((_wait(job, now_s) / _walltime(job)) ** 3) * job.nodes


def unicef(job: Job, now_s: float) -> float:
    """UNICEF: largest wait / (log2(nodes) x walltime) first."""
    return -_wait(job, now_s) / (max(math.log2(max(job.nodes, 1)), 1.0) * _walltime(job))


def f1(job: Job, now_s: float) -> float:
    """F1: log10(walltime) x nodes + 870 x log10(submission time)."""
    return math.log10(max(_walltime(job), 1.0)) * job.nodes + 870.0 * math.log10(max(job.submit_time_s, 1.0))


def f2(job: Job, now_s: float) -> float:
    """F2: sqrt(walltime) x nodes + 25600 x log10(submission time)."""
    return math.sqrt(_walltime(job)) * job.nodes + 25600.0 * math.log10(max(job.submit_time_s, 1.0))


def f3(job: Job, now_s: float) -> float:
    """F3: walltime x nodes + 6860000 x log10(submission time)."""
    return _walltime(job) * job.nodes + 6860000.0 * math.log10(max(job.submit_time_s, 1.0))


def f4(job: Job, now_s: float) -> float:
    """F4: walltime x sqrt(nodes) + 530000 x log10(submission time)."""
    return _walltime(job) * math.sqrt(job.nodes) + 530000.0 * math.log10(max(job.submit_time_s, 1.0))


ORDERS: dict[str, Key] = {
    "fcfs": submission,
    "sjf": shortest,
    "longest": longest,
    "narrow": fewest_nodes,
    "wide": most_nodes,
    "area": _smallest_area,
    "small-bb": _smallest_burst_buffer,
    "large-bb": _largest_burst_buffer,
    "small-node-bb": _smallest_node_burst_buffer,
    "large-node-bb": _largest_node_burst_buffer,
    "low-ratio": _lowest_ratio,
    "high-ratio": _highest_ratio,
    "small-io": _least_bandwidth,
    "large-io": _most_bandwidth,
    "expansion": _expansion_factor,
    "wfp3": wfp3,
    "unicef": unicef,
    "f1": f1,
    "f2": f2,
    "f3": f3,
    "f4": f4,
}
"""Keys of queue orders by their name on the command line."""

_FIELDS = {"sjf": attrgetter("walltime_s", "number"), "narrow": attrgetter("nodes", "number")}
"""Orders by a field of jobs: sorting needs no call into Python."""

MULTIFACTOR = "multifactor"
"""The order of the site's priorities (:mod:`spillway.schedulers.policykit.slurm.priority`)."""

ORDER_NAMES = (*ORDERS, MULTIFACTOR)
"""Queue orders by their name on the command line."""

CHANGING = frozenset({"expansion", "wfp3", "unicef", MULTIFACTOR})
"""Orders with keys that change with time; in all others a job's keys are constant."""

THESIS_STARTS = (
    "fcfs", "wide", "large-node-bb", "high-ratio", "low-ratio", "narrow", "small-node-bb", "sjf", "longest",
)  # fmt: skip
"""Nine starting orders of a search (end of section 3.2), in the sequence of its code: the first of equals wins."""


def key_column(jobs: Iterable[Job], order: str, now_s: float) -> list[float]:
    """Keys of jobs for a queue order (a name of :data:`ORDERS`)."""
    key = ORDERS[order]
    return [key(job, now_s) for job in jobs]


def in_tiers(view: View, jobs: Sequence[Job]) -> Sequence[Job]:
    """Jobs of higher tiers first, each tier in the given order; a job of several partitions has the highest."""
    if not view.machine.partitions:
        return jobs
    tiers = [partition.tier for partition in view.machine.partitions]
    if min(tiers) == max(tiers):
        return jobs
    return sorted(jobs, key=lambda job: -max((tiers[place] for place in job.partitions), default=0))


def ordered(view: View, jobs: Iterable[Job], order: str) -> Sequence[Job]:
    """Jobs in a queue order (a name of :data:`ORDER_NAMES`), those of higher tiers first.

    The input must be in order of submission for ``fcfs``.
    """
    if order == "fcfs" and not view.machine.partitions:
        return _in_order(jobs)
    found = in_one_tier(view, jobs, order)
    return found if order == MULTIFACTOR else in_tiers(view, found)


def _in_order(jobs: Iterable[Job]) -> Sequence[Job]:
    """Jobs in order of submission, as a sequence that does not change."""
    return jobs if isinstance(jobs, (WaitingJobs, tuple)) else list(jobs)


def in_one_tier(view: View, jobs: Iterable[Job], order: str) -> Sequence[Job]:
    """Like :func:`ordered`, but except in the order ``multifactor`` without regard to tiers."""
    if order == "fcfs":
        return _in_order(jobs)
    if order == MULTIFACTOR:
        priorities = priorities_of(view)
        found = priorities.ordered(jobs)
        if view.notes is not None:
            view.notes.priorities.update(priorities.explained(found))
        return found
    if order in _FIELDS:
        return sorted(jobs, key=_FIELDS[order])
    key, now_s = ORDERS[order], view.now_s
    return sorted(jobs, key=lambda job: (key(job, now_s), job.number))


def positions(jobs: Sequence[Job], orders: Iterable[str], now_s: float) -> Iterator[npt.NDArray[np.int32]]:
    """Yield the positions of jobs in each of several queue orders: those of :func:`ordered`.

    Parameters
    ----------
    jobs
        The jobs, in order of submission.
    orders
        Names of :data:`ORDERS`.
    now_s
        Current time (s).
    """
    numbers = np.array([job.number for job in jobs], np.int64)
    for name in orders:
        yield np.lexsort((numbers, np.array(key_column(jobs, name, now_s), np.float64))).astype(np.int32)
