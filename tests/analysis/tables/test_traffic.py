"""Bytes moved in an IO-Aware run, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spillway.analysis.errors import AnalysisError
from spillway.analysis.tables.traffic import file_system_rate, read_io_times, read_transfers
from tests.analysis.samples import HEADER

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
