"""Which jobs and users pay for the others: overtaking, delay against first-come-first-served, users, starvation.

References
----------
Sabin, Kochhar, Sadayappan, *Job fairness in non-preemptive job scheduling*, ICPP 2004 (fair start time);
Jain, Chiu, Hawe, *A quantitative measure of fairness*, DEC-TR-301, 1984.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.compare import align
from analysis.tables import Floats, Ints, JobTable

STARVED_S = 7 * 86_400.0
"""Default patience: a job that waits longer than a week counts as starved."""


@dataclass(frozen=True)
class AgainstFcfs:
    """Starts compared with those of the strict first-come-first-served schedule of the same jobs.

    Attributes
    ----------
    later_share
        Share of jobs that start later than there, in [0, 1].
    mean_delay_s
        Mean over all jobs of how much later (0 for those that start earlier).
    worst_delay_s
        The largest of these delays.
    """

    later_share: float
    mean_delay_s: float
    worst_delay_s: float


def against_fcfs(table: JobTable, fcfs: JobTable) -> AgainstFcfs:
    """Compare a run with the strict FCFS run of the same workload; :class:`AnalysisError` for another workload."""
    ours, fair = align(table, fcfs)
    delay_s = np.maximum(ours.start_s - fair.start_s, 0.0)
    return AgainstFcfs(float((delay_s > 0).mean()), float(delay_s.mean()), float(delay_s.max()))


def overtaken(table: JobTable) -> Ints:
    """For each job that ran, how many jobs that were submitted later started before it."""
    ran = table.ran()
    order = np.lexsort((np.arange(len(ran)), ran.submit_s))
    starts = ran.start_s[order]
    ranks = np.searchsorted(np.unique(starts), starts)
    counts = np.zeros(len(ran), dtype=np.int64)
    tree = np.zeros(len(ran) + 2, dtype=np.int64)
    for position in range(len(ran) - 1, -1, -1):
        counts[order[position]] = _below(tree, int(ranks[position]))
        _add(tree, int(ranks[position]))
    return counts


def starved(table: JobTable, patience_s: float = STARVED_S) -> int:
    """Number of jobs that waited longer than ``patience_s`` seconds."""
    return int((table.ran().wait_s > patience_s).sum())


def waits_by_user(table: JobTable) -> dict[str, tuple[int, float]]:
    """Number of jobs and mean waiting time (s) of each user; empty where the log names none."""
    ran = table.ran()
    users = np.array(ran.user)
    return {
        str(user): (int((users == user).sum()), float(ran.wait_s[users == user].mean()))
        for user in np.unique(users)
        if user
    }


def jain(values: Floats) -> float:
    """Jain's index of fairness: 1 when all values are equal, 1/n when one has everything; NaN for no values."""
    square = float(np.sum(values * values))
    return float(np.sum(values)) ** 2 / (len(values) * square) if square > 0 else float("nan")


def _below(tree: Ints, rank: int) -> int:
    """Number of added ranks smaller than ``rank`` (binary indexed tree)."""
    total, index = 0, rank
    while index > 0:
        total += int(tree[index])
        index -= index & -index
    return total


def _add(tree: Ints, rank: int) -> None:
    index = rank + 1
    while index < len(tree):
        tree[index] += 1
        index += index & -index
