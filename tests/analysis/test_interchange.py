"""Formats of other tools, written and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from spillway.analysis.errors import AnalysisError
from spillway.analysis.interchange import BATSIM_COLUMNS, batsim_csv, export, swf
from spillway.analysis.tables import JobTable, read_jobs
from spillway.workloads.swf import parse_swf
from tests.analysis.samples import HEADER


def test_batsims_file_round_trip(table: JobTable, run_folder: Path) -> None:
    """Written and read again, every column is the same; the header is Batsim's own."""
    assert ",".join(BATSIM_COLUMNS) + "\n" == HEADER
    path = run_folder / "copy.csv"
    export(table, path)
    again = read_jobs(path)
    assert list(again.job_id) == list(table.job_id)
    assert again.start_s[:3].tolist() == table.start_s[:3].tolist()
    assert list(again.allocated) == list(table.allocated)
    original = (run_folder / "jobs.csv").read_text().splitlines()
    for ours, batsims in zip(batsim_csv(table).splitlines()[1:], original[1:], strict=True):
        assert ours.split(",")[3:15] == batsims.split(",")[3:15]


def test_old_batsims_column_names(run_folder: Path) -> None:
    """Files of Batsim 2 are read alike."""
    path = run_folder / "jobs.csv"
    text = (
        path.read_text()
        .replace("job_id", "jobID")
        .replace("requested_number_of_resources", "requested_number_of_processors")
    )
    path.write_text(text.replace("allocated_resources", "allocated_processors"))
    assert list(read_jobs(path).job_id) == ["a", "b", "c", "d"]


def test_log_of_the_schedule(table: JobTable) -> None:
    """A strict reader accepts it; waits, runs, requests, users and outcomes are the schedule's."""
    log = parse_swf(swf(table, "made by a test"))
    assert log.header.max_procs == 4
    assert [record.number for record in log.records] == [1, 2, 3, 4]
    assert [record.wait_s for record in log.records] == [0, 90, 30, -1]
    assert [record.run_s for record in log.records] == [100, 10, 50, -1]
    assert [record.requested_processors for record in log.records] == [2, 4, 1, 9]
    assert [record.status for record in log.records] == [1, 1, 5, 5]
    assert [record.user for record in log.records] == [1, 2, 1, -1]


def test_other_suffixes_are_refused(table: JobTable, tmp_path: Path) -> None:
    """The message says which there are; a folder that is missing is named."""
    with pytest.raises(AnalysisError, match=r"expected a file ending in \.csv or \.swf"):
        export(table, tmp_path / "x.json")
    with pytest.raises(AnalysisError, match=r"cannot write .*x\.csv'.*No such file"):
        export(table, tmp_path / "missing" / "x.csv")
