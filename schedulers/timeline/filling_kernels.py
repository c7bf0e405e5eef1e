"""Greedy filling of this instant in some order, and hill climbing over orders, compiled, on the timeline's own arrays.

Layout (beyond that of :mod:`spillway.schedulers.timeline.fit_kernels`)
------
``times, rows``
    The *narrow points*: the timeline's first segment and later ones with less of some resource than all before them
    (see :class:`spillway.schedulers.policykit.filling.Filling`). A job that starts now fits if it fits there until it
    ends.
``demands: int64[jobs, 6]``     as :class:`spillway.schedulers.timeline.layout.Demand`
``spans: float64[jobs, 2]``  estimated duration (s), waiting time so far (s)
``never_fits: boolean[jobs]``  whether a job does not fit even if it comes first
``order: int64[jobs]``       jobs by position
``score: float64[3]``        compared lexicographically, larger is better: nodes and bytes started (in the order that
                             ``nodes_first`` gives) and the mean waiting time of the started jobs
``machine, scratch``         the last arguments of ``find_fit``
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import int64, types

from spillway.base.kernel_cache import njit
from spillway.schedulers.timeline.fit_kernels import FREE_BYTES, FREE_NODES, demand_at, find_fit
from spillway.schedulers.timeline.kernel_types import PLAIN_MACHINE, PLAIN_SCRATCH, ROWS, TIMES, plain

_SPANS, _FLAGS = types.Array(types.float64, 2, "C"), types.Array(types.boolean, 1, "C")
_OPTIONS = {"cache": True, "error_model": "numpy"}


class Picture(NamedTuple):
    """Free resources now and later, and the jobs: as above."""

    times: npt.NDArray[np.float64]
    rows: npt.NDArray[np.int64]
    demands: npt.NDArray[np.int64]
    spans: npt.NDArray[np.float64]
    never_fits: npt.NDArray[np.bool_]
    nodes_first: bool


_PICTURE = plain(TIMES, ROWS, ROWS, _SPANS, _FLAGS, types.boolean)
"""Its type as it comes from Python (:func:`spillway.schedulers.timeline.kernel_types.plain`)."""


@njit(inline="always")  # compiled once, as part of its only caller
def _fill(order, picture, machine, scratch, left, score):
    """Start the jobs that fit now, in this order; return the position of the last one started, -1 for no job."""
    times, rows, demands, spans = picture.times, picture.rows, picture.demands, picture.spans
    for k in range(len(times)):
        for column in range(rows.shape[1]):
            left[k, column] = rows[k, column]
    usage = scratch[1]
    nodes, total_bytes, wait_s, started, last = 0, 0, 0.0, 0, -1
    for position in range(len(order)):
        if left[0, FREE_NODES] == 0:
            break
        job = order[position]
        wanted, size = demands[job, 0], demands[job, 1] * demands[job, 4]
        if picture.never_fits[job] or wanted > left[0, FREE_NODES] or size > left[0, FREE_BYTES]:
            continue
        start_s = find_fit(
            times, len(times), left, demand_at(demands, job), spans[job, 0], times[0], times[0], machine, scratch
        )
        if start_s == np.inf:
            continue
        end_s = times[0] + spans[job, 0]
        for k in range(len(times)):
            if k == 0 or times[k] < end_s:
                for column in range(len(usage)):
                    left[k, column] -= usage[column]
        nodes += wanted
        total_bytes += size
        wait_s += spans[job, 1]
        started += 1
        last = position
    score[0] = nodes if picture.nodes_first else total_bytes
    score[1] = total_bytes if picture.nodes_first else nodes
    score[2] = wait_s / started if started > 0 else 0.0
    return last


@njit(inline="always")
def _take_if_better(score, best_score):
    """Compare two scores from the left; copy the new one if it is greater, and return whether it is."""
    for k in range(len(score)):
        if score[k] != best_score[k]:
            if score[k] < best_score[k]:
                return False
            for one in range(len(score)):
                best_score[one] = score[one]
            return True
    return False


@njit(
    types.UniTuple(int64, 2)(
        types.Array(int64, 1, "C"), int64, _PICTURE, PLAIN_MACHINE, PLAIN_SCRATCH, ROWS, TIMES, TIMES
    ),
    **_OPTIONS,
)
def climb(order, budget, picture, machine, scratch, left, best_score, score):
    """Improve ``order`` by swaps, as :func:`spillway.schedulers.search.hill_climbing.climb` does.

    Returns the number of swaps evaluated (with a budget of 0 the order is only scored), and the position of the last
    job that starts in the final order, -1 for no job. ``best_score`` gets its score. Groups of arguments are plain
    tuples.
    """
    picture = Picture(*picture)
    never_fits = picture.never_fits
    for k in range(len(best_score)):
        best_score[k] = -1.0
    number, steps, last, distance, index = len(order), 0, -1, 0, 0
    while True:
        reached = _fill(order, picture, machine, scratch, left, score)
        if _take_if_better(score, best_score):
            last, distance, index = reached, 1, -1
        else:
            order[index], order[index + distance] = order[index + distance], order[index]
        while True:
            index += 1
            if index >= min(last + 1, number - distance):
                distance, index = distance + 1, 0
            if last < 0 or distance >= number or steps == budget:
                return steps, last
            steps += 1
            if not (never_fits[order[index]] and never_fits[order[index + distance]]):
                break  # otherwise neither job starts at any position: the score stays
        order[index], order[index + distance] = order[index + distance], order[index]
