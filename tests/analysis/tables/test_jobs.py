"""Reading results: columns, types, and one clear message for each kind of damage."""

import math
from pathlib import Path

import numpy as np
import pytest

from spillway.analysis.errors import AnalysisError
from spillway.analysis.tables import jobs
from spillway.analysis.tables.jobs import JobTable, parse_intervals, parse_storages, read_jobs, read_run
from tests.analysis.samples import HEADER, JOBS, write_run


def test_columns(table: JobTable) -> None:
    """Every column is read, rejected jobs included; a missing walltime is infinite."""
    assert list(table.job_id) == ["a", "b", "c", "d"]
    assert table.nodes.tolist() == [2, 4, 1, 9]
    assert table.walltime_s[3] == math.inf
    assert table.executed.tolist() == [True, True, True, False]
    assert table.killed.tolist() == [False, False, True, False]
    assert list(table.allocated) == ["0-1", "0-3", "3", ""]


def test_allocations_and_machine_are_joined_by_name(table: JobTable) -> None:
    """Burst buffers come from allocations.csv, sizes of the machine from machine.json."""
    assert table.bb_bytes.tolist() == [10, 0, 40, 0]
    assert list(table.storages) == ["4:2", "", "5:1", ""]
    assert [node.name for node in table.machine.nodes] == ["n0", "n1", "n2", "n3"]
    assert table.machine.total_storage_bytes == 200


def test_rows_are_read_in_parts(run_folder: Path, table: JobTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a part loses no row, repeats no row and mixes no columns."""
    for rows in (1, 3, 4, 5):
        monkeypatch.setattr(jobs, "ROWS_AT_A_TIME", rows)
        again = read_run(run_folder)
        assert (again.job_id, again.allocated, again.storages) == (table.job_id, table.allocated, table.storages)
        assert np.array_equal(again.start_s, table.start_s, equal_nan=True)


def test_batsims_file_alone_is_enough(run_folder: Path) -> None:
    """Results of a real Batsim have only jobs.csv."""
    (run_folder / "allocations.csv").unlink()
    (run_folder / "machine.json").unlink()
    table = read_run(run_folder)
    assert table.bb_bytes.sum() == 0
    assert table.machine.nodes == ()


def test_take_keeps_the_order_of_the_rows(table: JobTable) -> None:
    """Rows may be reordered and repeated in every column alike."""
    taken = table.take([2, 0])  # type: ignore[arg-type]
    assert list(taken.job_id) == ["c", "a"]
    assert taken.start_s.tolist() == [50, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column 'job_id'"),
        (HEADER.replace("final_state", "state"), "no column 'final_state'"),
        (HEADER + "a,b\n", "line 2: expected 17 fields, got 2"),
        (HEADER + JOBS.replace("50.000000,50.000000,100.000000", "soon,50,100"), "line 4: column 'starting_time'"),
        (
            HEADER + JOBS.replace("50.000000,100.000000", "50,1e400"),
            "line 4: column 'finish_time' must hold numbers of",
        ),
    ],
)
def test_damaged_files(tmp_path: Path, text: str, message: str) -> None:
    """The message names the file, the line and what was expected."""
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(AnalysisError, match=message) as caught:
        read_jobs(path)
    assert str(path) in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    """A missing file is named."""
    with pytest.raises(AnalysisError, match=r"jobs\.csv: cannot be read"):
        read_jobs(tmp_path / "jobs.csv")


def test_damaged_machine(run_folder: Path) -> None:
    """A machine.json of another form is refused."""
    (run_folder / "machine.json").write_text("[]")
    with pytest.raises(AnalysisError, match=r"machine\.json: expected an object"):
        read_run(run_folder)


def test_interval_sets() -> None:
    """Batsim's interval sets and our storage lists."""
    assert parse_intervals("0-2 5") == [0, 1, 2, 5]
    assert parse_intervals("") == []
    columns = [column.tolist() for column in parse_storages(["96:3 98:1", "", "97:2"])]
    assert columns == [[0, 0, 2], [96, 98, 97], [3, 1, 2]]
    for odd in ("96:", "96:3:1", "96 3", "x:1"):
        with pytest.raises(AnalysisError, match=f"expected ids and counts such as .*, got '{odd}'"):
            parse_storages(["96:3", odd])
    for odd in ("zz", "-3"):
        with pytest.raises(AnalysisError, match=f"the machines '{odd}': expected ids"):
            parse_intervals(odd)


def test_time_slices(tmp_path: Path) -> None:
    """Job b had node 0 from 0 to 10 s and node 1 from 30 to 34 s; rows taken from the table keep their own slices."""
    folder = write_run(tmp_path / "run")
    rows = (folder / "jobs.csv").read_text().splitlines()
    sliced = "\n".join([rows[0] + ",time_slices", *[f"{row},2" for row in rows[1:]]]) + "\n"
    (folder / "jobs.csv").write_text(sliced)
    with pytest.raises(AnalysisError, match=r"batsim_jobs\.csv: cannot be read"):
        read_run(folder)
    (folder / "batsim_jobs.csv").write_text(
        "job_id,workload_name,starting_time,finish_time,allocated_resources\n"
        "a,w0,,,\n0,w0%a,10,30,0-1\n0,w0%b,0,10,0\n1,w0%b,30,34,1\n"
    )
    turns = read_run(folder).only(np.array([False, True, False, False])).on_nodes
    assert (turns.job.tolist(), turns.start_s.tolist(), turns.finish_s.tolist()) == ([0, 0], [0.0, 30.0], [10.0, 34.0])
    assert list(turns.allocated) == ["0", "1"]
