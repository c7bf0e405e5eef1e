"""Variants of Eagle's, PM100's and F-DATA's tables, as text and as parquet: right, or refused with the column."""

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pytest

from spillway.workloads import WorkloadError
from spillway.workloads.logs.formats import read_log
from spillway.workloads.logs.lines import LogFile
from spillway.workloads.logs.table import JobTable
from tests.workloads.logs.test_intake import lines, read

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ZONE = dt.timezone(dt.timedelta(hours=2))
BEGIN = dt.datetime(2020, 5, 4, 12, tzinfo=dt.UTC)
BEGIN_S = 1_588_593_600


def times(make: Any) -> dict[str, Any]:
    """Columns of times of PM100, each value made of a time."""
    columns = {"submit_time": 0, "eligible_time": 0, "start_time": 10, "end_time": 3610}
    return {
        name: make([BEGIN + dt.timedelta(seconds=first + 60 * job) for job in range(3)])
        for name, first in columns.items()
    }


def stamps(unit: str, zone: str | None) -> Any:
    """A column of times, in a unit, with a time zone or as UTC."""
    return lambda found: pa.array(
        [time if zone else time.replace(tzinfo=None) for time in found], pa.timestamp(unit, zone)
    )


PM100: dict[str, Any] = {
    "job_id": [1, 2, 3],
    **times(stamps("us", "UTC")),
    "run_time": [3600] * 3,
    "time_limit": [120, 120, 1440],
    "num_nodes_alloc": [2, 1, 4],
    "num_nodes_req": [3, 3, 3],
    "user_id": [5, 6, 7],
    "job_state": ["COMPLETED", "FAILED", "TIMEOUT"],
}
FDATA: dict[str, Any] = {
    "jid": ["1"], "usr": ["u"], "adt": [BEGIN], "sdt": [BEGIN], "edt": [BEGIN + dt.timedelta(hours=1)],
    "duration": [3600], "elpl": [7200], "nnumr": [2], "nnuma": [2], "cnumr": [96], "exit state": ["completed"],
}  # fmt: skip


def stored(folder: Path, columns: Any) -> JobTable:
    """A table as parquet, read."""
    path = folder / "jobs.parquet"
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path)
    return read_log(LogFile("jobs.parquet", path))


TIMES = {
    "nanoseconds": stamps("ns", None),
    "milliseconds of Rome": stamps("ms", "Europe/Rome"),
    "text of another zone": lambda found: [time.astimezone(ZONE).isoformat(" ") for time in found],
    "seconds": lambda found: [int(time.timestamp()) for time in found],
    "fractions": lambda found: [time.timestamp() for time in found],
}


@pytest.mark.parametrize("kind", TIMES)
def test_times(kind: str, tmp_path: Path) -> None:
    """In any unit and zone."""
    table = stored(tmp_path, PM100 | times(TIMES[kind]))
    assert table["submit_s"].tolist() == [BEGIN_S, BEGIN_S + 60, BEGIN_S + 120]
    assert table["start_s"].tolist() == [BEGIN_S + 10, BEGIN_S + 70, BEGIN_S + 130]


def test_durations(tmp_path: Path) -> None:
    """A type of parquet's: seconds of a run, and a limit whose plain numbers are minutes."""
    hours = pa.array([dt.timedelta(hours=1), dt.timedelta(hours=26), None], pa.duration("ns"))
    table = stored(tmp_path, PM100 | {"run_time": hours, "time_limit": hours})
    assert table["requested_s"].tolist() == [3600, 93_600, -1]
    assert table["run_s"].tolist() == [3600, 93_600, 3600]  # the last one by its start and end


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("num_nodes_alloc", [2.0, None, 4.0]),
        ("num_nodes_alloc", [decimal.Decimal(2), None, decimal.Decimal(4)]),
        ("num_nodes_alloc", ["2", "", "4"]),
    ],
)
def test_numbers_with_gaps(name: str, values: list[Any], tmp_path: Path) -> None:
    """As floats, decimals and texts; where the allocation is not known, the request counts."""
    assert stored(tmp_path, PM100 | {name: values})["nodes"].tolist() == [2, 3, 4]


