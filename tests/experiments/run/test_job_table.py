"""The table of jobs is made line by line: no row of it stays in memory as anything but its text."""

import tracemalloc
from pathlib import Path

from spillway.experiments.run.job_table import write_jobs
from spillway.protocol.messages import JobState
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Allocation, Job
from spillway.simulator.outputs.jobs import HEADER, Span
from tests.kit.tables import csv_rows

JOBS = 1500


def _run(folder: Path) -> tuple[dict[str, JobRecord], dict[str, Span]]:
    """A simulator's table in which the real jobs are rejected, the allocations, records and times of sub-jobs."""
    records, spans = {}, {}
    with (folder / "jobs.csv").open("w") as raw, (folder / "allocations.csv").open("w") as given:
        raw.write(HEADER)
        given.write("job_id,workload_name,allocated_resources\n")
        for number in range(JOBS):
            job_id, end_s = f"w0!{number}", 10_000.0 - number
            raw.write(f'{number},w0,p,{number}.000000,1,-1.000000,0,REJECTED,,,,,,,,,"a,{number}"\n')
            given.write(f"{number},w0,{number % 7}\n")
            job = Job(job_id, number, float(number), 1e9, 1)
            record = JobRecord(job, Allocation((0,)), 5000.0, end_s, JobState.COMPLETED_SUCCESSFULLY)
            records[job_id], spans[f"w0%{number}"] = record, Span(5000.0, end_s)
    return records, spans


def test_rows_are_in_the_order_of_the_ends_and_quoted_where_needed(tmp_path: Path) -> None:
    """Job 1,499 ends first; its metadata have a comma."""
    records, spans = _run(tmp_path)
    write_jobs(tmp_path, IoAware(), records, spans, {"w0!0": 2500.0})
    rows = csv_rows(tmp_path / "jobs.csv")
    assert [int(row["job_id"]) for row in rows] == list(reversed(range(JOBS)))
    assert [row["metadata"] for row in rows] == [f"a,{row['job_id']}" for row in rows]
    assert [row["allocated_resources"] for row in rows] == [str(int(row["job_id"]) % 7) for row in rows]
    assert rows[-1]["contention_slowdown"] == "2.000000"
    assert rows[0]["uncontended_s"] == rows[0]["contention_slowdown"] == ""


def test_a_job_takes_less_than_a_kilobyte(tmp_path: Path) -> None:
    """A row as a dictionary of texts took 3.5 kB (Python 3.11)."""
    records, spans = _run(tmp_path)
    tracemalloc.start()
    write_jobs(tmp_path, IoAware(), records, spans)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak / JOBS < 1000
