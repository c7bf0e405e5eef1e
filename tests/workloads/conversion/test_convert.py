"""Conversion of logs: the thesis's numbers, the options, left-out jobs and their reasons."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.errors import OptionError
from spillway.workloads import (
    THESIS_MACHINE,
    ConvertOptions,
    MachineFacts,
    SwfLog,
    SwfRecord,
    WorkloadError,
    convert,
    read_batsim,
)
from spillway.workloads.batsim.json_file import format_batsim, parse_batsim
from spillway.workloads.conversion.convert import compute_flops
from spillway.workloads.swf import SwfHeader

MACHINE = MachineFacts(nodes=8, node_speed_flops=2e9, storage_nodes=2, storage_bytes=10**10)


def test_small_log(small_log: SwfLog) -> None:
    """Usable records become jobs in order of submission, the others are counted by reason."""
    workload, report = convert(small_log, MACHINE, name="small")
    assert [(job.id, job.subtime, job.walltime, job.res) for job in workload.jobs] == [
        (3, 1, 120, 2),
        (4, 31, 600, 4),
        (7, 51, 2040, 3),
        (8, 61, 900, 2),
        (9, 101, 100, 99),
    ]
    assert [job.extras.get("user") for job in workload.jobs] == [1, 2, 3, 3, 3]
    assert [workload.profiles[job.profile]["cpu"] for job in workload.jobs] == [
        2e9 * seconds for seconds in (50, 300, 1000, 900, 70)
    ]
    assert report.lines() == [
        "5 jobs of 8 records",
        "left out 1 line: cancelled while waiting",
        "left out 1 line: number of processors not known",
        "left out 1 line, 7.13 % of the node-hours: piece of a checkpointed job (its summary line is used)",
        "1 job states no requested time: took 2 x the runtime, at least 300 s",
        "1 job requests more than the machine's 8 nodes and will be rejected",
        "1 job waits for those that it depended on (dependencies=leave: it does not)",
        "what is known of the jobs: measured: submission, start (40.0 %), end (40.0 %), run time, size (20.0 %), user, "
        "end state; requested: requested time (80.0 %), size (80.0 %), memory (40.0 %), queue, dependency (20.0 %); "
        "imputed: requested time (20.0 %), burst buffer; absent: eligible time, start (60.0 %), end (60.0 %), memory "
        "(60.0 %), bytes read, bytes written, dependency (80.0 %)",
    ]
    assert workload.notes == tuple(report.lines())
    assert (workload.name, workload.nb_res) == ("small", 8)
    assert workload.description == "5 jobs from swf job number 3 to 9 inclusive"


OPTIONS: list[tuple[dict[str, Any], list[int], list[float | None]]] = [
    ({"missing_walltime": "none"}, [3, 4, 7, 8, 9], [120, 600, None, 900, 100]),
    ({"missing_walltime": "drop"}, [3, 4, 8, 9], [120, 600, 900, 100]),
    ({"walltime_factor": 1.0}, [3, 4, 7, 8, 9], [120, 600, 1020, 900, 100]),
    ({"walltime_floor_s": 5000.0}, [3, 4, 7, 8, 9], [120, 600, 5040, 900, 100]),
    ({"oversized": "drop"}, [3, 4, 7, 8], [120, 600, 2040, 900]),
    ({"from_job": 4, "first": 4}, [4, 7], [600, 2040]),
]


@pytest.mark.parametrize(("changes", "numbers", "walltimes"), OPTIONS)
def test_options(small_log: SwfLog, changes: dict[str, Any], numbers: list[int], walltimes: list[float | None]) -> None:
    """Each option has its effect."""
    workload, _ = convert(small_log, MACHINE, ConvertOptions(**changes))
    assert [job.id for job in workload.jobs] == numbers
    assert [job.walltime for job in workload.jobs] == walltimes


def test_processors_per_node(small_log: SwfLog) -> None:
    """Processors become whole nodes, rounded up."""
    workload, _ = convert(small_log, MACHINE, ConvertOptions(processors_per_node=2))
    assert [job.res for job in workload.jobs] == [1, 2, 2, 1, 50]


@pytest.mark.parametrize(("changes", "message"), [
    ({"model": "both"}, "option 'model' must be one of alloc, io, got 'both'"),
    ({"kappa": -1.0}, "option 'kappa' must be a number of at least 0, got '-1'"),
    ({"least_compute_share": 1.5}, "option 'least_compute_share' must be a number from 0 to 1, got '1.5'"),
    ({"processors_per_node": 0}, "option 'processors_per_node' must be a whole number of at least 1, got '0'"),
    ({"com_sd_bytes": float("nan")}, "option 'com_sd_bytes' must be a number of at least 0 (bytes), got 'nan'"),
])  # fmt: skip
def test_options_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    """The message names option, bounds and value."""
    with pytest.raises(OptionError) as caught:
        ConvertOptions(**changes)
    assert str(caught.value) == message


def test_nothing_usable_is_an_error() -> None:
    """The error on a log without a usable job states how many records fail and why."""
    with pytest.raises(WorkloadError, match="no usable job in the log 'x': 2 lines: runtime 0 or not known"):
        convert(SwfLog(SwfHeader(), (SwfRecord(1, 0, run_s=0), SwfRecord(2, 5))), MACHINE, name="x")
    with pytest.raises(WorkloadError, match="no usable job in the log 'x': it is empty"):
        convert(SwfLog(), MACHINE, name="x")


def test_repeated_numbers_get_ids_of_their_own(small_log: SwfLog) -> None:
    """Batsim crashes on repeated ids: a job whose records are all repeated is one, another record a job of its own."""
    again, other = small_log.records[:1], msgspec.structs.replace(small_log.records[0], submit_s=10**6, run_s=77)
    workload, report = convert(SwfLog(small_log.header, small_log.records + again), MACHINE)
    assert [job.id for job in workload.jobs] == [3, 4, 7, 8, 9]
    assert report.dropped["line that is there twice"] == 1
    workload, _ = convert(SwfLog(small_log.header, (*small_log.records, other)), MACHINE)
    assert [job.id for job in workload.jobs] == [3, 4, 7, 8, 9, "3_1"]


def test_same_seed_same_bytes(small_log: SwfLog) -> None:
    """The seed decides every draw; both job models draw the same burst buffers."""
    one, again, other = (format_batsim(convert(small_log, MACHINE, ConvertOptions(seed=seed))[0]) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    io, _ = convert(small_log, MACHINE, ConvertOptions(seed=1, model="io"))
    assert [p["bb"] for p in io.profiles.values()] == [p["bb"] for p in parse_batsim(one).profiles.values()]


def test_known_checksum(small_log: SwfLog) -> None:
    """The bytes for a seed are the same as when this was written, on every machine."""
    alloc, io = (ConvertOptions(dependencies="leave"), ConvertOptions(model="io", seed=7, dependencies="leave"))
    assert convert(small_log, THESIS_MACHINE, alloc)[0].checksum == KNOWN_ALLOC
    assert convert(small_log, THESIS_MACHINE, io)[0].checksum == KNOWN_IO


KNOWN_ALLOC = "fd8d3d1d02c53d3ec84f644861d7bbdffc5db161253c2f71dcb10a6b22f7d003"
KNOWN_IO = "bce0ffb35072d9f1ca3f5c20ad68b94af9a1e9a98d95e1ec425787dd8b085f8e"


@given(st.integers(1, 10**6), st.integers(0, 4 * 10**10), st.integers(60, 10**6))
def test_kappa_rule(run_s: int, bb: int, walltime: int) -> None:
    """IO-Aware work lies between 5 % and 100 % of the runtime; short jobs keep theirs; Alloc-Only always."""
    io = ConvertOptions(model="io")
    flops = compute_flops(run_s, bb, THESIS_MACHINE, io, walltime)
    whole = compute_flops(run_s, bb, THESIS_MACHINE, ConvertOptions(), walltime)
    assert whole == run_s * 10**9
    assert round(0.05 * whole) - 1 <= flops <= whole
    if walltime <= 120:
        assert flops == whole
    elif run_s * 0.95 > 32 * bb / 1e9:
        assert flops == pytest.approx(whole - 32 * bb, abs=2)


def test_requests_come_from_the_log_where_it_has_them(small_log: SwfLog) -> None:
    """Without a request model the jobs request no burst buffer, and the traffic stays the same."""
    without, _ = convert(small_log, MACHINE, ConvertOptions(burst_buffers=None))
    usual, _ = convert(small_log, MACHINE)
    assert {profile["bb"] for profile in without.profiles.values()} == {0}
    assert [p["com"] for p in without.profiles.values()] == [p["com"] for p in usual.profiles.values()]


def test_serial_jobs_do_not_communicate() -> None:
    """One-node jobs send nothing; negative draws become zero."""
    record = SwfRecord(1, 0, run_s=60, requested_processors=1, requested_s=600)
    log = SwfLog(
        SwfHeader(), tuple(msgspec.structs.replace(record, number=n, requested_processors=1 + n % 2) for n in range(99))
    )
    workload, _ = convert(log, MACHINE, ConvertOptions(com_mean_bytes=0.0, com_sd_bytes=10.0))
    traffic: dict[int, list[int]] = {1: [], 2: []}
    for job in workload.jobs:
        traffic[job.res].append(workload.profiles[job.profile]["com"])
    assert set(traffic[1]) == {0}
    assert min(traffic[2]) == 0 < max(traffic[2])


@pytest.mark.reference
def test_alloc_only_work_is_the_published_one(reference: Path, kth: SwfLog) -> None:
    """All 28,467 jobs: ids, times, sizes and computing work equal the published files, to the last digit."""
    published = read_batsim(reference / "data" / "kth" / "KTH-SP2-1996-2.1-cln-alloc-only-from-parts.json.xz")
    workload, report = convert(kth, THESIS_MACHINE)
    differing = [
        job
        for job, same in zip(workload.jobs, published.jobs, strict=True)
        if msgspec.structs.replace(job, extras={}) != same
    ]
    assert not differing[:3]
    assert len({job.extras["user"] for job in workload.jobs}) > 200
    assert [p["cpu"] for p in workload.profiles.values()] == [p["cpu"] for p in published.profiles.values()]
    assert report.dropped == {"runtime 0 or not known": 8, "number of processors not known": 1}
    traffic = [p["com"] for p in workload.profiles.values() if p["com"]]
    assert sum(traffic) / len(traffic) == pytest.approx(100e6, rel=0.005)


@pytest.mark.reference
def test_kappa_rule_gives_the_published_work(reference: Path, kth: SwfLog) -> None:
    """All IO-Aware jobs within 2 microseconds of work: published sizes were lowered by some bytes afterwards."""
    published = read_batsim(reference / "data" / "kth" / "KTH-SP2-1996-2.1-cln-io-aware-from-parts.json.xz")
    runtimes = {record.number: record.run_s for record in kth.records}
    options = ConvertOptions(model="io")
    at_floor = 0
    for job in published.jobs:
        assert isinstance(job.id, int)
        assert isinstance(job.walltime, int)
        profile, runtime = published.profiles[job.profile], runtimes[job.id]
        flops = compute_flops(runtime, profile["bb"], THESIS_MACHINE, options, job.walltime)
        assert abs(flops - profile["cpu"]) <= 2000
        at_floor += flops == round(0.05 * runtime * 1e9)
    assert at_floor > 6000


def test_scarce_storage_is_remarked(small_log: SwfLog) -> None:
    """If the machine cuts many requests, the report states it; without storage it has nothing to cut."""
    scarce = MachineFacts(nodes=8, storage_nodes=1, storage_bytes=150_000_000)
    _, report = convert(small_log, scarce)
    assert report.remarks[-3].endswith("drew more burst buffer than the machine's 1 x 0.15 GB can place and were cut")
    _, report = convert(small_log, MachineFacts(nodes=8))
    assert not any("drew more burst buffer" in remark for remark in report.remarks)
