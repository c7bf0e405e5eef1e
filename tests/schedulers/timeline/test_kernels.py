"""The timeline's kernels as other kernels use them: on raw arrays."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.timeline import Timeline
from spillway.schedulers.timeline.fit_kernels import USE_NODES, USE_STORAGES, book, find_fit
from tests.schedulers.machine_strategies import job


@njit
def _plan(times, count, rows, demands, durations_s, starts_s, machine, scratch):
    """Place jobs in order, each at its earliest start; the number of segments afterwards."""
    for index in range(len(demands)):
        demand = (demands[index, 0], demands[index, 1], 0, demands[index, 2], demands[index, 0], 0)
        start_s = find_fit(times, count, rows, demand, durations_s[index], times[0], np.inf, machine, scratch)
        starts_s[index] = start_s
        if start_s < np.inf:
            count = book(times, count, rows, start_s, start_s + durations_s[index], scratch[1], 1)
    return count


def test_a_plan_in_a_kernel_is_the_plan_in_python() -> None:
    """Sixty jobs on eight nodes and two storages: same starts, same timeline."""
    timeline = Timeline(simple_machine(8, 2, 20))
    jobs = [job(1 + 3 * i % 8, (0, 3, 7)[i % 3]) for i in range(60)]
    durations_s = np.array([1.0 + 7 * i % 13 for i in range(60)])
    tables = timeline.arrays[2]
    tables.make_room(200)
    times, rows = np.empty(200), np.empty((200, len(tables.capacity)), np.int64)
    times[0], rows[0] = 0.0, tables.capacity
    demands = [(j.nodes, j.bb_bytes, USE_NODES | (USE_STORAGES if j.bb_bytes else 0)) for j in jobs]
    starts_s = np.zeros(60)
    count = _plan(times, 1, rows, np.array(demands), durations_s, starts_s, tables.for_kernels, tables.scratch)
    expected_s = []
    for requested, duration_s in zip(jobs, durations_s.tolist(), strict=True):
        fit = timeline.earliest_fit(requested, duration_s)
        expected_s.append(fit.start_s if fit else math.inf)
        if fit:
            timeline.reserve(fit.start_s, fit.start_s + duration_s, fit.allocation)
    assert starts_s.tolist() == expected_s
    assert times[:count].tolist() == timeline.breakpoints()
    assert (rows[:count] == timeline.arrays[1]).all()