def test_other_forms(tmp_path: Path) -> None:
    """Columns in another order and in capitals, dictionaries, bytes, equal columns of one name."""
    table = pa.table(PM100)
    names = list(reversed(table.column_names))
    mixed = table.select(names).rename_columns([name.upper() for name in names])
    plain = stored(tmp_path, PM100)
    assert stored(tmp_path, mixed)["nodes"].tolist() == plain["nodes"].tolist()
    users = pa.array([b"ada", b"bob", b"ada"])
    coded = pa.array(["COMPLETED", "FAILED", "TIMEOUT"]).dictionary_encode()
    found = stored(tmp_path, PM100 | {"user_id": users, "job_state": coded})
    assert [found.names["user"][code] for code in found["user"]] == ["ada", "bob", "ada"]
    assert [found.names["state"][code] for code in found["state"]] == ["completed", "failed", "timeout"]
    twice = table.append_column("num_nodes_alloc", table["num_nodes_alloc"])
    assert stored(tmp_path, twice)["nodes"].tolist() == [2, 1, 4]


REFUSED = {
    "fractions": (PM100 | {"num_nodes_alloc": [2.5, 1, 4]}, "num_nodes_alloc must be a whole number, got '2.5'"),
    "Boolean nodes": (PM100 | {"num_nodes_alloc": [True, True, False]}, "num_nodes_alloc must be a whole number"),
    "lists": (PM100 | {"num_nodes_alloc": [[2], [1], [4]]}, "column 'num_nodes_alloc' must hold a value in each row"),
    "words": (PM100 | {"num_nodes_alloc": ["2", "one", "4"]}, "num_nodes_alloc must be a whole number, got 'one'"),
    "milliseconds": (PM100 | times(lambda found: [int(1000 * time.timestamp()) for time in found]), "must be a time"),
    "days": (PM100 | times(lambda found: [time.date() for time in found]), "submit_time must be a time"),
    "no nodes": ({name: PM100[name] for name in PM100 if name != "num_nodes_alloc"},
                 r"\(pm100\) needs the column num_nodes_alloc, which is not among its columns 'job_id, submit_time"),
    "no limit": ({name: FDATA[name] for name in FDATA if name != "elpl"}, r"\(fdata\) needs the column elpl"),
    "no job": (PM100 | {"job_id": [1, None, 3]}, "job_id must be like"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str, tmp_path: Path) -> None:
    """With the column, its value and what was expected."""
    columns, words = REFUSED[what]
    with pytest.raises(WorkloadError, match=words):
        stored(tmp_path, columns)


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    """The last one counted."""
    table = pa.table(PM100)
    with pytest.raises(WorkloadError, match="two columns are called 'num_nodes_alloc', with other values"):
        stored(tmp_path, table.append_column("num_nodes_alloc", pa.array([9, 9, 9])))
    row = "5,u,p,60,10,2019-01-01 08:55:55,2019-01-01 08:55:56,2019-01-01 09:00:00,9,COMPLETED"
    with pytest.raises(WorkloadError, match="two columns are called 'nodes_req'"):
        read(lines(f"{row},11", head=f"{EAGLE},nodes_req"))
    assert read(lines(f"{row},10", head=f"{EAGLE},nodes_req"))["nodes"].tolist() == [10]


EAGLE = "job_id,user,partition,wallclock_req,nodes_req,submit_time,start_time,end_time,run_time,state"


def test_units_of_eagle() -> None:
    """Hours in a column of seconds, and a size with its unit in a column of megabytes."""
    row = "5,u,p,02:00:00,10,2019-01-01 08:55:55,2019-01-01 08:55:56,2019-01-01 09:00:00,244,COMPLETED,{}"
    for memory, size in (("184320", 180 * 2**30), ("180G", 180 * 2**30)):
        table = read(lines(row.format(memory), head=f"{EAGLE},mem_req"))
        assert table["requested_s"].tolist() == [7200]
        assert table["memory_bytes"].tolist() == [size]


def test_a_column_of_eagle_is_missing() -> None:
    """It is named."""
    with pytest.raises(WorkloadError, match=r"\(eagle\) needs the column nodes_req"):
        read("job_id,user,wallclock_req,submit_time,start_time,end_time\n5,u,60,a,b,c\n")
