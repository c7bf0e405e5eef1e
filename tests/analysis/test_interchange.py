"""Formats of other tools, written and read again."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import spillway as sw
from spillway.analysis.errors import AnalysisError
from spillway.analysis.interchange import BATSIM_COLUMNS, batsim_csv, export, swf
from spillway.analysis.tables.jobs import Host, JobTable, MachineInfo, read_jobs
from spillway.workloads.logs.tables import parse_swf
from tests.analysis.samples import HEADER, make_table


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
    with pytest.raises(AnalysisError, match=r"expected a file ending in \.csv, \.swf, \.json or \.parquet"):
        export(table, tmp_path / "x.xml")
    with pytest.raises(AnalysisError, match=r"cannot write .*x\.csv'.*there is no such folder"):
        export(table, tmp_path / "missing" / "x.csv")


def test_a_schedule_goes_back_in_as_a_log(tmp_path: Path) -> None:
    """Exported as SWF and played by ``replay`` on the nodes of its header, jobs wait and run as they did."""
    jobs = [(0.4, 3.2, 2, 50.1), (1.0, 53.3, 4, 9.9), (1.6, 63.2, 1, 20.0), (2.0, 63.2, 3, 7.7)]
    made = replace(make_table(jobs), machine=MachineInfo(tuple(Host(n, f"n{n}") for n in range(4)), ()))
    export(made, tmp_path / "back.swf")
    log = parse_swf((tmp_path / "back.swf").read_text())
    assert (log.header.max_nodes, log.header.max_procs, log.header.number("MaxJobs")) == (4, 4, 4)
    assert log.header.values("Version") == ["2.2"]
    assert "burst buffers are left out" in log.header.values("Note")[0]
    played = sw.compare(
        sw.read(tmp_path / "back.swf"), "replay", engine="fixed", workers=1, progress=False, folder=tmp_path / "out"
    )
    again = played.jobs(policy="replay")
    found = zip(again.nodes.tolist(), again.wait_s.round(2).tolist(), again.execution_s.tolist(), strict=True)
    asked = ((nodes, round(at) - round(submit), round(at + run) - round(at)) for submit, at, nodes, run in jobs)
    assert sorted(found) == sorted(asked)


def test_trace_for_perfetto(table: JobTable, tmp_path: Path) -> None:
    """A slice for each node that a job holds, bytes of burst buffers and the queue as counters, in microseconds."""
    export(table, tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    ran = table.ran()
    assert len(slices) == int(ran.nodes.sum())
    for event in slices:
        job = list(ran.job_id).index(event["name"].removeprefix("job "))
        assert (event["ts"], event["dur"]) == (round(1e6 * ran.start_s[job]), round(1e6 * ran.execution_s[job]))
    assert {event["pid"] for event in events if event["ph"] == "C"} == {1, 2}
    last = {event["name"]: event["args"] for event in events if event["ph"] == "C"}
    assert all(set(args.values()) == {0} for args in last.values())


def test_jobs_as_parquet(table: JobTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read by pyarrow with its types; without it the error says what to install."""
    parquet = pytest.importorskip("pyarrow.parquet")
    export(table, tmp_path / "run.parquet")
    read = parquet.read_table(tmp_path / "run.parquet").to_pydict()
    assert read["job_id"] == list(table.job_id)
    assert read["nodes"] == table.nodes.tolist()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(AnalysisError, match=r"parquet needs pyarrow: pip install 'spillway\[parquet\]'"):
        export(table, tmp_path / "other.parquet")
