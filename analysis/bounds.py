"""What no schedule of some jobs can be better than: a scale for ratios between policies.

The bound is for all schedules that know every runtime and may stop jobs at any time: each resource by itself is a
single machine that jobs share as they like. It is weak where little waits, and close where one resource is short.

References
----------
Goemans, *Improved approximation algorithms for scheduling with release dates*, SODA 1997: the relaxation by mean busy
times, of which the preemptive order by least work is optimal; Turek et al., SPAA 1994, for areas of parallel jobs.
"""

from __future__ import annotations

import heapq

import numpy as np

from spillway.analysis.tables import Floats, JobTable


def least_mean_wait_s(table: JobTable) -> float:
    """Seconds that the jobs which ran wait on the average at least, whatever the order; 0 where nothing is short.

    Runtimes are those of the run: in a run whose transfers contend they would differ under another order, so that the
    bound is then of jobs that run so long. NaN without jobs.
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
        Share of the resource times runtime: seconds that the job would take with all of it.

    Notes
    -----
    A job that holds its share from start to end is busy in the middle of its run on the average, so it ends half a run
    after its mean busy time; and the sum of these is least where the resource always works on the job with least work.
    """
    needs = work_s > 0
    busy = _mean_busy_s(submit_s[needs], work_s[needs])
    waits = float((busy - run_s[needs] / 2.0 - submit_s[needs]).sum())
    return max(waits, 0.0)


def _mean_busy_s(submit_s: Floats, work_s: Floats) -> Floats:
    """Mean times at which one machine works on each job if it always works on the least job that is there."""
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
