"""Least waits: by hand, below the best of all orders of small cases, and below every policy."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.analysis.measures.bounds import least_mean_wait_s, least_sum_of_waits_s
from spillway.analysis.tables.jobs import Host, MachineInfo
from tests.analysis.samples import make_table


def test_two_jobs_on_the_whole_machine() -> None:
    """Both need all of it from 0 on, 10 s and 100 s: the longer waits 10 s, and the bound is exact."""
    jobs = np.zeros(2), np.array([10.0, 100.0]), np.array([10.0, 100.0])
    assert least_sum_of_waits_s(*jobs) == pytest.approx(10.0)


def test_a_longer_job_is_interrupted() -> None:
    """100 s from 0 on, worked on in [0, 50] and [60, 110]: busy at 55 on the average, less half a run 5 s. 10 s at 50,
    at once. (Without interruption the short one waits 50 s.)"""
    submit, run = np.array([0.0, 50.0]), np.array([100.0, 10.0])
    assert least_sum_of_waits_s(submit, run, run) == pytest.approx(5.0)


def test_where_nothing_is_short_nothing_waits() -> None:
    """Two jobs of a tenth of the machine; and jobs that need nothing of a resource."""
    jobs = np.zeros(2), np.array([10.0, 100.0]), np.array([1.0, 10.0])
    assert least_sum_of_waits_s(*jobs) == 0.0
    assert least_sum_of_waits_s(jobs[0], jobs[1], np.zeros(2)) == 0.0


def test_remainders_below_the_clocks_resolution_end() -> None:
    """Late and many: a remainder that no longer moves the clock is done."""
    rng = np.random.default_rng(1)
    submit = np.sort(rng.uniform(3e7, 3.0001e7, 2000))
    run = rng.uniform(0.1, 3.0, 2000)
    assert least_sum_of_waits_s(submit, run, run / 3.0) >= 0.0


JOBS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 30), st.integers(1, 4)), min_size=1, max_size=5)


@settings(max_examples=60)
@given(JOBS)
def test_below_the_best_of_all_orders(jobs: list[tuple[int, int, int]]) -> None:
    """Four nodes; every order, each job as early as it fits beside those before it. One of them is a best schedule."""
    submit, run, nodes = (np.array(column, float) for column in zip(*jobs, strict=True))
    best = min(_waits(jobs, order) for order in permutations(range(len(jobs))))
    assert least_sum_of_waits_s(submit, run, nodes * run / 4) <= best + 1e-9


def _waits(jobs: list[tuple[int, int, int]], order: tuple[int, ...]) -> float:
    used = [0] * 400
    waits = 0
    for number in order:
        submitted, run, nodes = jobs[number]
        start = next(t for t in range(submitted, 400) if all(used[s] + nodes <= 4 for s in range(t, t + run)))
        for second in range(start, start + run):
            used[second] += nodes
        waits += start - submitted
    return waits


def test_the_larger_bound_of_nodes_and_burst_buffers_counts() -> None:
    """Two jobs of one node of four and of all bytes: in turn; 10 s of waiting for two jobs, 5 on the average."""
    table = make_table([(0, 0, 1, 10), (0, 10, 1, 10)])
    machine = MachineInfo(tuple(Host(i, f"n{i}") for i in range(4)), (Host(4, "s", 100),))
    table = replace(table, machine=machine, bb_bytes=np.array([100.0, 100.0]))
    assert least_mean_wait_s(table) == pytest.approx(5.0)
