"""Fairness to jobs and users: overtaking, delay against first-come-first-served, users' mean waits, starvation.

References
----------
Sabin, Kochhar, Sadayappan, *Job fairness in non-preemptive job scheduling*, ICPP 2004 (fair start time);
Jain, Chiu, Hawe, *A quantitative measure of fairness*, DEC-TR-301, 1984.
"""

from __future__ import annotations

import numpy as np

from spillway.analysis.measures.compare import align
from spillway.analysis.tables.jobs import Floats, Ints, JobTable

STARVED_S = 7 * 86_400.0
"""Default patience: a job that waits longer than a week counts as starved."""


def later_share(table: JobTable, fcfs: JobTable) -> float:
    """Share of jobs that start later than in the strict FCFS run of the same workload, in [0, 1].

    Raise :class:`AnalysisError` for another workload.
    """
    ours, fair = align(table, fcfs)
    return float((ours.start_s > fair.start_s).mean())


def overtaken(table: JobTable) -> Ints:
    """For each job that ran, the number of jobs that were submitted later and started before it."""
    ran = table.ran()
    order = np.lexsort((np.arange(len(ran)), ran.submit_s))
    counts = np.zeros(len(ran), dtype=np.int64)
    counts[order] = _smaller_behind(ran.start_s[order])
    return counts


def starved(table: JobTable, patience_s: float = STARVED_S) -> int:
    """Number of jobs that waited longer than ``patience_s`` seconds."""
    return int((table.ran().wait_s > patience_s).sum())


def waits_by_user(table: JobTable) -> dict[str, tuple[int, float]]:
    """Number of jobs and mean waiting time (s) of each user; empty where the log names no users."""
    ran = table.ran()
    if not len(ran):
        return {}
    users, of_job, jobs = np.unique(np.array(ran.user), return_inverse=True, return_counts=True)
    waits_s = np.split(ran.wait_s[np.argsort(of_job, kind="stable")], np.cumsum(jobs)[:-1])
    return {
        str(user): (int(count), float(wait_s.mean()))
        for user, count, wait_s in zip(users, jobs, waits_s, strict=True)
        if user
    }


def jain(values: Floats) -> float:
    """Jain's index of fairness: 1 when all values are equal, 1/n when all but one are 0; NaN without values above 0."""
    square = float(np.sum(values * values))
    return float(np.sum(values)) ** 2 / (len(values) * square) if square > 0 else float("nan")


def _smaller_behind(values: Floats) -> Ints:
    """For each value, the number of smaller values behind it.

    Counts as merge sort does, for all blocks of one width at once: for each value in the left half of a block, the
    smaller values in its right half.
    """
    counts = np.zeros(len(values), dtype=np.int64)
    by_value = np.argsort(values, kind="stable")  # equal values keep their order: they are not counted
    for level in range(max(len(values) - 1, 0).bit_length()):
        block = by_value >> (level + 1)
        order = np.argsort(block, kind="stable")
        place, block = by_value[order], block[order]
        right = place >> level & 1
        smaller = np.cumsum(right) - right - (block << level)  # all blocks before are full, half of each on the right
        counts[place] += np.where(right, 0, smaller)
    return counts
