"""Measures of an execution by hand; the paper's Figure 2."""

import numpy as np
import pytest

from spillway.experiments.studies.jeannot.measures import DRAWN, Execution, bound, drift, measure
from spillway.experiments.studies.jeannot.play import execute, play
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Allocation, Job
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.models.jeannot import PROTOCOLS, periodic_job
from tests.experiments.studies.jeannot.points import point


def finished(number: int, nodes: int, alone_s: float, start_s: float, end_s: float) -> JobRecord:
    """A job that ran, half of it I/O."""
    profile = {"periods": {"count": 1, "compute_s": alone_s / 2, "io_bytes": alone_s / 2 * 10}}
    job = Job(f"w0!{number}", number, 0.0, float("inf"), nodes, 0, 0, "p", profile, {"requested_s": alone_s})
    return JobRecord(job, Allocation(tuple(range(nodes))), start_s, end_s)


def test_an_execution_by_hand() -> None:
    """4 processors, 100 s. Job 0: 2 processors from 0 to 50 s (40 uncontended), computes until 25. Job 1: four from 50
    to 100 s (50 uncontended), computes until 75 s. In between transfers."""
    execution = Execution(
        [finished(0, 2, 40.0, 0.0, 50.0), finished(1, 4, 50.0, 50.0, 100.0)],
        computing=[(0.0, 25.0, 2), (50.0, 75.0, 4)],
        transferring=[(75.0, 100.0), (25.0, 40.0), (30.0, 45.0)],
    )
    assert execution.in_use() == [(25.0, 45.0), (75.0, 100.0)]
    found = measure(execution, 4, 10.0)
    assert (found["makespan_s"], found["jobs_at_a_time"]) == (100.0, 1.0)
    assert found["utilisation"] == pytest.approx((25 * 2 + 25 * 4) / 400)
    assert found["idle"] == pytest.approx(1 - (50 * 2 + 50 * 4) / 400)
    assert (found["mean_stretch"], found["max_stretch"]) == (1.125, 1.25)
    course = {
        name: [found[f"{name} {part}"] for part in range(DRAWN)] for name in ("allocated", "computing", "running")
    }
    assert course["allocated"] == [0.5] * 12 + [0.75] + [1.0] * 12
    assert course["computing"][:6] == [0.5] * 6
    assert course["computing"][6] == pytest.approx(0.125)
    assert sum(found[f"transferring {part}"] for part in range(DRAWN)) / DRAWN == pytest.approx(0.45)
    assert course["running"] == [1.0] * DRAWN
    assert found["allocated drift"] == found["allocated change"] == pytest.approx(0.5 / 0.75)
    assert found["fall"] == pytest.approx(0.5)


def test_a_course_that_does_not_change_has_no_drift() -> None:
    """Also one that is 0 all the time."""
    assert (drift(np.full(50, 0.3)), drift(np.zeros(50))) == (0.0, 0.0)


def test_bandwidth_keeps_a_job_that_would_fit() -> None:
    """8 nodes. Job 0 takes 4 of them and 0.7 of the bandwidth for 10 s; job 1 needs 4 and 0.4: kept until 10 s.

    With 0.3 it is not bandwidth that it waits for, nor with 5 nodes.
    """
    start, end, rates = np.array([0.0, 10.0]), np.array([10.0, 20.0]), np.array([0.7, 0.4])
    assert bound(start, end, np.array([4.0, 4.0]), rates, 8) == 0.5
    assert bound(start, end, np.array([4.0, 4.0]), np.array([0.7, 0.3]), 8) == 0.0
    assert bound(start, end, np.array([4.0, 5.0]), rates, 8) == 0.0


def two_jobs(**second: float) -> Workload:
    """Two periodic jobs on half of Mira each, of 10 periods of 60 s and 40 s of I/O, the second one with changes."""
    protocol = PROTOCOLS["M"]
    jobs, profiles = [], {}
    for number, changes in ((1, {}), (2, second)):
        compute, transfer = changes.get("compute", 60.0), changes.get("transfer", 40.0)
        job, profile = periodic_job(number, 0.0, 48, 10, compute, transfer * protocol.bandwidth, protocol.bandwidth)
        jobs.append(job)
        profiles[job.profile] = profile
    return Workload("two", 96, tuple(jobs), profiles)


def test_figure_2_synchronises_through_the_whole_experiment() -> None:
    """Two identical applications of 10 x (60 + 40 s): the second waits 40 s once; stretches 1 and 1.04."""
    execution = execute(point(family="M-No"), two_jobs())
    assert [record.end_s for record in execution.records] == pytest.approx([1000.0, 1040.0], abs=1e-3)
    assert [record.io_wait_s for record in execution.records] == pytest.approx([0.0, 40.0], abs=1e-3)
    assert sum(end - start for start, end in execution.in_use()) == pytest.approx(800.0, abs=1e-3)
    assert sum(end - start for start, end, _ in execution.computing) == pytest.approx(1200.0, abs=1e-3)
    assert measure(execution, 96, 240e9)["max_stretch"] == pytest.approx(1.04)


def test_the_same_point_gives_the_same_values() -> None:
    """Nothing depends on anything but the point."""
    one = point(family="U-BN", load=0.6, jobs=10, literal=True)
    assert play(one) == play(one)
