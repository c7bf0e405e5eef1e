"""Metrics against values computed by hand (see samples.py)."""

import dataclasses
import math
import tracemalloc

import numpy as np
import pytest

from spillway.analysis.measures import metrics
from spillway.analysis.tables.jobs import Host, JobTable, MachineInfo
from tests.analysis.samples import make_table


def test_waiting_and_turnaround(table: JobTable) -> None:
    """Waiting is start minus submission, turnaround end minus submission; a rejected job has neither."""
    assert table.wait_s[:3].tolist() == [0, 90, 30]
    assert table.turnaround_s[:3].tolist() == [100, 100, 80]
    assert math.isnan(table.wait_s[3])


def test_slowdown(table: JobTable) -> None:
    """Turnaround over execution."""
    assert metrics.slowdown(table.ran()).tolist() == [1.0, 10.0, 1.6]


def test_bounded_slowdown_counts_short_jobs_as_tau(table: JobTable) -> None:
    """With tau = 40 the 10 s job counts as 40 s: 100 / 40; never below 1."""
    assert metrics.bounded_slowdown(table.ran(), 40).tolist() == [1.0, 2.5, 1.6]
    assert metrics.bounded_slowdown(table.ran(), 600).tolist() == [1.0, 1.0, 1.0]


def test_per_processor_bounded_slowdown(table: JobTable) -> None:
    """The wide job's 100 / (4 * 10) is 2.5; the two-node job's 100 / (2 * 100) is raised to 1."""
    assert metrics.per_processor_bounded_slowdown(table.ran(), 10).tolist() == [1.0, 2.5, 1.6]


@pytest.mark.parametrize("tau_s", [0.0, -1.0, math.nan])
def test_tau_must_be_positive(table: JobTable, tau_s: float) -> None:
    """A bound that is no positive number is refused."""
    with pytest.raises(ValueError, match="positive"):
        metrics.bounded_slowdown(table, tau_s)


def test_utilisations(table: JobTable) -> None:
    """Compute: (2*100 + 4*10 + 1*50) / (4 * 110). Storage: (2*10*100 + 40*50) / (200 * 110)."""
    assert metrics.makespan_s(table) == 110
    assert metrics.compute_utilisation(table) == pytest.approx(290 / 440)
    assert metrics.storage_utilisation(table) == pytest.approx(4000 / 22000)


@pytest.mark.parametrize(
    ("storages", "bb_bytes", "ratio"),
    [
        (("4:2", "", "5:1", ""), (10, 0, 40, 0), 1.0),  # 2 * 10 * 100 on each
        (("4:2", "", "5:1", ""), (10, 0, 120, 0), 6000 / 4000),
        (("4:2", "", "4:1", ""), (10, 0, 40, 0), 2.0),  # all on one of two
        (("4:1 5:1", "", "5:1", ""), (10, 0, 40, 0), 3000 / 2000),
        (("", "", "", ""), (0, 0, 0, 0), math.nan),
    ],
)
def test_hot_spot(table: JobTable, storages: tuple[str, ...], bb_bytes: tuple[int, ...], ratio: float) -> None:
    """Job a holds for 100 s, c for 50 s: the fuller of two storage nodes over the mean of both."""
    changed = dataclasses.replace(table, storages=list(storages), bb_bytes=np.array(bb_bytes, float))
    assert metrics.storage_hot_spot(changed) == pytest.approx(ratio, nan_ok=True)
    assert metrics.summarise(changed, 600.0).storage_hot_spot == pytest.approx(ratio, nan_ok=True)


def test_the_hot_spot_of_a_large_machine_takes_no_memory_per_job() -> None:
    """Jobs that all lie elsewhere are counted one after another: the arrays of the times take 8 bytes a job each."""
    jobs = 20_000
    machine = MachineInfo(storages=tuple(Host(number, str(number), 100) for number in range(200)))
    table = dataclasses.replace(
        make_table([(float(job), float(job), 1, 10.0) for job in range(jobs)]),
        storages=[f"{job % 200}:1 {(7 * job + job // 200) % 200}:1" for job in range(jobs)],
        bb_bytes=np.ones(jobs),
        machine=machine,
    )
    tracemalloc.start()
    try:
        metrics.storage_hot_spot(table)
        assert tracemalloc.get_traced_memory()[1] < 400 * jobs
    finally:
        tracemalloc.stop()


def test_a_buffer_of_the_whole_job_counts_once(table: JobTable) -> None:
    """Job a has one request of 10 bytes for its two nodes."""
    shared = dataclasses.replace(table, storages=["4:1", "", "5:1", ""])
    assert shared.requests.tolist() == [1, 4, 1, 9]
    assert metrics.storage_utilisation(shared) == pytest.approx((10 * 100 + 40 * 50) / 22000)
    assert metrics.storage_hot_spot(shared) == pytest.approx(2000 / 1500)


def test_utilisation_of_an_unknown_machine_is_not_a_number(table: JobTable) -> None:
    """Without the machine's size there is no share to state."""
    unknown = dataclasses.replace(table, machine=MachineInfo())
    assert math.isnan(metrics.compute_utilisation(unknown))
    assert math.isnan(metrics.storage_utilisation(unknown))


def test_summary_is_about_the_jobs_that_ran(table: JobTable) -> None:
    """Means divide by the three executed jobs; the rejected one is counted apart, the one at its walltime as killed."""
    summary = metrics.summarise(table, tau_s=40)
    assert (summary.jobs, summary.rejected, summary.killed) == (3, 1, 1)
    assert summary.mean_waiting_time_s == pytest.approx(40)
    assert summary.median_waiting_time_s == 30
    assert summary.p95_waiting_time_s == pytest.approx(84)
    assert summary.max_waiting_time_s == 90
    assert summary.mean_turnaround_time_s == pytest.approx(280 / 3)
    assert summary.mean_slowdown == pytest.approx(4.2)
    assert summary.mean_bounded_slowdown == pytest.approx(1.7)
    assert summary.makespan_s == 110


def test_summary_of_nothing(table: JobTable) -> None:
    """A run in which every job was rejected has counts, and means that are not numbers."""
    summary = metrics.summarise(table.only(~table.executed), 600.0)
    assert (summary.jobs, summary.rejected, summary.killed) == (0, 1, 0)
    assert math.isnan(summary.mean_waiting_time_s)
    assert summary.makespan_s == 0
