"""Lower bounds on the mean waiting time of any schedule: a scale for ratios between policies.

The bound holds even for schedules with known runtimes and preemption: each resource is treated as a single machine that
jobs share in any proportion. It is weak where few jobs wait, and tight where one resource is scarce.

References
----------
Goemans, *Improved approximation algorithms for scheduling with release dates*, SODA 1997: the relaxation by mean busy
times, for which the preemptive order by least work is optimal; Turek et al., SPAA 1994, for areas of parallel jobs.
"""

from __future__ import annotations

import heapq

import numpy as np

from spillway.analysis.tables.jobs import Floats, JobTable


def least_mean_wait_s(table: JobTable) -> float:
    """Lower bound on the mean wait (s) of the jobs that ran, in any order; 0 where no resource is scarce.

    Runtimes are those of the run. Where transfers contend, another order would change them; the bound then holds for
    these runtimes only. NaN without jobs.
    """
    ran = table.ran()
    if not len(ran):
        return float("nan")
    nodes = ran.nodes * ran.execution_s / max(len(table.machine.nodes), 1)
    bounds = [least_sum_of_waits_s(ran.submit_s, ran.execution_s, nodes)]
    capacity = table.machine.total_storage_bytes
    if capacity:
        bounds.append(
            least_sum_of_waits_s(
                ran.submit_s, ran.execution_s, ran.bb_bytes * ran.requests * ran.execution_s / capacity
            )
        )
    return max(bounds) / len(ran)


def least_sum_of_waits_s(submit_s: Floats, run_s: Floats, work_s: Floats) -> float:
    """Least sum of waits (s) of jobs on one resource.

    Parameters
    ----------
    submit_s, run_s
        Submissions and runtimes.
    work_s
        Share of the resource times runtime: the runtime (s) of the job on the whole resource.

    Notes
    -----
    A job that holds its share from start to end has its mean busy time in the middle of its run, and ends half a run
    later. The sum of the mean busy times is least where the resource always works on the job with least work.
    """
    needs = work_s > 0
    busy = _mean_busy_s(submit_s[needs], work_s[needs])
    waits = float((busy - run_s[needs] / 2.0 - submit_s[needs]).sum())
    return max(waits, 0.0)


def _mean_busy_s(submit_s: Floats, work_s: Floats) -> Floats:
    """Mean busy time of each job on one machine that always works on the submitted job with least work."""
    order = np.lexsort((work_s, submit_s)).tolist()
    submitted, left = submit_s.tolist(), work_s.tolist()
    moments = np.zeros(len(left))
    waiting: list[tuple[float, int]] = []
    now, place = 0.0, 0
    while place < len(order) or waiting:
        if not waiting:
            now = max(now, submitted[order[place]])
        while place < len(order) and submitted[order[place]] <= now:
            heapq.heappush(waiting, (float(work_s[order[place]]), order[place]))
            place += 1
        job = waiting[0][1]
        done_s = now + left[job]
        until = min(done_s, submitted[order[place]]) if place < len(order) else done_s
        moments[job] += (until - now) * (until + now) / 2.0
        left[job] -= until - now
        now = until
        if until == done_s:
            heapq.heappop(waiting)
    return np.asarray(moments / work_s, np.float64)
