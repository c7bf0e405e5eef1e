"""Values over time from a run's tables: use, drained parts, traffic."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.analysis.errors import AnalysisError
from spillway.analysis.tables import timelines
from spillway.analysis.tables.jobs import JobTable
from spillway.analysis.tables.outages import most_drained
from spillway.analysis.tables.traffic import file_system_rate, read_io_times, read_transfers
from tests.analysis.samples import HEADER


def test_busy_nodes(table: JobTable) -> None:
    """Two nodes from 0, a third from 50, four from 100 to 110."""
    steps = timelines.busy_nodes(table)
    assert steps.time_s.tolist() == [0, 50, 100, 110]
    assert steps.value.tolist() == [2, 3, 4, 0]
    assert steps.integral(0, 110) == pytest.approx(290)


def test_queue_and_bytes(table: JobTable) -> None:
    """The queue holds one job from 10, two from 20 to 50; bytes are per node times nodes."""
    assert timelines.queue_length(table).at(np.array([0.0, 10, 25, 50, 100])).tolist() == [0, 1, 2, 1, 0]
    assert timelines.held_bytes(table).at(np.array([0.0, 60, 100])).tolist() == [20, 60, 0]


intervals = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=8)


@given(intervals)
def test_steps_against_counting(items: list[tuple[int, int, int]]) -> None:
    """At each time the value is the sum over the intervals that hold it; half-open, so empty ones never count."""
    begin = np.array([min(a, b) for a, b, _ in items], dtype=float)
    end = np.array([max(a, b) for a, b, _ in items], dtype=float)
    weight = np.array([w for _, _, w in items], dtype=float)
    times = np.arange(-1.0, 22.0)
    expected = [float(weight[(begin <= t) & (t < end)].sum()) for t in times]
    steps = timelines.steps(begin, end, weight)
    assert steps.at(times).tolist() == pytest.approx(expected)
    assert steps.integral(-1, 22) == pytest.approx(float(((end - begin) * weight).sum()))


ROWS = """time_s,storage,drained_bytes,left_bytes
10.000000,bb0,40,60
10.000000,bb1,5,95
20.000000,bb0,70,30
30.000000,bb0,10,90
40.000000,bb0,0,100
"""


@pytest.mark.parametrize(("start_s", "end_s", "expected"), [
    (0.0, 10.0, {}),
    (0.0, 15.0, {"bb0": 40, "bb1": 5}),
    (12.0, 18.0, {"bb0": 40, "bb1": 5}),
    (12.0, 35.0, {"bb0": 70, "bb1": 5}),
    (25.0, 35.0, {"bb0": 70, "bb1": 5}),
    (30.0, 35.0, {"bb0": 10, "bb1": 5}),
    (40.0, 99.0, {"bb1": 5}),
])  # fmt: skip
def test_the_most_at_once(start_s: float, end_s: float, expected: dict[str, int], tmp_path: Path) -> None:
    """A drain from before the interval counts until it is replaced."""
    assert most_drained(tmp_path, start_s, end_s) == {}, "no such table"
    (tmp_path / "drains.csv").write_text(ROWS)
    assert most_drained(tmp_path, start_s, end_s) == expected


PHASES = (
    "job_id,workload_name,phases,sub_jobs,stage_in_s,compute_s,checkpoint_s,drain_s,stage_out_s,stage_in_bytes,"
    "checkpoint_bytes,drain_bytes,stage_out_bytes\n"
    "1,w0,2,5,10.0,80.0,5.0,20.0,5.0,100,50,50,100\n"
)


def sub_job(number: int, profile: str, start: float, finish: float) -> str:
    """A row of Batsim's file."""
    return (
        f"{number},w0%1,{profile},0.0,1,-1.0,1,COMPLETED_SUCCESSFULLY,{start},{finish - start},{finish},0.0,"
        f'{finish},1.0,4 5,-1.0,""\n'
    )


@pytest.fixture
def io_run(tmp_path: Path) -> Path:
    """One job: stage-in 0-10 s, checkpoint 50-55, drain 55-75, stage-out 95-100 (twice as fast as stage-in)."""
    rows = [
        '1,w0,1,0.0,1,100.0,0,REJECTED,,,,,,,,,""\n',
        sub_job(0, "data_staging_profile_0", 0, 10),
        sub_job(1, "parallel_homogeneous_profile_0", 10, 50),
        sub_job(2, "parallel_homogeneous_pfs_profile_0", 50, 55),
        sub_job(3, "data_staging_profile_1", 55, 75),
        sub_job(4, "data_staging_profile_0", 95, 100),
    ]
    (tmp_path / "batsim_jobs.csv").write_text(HEADER + "".join(rows))
    (tmp_path / "jobs.csv").write_text(PHASES)
    return tmp_path


def test_transfers(io_run: Path) -> None:
    """Stage-in and stage-out share a profile and move 100 bytes each; computing moves nothing."""
    transfers = read_transfers(io_run)
    staging = transfers["data_staging_profile_0"]
    assert staging.size.tolist() == [100, 100]
    assert staging.duration_s.tolist() == [10, 5]
    assert staging.stretch().tolist() == [2.0, 1.0]
    assert transfers["data_staging_profile_1"].size.tolist() == [50]
    assert transfers["parallel_homogeneous_pfs_profile_0"].size.tolist() == [50]


def test_rate_of_the_file_system(io_run: Path) -> None:
    """10 bytes/s while staging in, 2.5 while draining, 20 while staging out; checkpoints stay in the burst buffers."""
    rate = file_system_rate(read_transfers(io_run))
    assert rate.at(np.array([5.0, 30, 52, 60, 97, 101])).tolist() == [10, 0, 0, 2.5, 20, 0]
    assert rate.integral(0, 100) == pytest.approx(250)
    assert rate.averages(np.array([0.0, 10, 20, 100])).tolist() == pytest.approx([10, 0, 150 / 80])


def test_io_times(io_run: Path) -> None:
    """20 s of I/O beside 80 s of computing; drains run beside computing."""
    times = read_io_times(io_run)
    assert times.io_share == pytest.approx(0.2)
    assert times.drain_s == 20


def test_other_runs_have_no_traffic(run_folder: Path) -> None:
    """An Alloc-Only run is refused with the reason."""
    with pytest.raises(AnalysisError, match="only IO-Aware runs have it"):
        read_transfers(run_folder)
