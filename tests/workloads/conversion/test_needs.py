"""Least requirements of a log on its machine, and warnings where they are too many."""

from dataclasses import replace
from pathlib import Path

import pytest

from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE
from spillway.workloads.conversion.needs import needs_of
from spillway.workloads.conversion.offered_load import OfferedLoad
from spillway.workloads.load import load_table
from spillway.workloads.logs.info import info_rows
from spillway.workloads.logs.tables import parse_swf
from tests.workloads.logs.test_formats import read

SITE = Path(__file__).parents[1] / "data" / "site-sacct.txt"

HEAD = "JobID|Partition|Submit|Start|End|NNodes|ReqTRES\n"

ROW = (
    "{number}|{part}|2024-01-01T00:00:00|2024-01-01T0{start}:00:00|2024-01-01T0{end}:00:00|{nodes}|node={nodes}{more}\n"
)


def row(number: int, part: str, start: int, end: int, nodes: int, gib: int = 0) -> str:
    """A job from one full hour to another."""
    more = f",bb/datawarp={gib}G" if gib else ""
    return ROW.format(number=number, part=part, start=start, end=end, nodes=nodes, more=more)


LOG = HEAD + row(1, "batch", 0, 2, 4, 100) + row(2, "batch", 1, 3, 2, 60) + row(3, "batch", 3, 4, 5, 120)

LOG += row(4, "gpu", 1, 2, 1) + row(5, "gpu", 2, 3, 1)


def test_peaks_by_hand() -> None:
    """From 1 to 2 o'clock seven nodes and 160 GiB; jobs that end at an instant free theirs before others start then."""
    needs = needs_of(read(LOG, "log.txt"))
    assert (needs.nodes, needs.widest, needs.partitions) == (7, 5, {"batch": 6, "gpu": 1})
    assert (needs.buffer_jobs, needs.largest_buffer, needs.buffers) == (3, 120 * 2**30, 160 * 2**30)
    assert needs.all_buffers == needs.buffers
    assert not needs.drawn


def test_info_prints_them() -> None:
    """The largest request and the peak, not the sum over time."""
    rows = dict(info_rows(read(LOG, "log.txt")))
    assert rows["most in use at once"].startswith("7 nodes")
    assert rows["partitions, most in use at once"] == "batch 6, gpu 1 nodes"
    assert rows["burst buffers requested"].startswith("by 3 jobs, at most 129 GB by one; 172 GB in use at once")


def test_info_prints_what_no_run_plays() -> None:
    """Was printed only when a run was requested."""
    said = [value for name, value in info_rows(read(LOG, "log.txt")) if name == "not played"]
    assert any("are of 2 partitions (batch, gpu), which share all nodes here" in line for line in said)


def test_info_and_conversion_agree_on_what_no_run_plays() -> None:
    """Failed before: info counted dependencies and limits of arrays that are played."""
    table = load_table(SITE)[0]
    said = [value for name, value in info_rows(table) if name == "not played"]
    assert said == [omission.line for omission in convert(table, THESIS_MACHINE)[1].omissions]


def test_offered_load_without_a_stated_machine_is_that_of_the_peak() -> None:
    """Was left out; a run plays such a log on as many nodes as it had in use. Half of 4 nodes for 49 of 48 minutes."""
    swf = "".join(f"{n} {60 * n} 5 30 4 -1 -1 4 600 -1 1 1 1 1 1 -1 -1 -1\n" for n in range(1, 50))
    rows = dict(info_rows(read(swf, "log.swf")))
    assert rows["offered load"] == "0.5104 of the 4 processors that were in use at once"
    assert dict(info_rows(read("; MaxProcs: 8\n" + swf, "log.swf")))["offered load"] == "0.2552"
    assert "offered load" not in dict(info_rows(read(swf.replace(" 5 30 ", " -1 30 "), "log.swf")))


def test_drawn_requests_are_those_that_the_conversion_draws() -> None:
    """A log without requests; no buffers if no requests are drawn, or if the log states no starts."""
    swf = "".join(f"{n} {60 * n} 5 300 4 -1 -1 4 600 -1 1 1 1 1 1 -1 -1 -1\n" for n in range(1, 50))
    needs = needs_of(read(swf, "log.swf"))
    assert needs.drawn
    assert needs.buffer_jobs == 49
    assert needs.buffers > needs.largest_buffer > 0
    assert needs_of(read(swf, "log.swf"), ConvertOptions(burst_buffers=None)).all_buffers == 0
    unknown = needs_of(read(swf.replace(" 5 300 ", " -1 300 "), "log.swf"))
    assert (unknown.nodes, unknown.buffers, unknown.widest) == (0, 0, 4)


def test_the_size_of_a_job_that_never_started_is_its_request() -> None:
    """Slurm states the nodes of a cancelled job, too, but it never had them."""
    cancelled = "6|batch|2024-01-01T00:00:00|Unknown|2024-01-01T01:00:00|2|node=2\n"
    assert dict(info_rows(read(LOG + cancelled, "log.txt")))["  size"] == "requested 16.7 %, measured 83.3 %"


def test_a_full_week_is_warned_of() -> None:
    """Also if the whole log is within the limit; a log above it has one warning for each resource."""
    lines = OfferedLoad(0.7, 0.5, 0.99, 1.24).lines()
    assert lines[1:] == [
        f"WARNING: in the busiest week the jobs request {load:.2f} times the {what} of this machine: queues grow for "
        "as long as it lasts, and waiting times say little about the policies there"
        for what, load in (("compute nodes", 0.99), ("burst buffers", 1.24))
    ]
    assert len(OfferedLoad(1.1, 0.5, 1.5, 0.6).lines()) == 2
    assert len(OfferedLoad(0.9, 0.5, 0.94, 0.6).lines()) == 1


@pytest.mark.parametrize(("processors", "said"), [(1, False), (4, True)])
def test_multiplied_requests_are_said(processors: int, said: bool) -> None:
    """The model draws for a processor: a node of several requests several times as much, and a remark reports it."""
    rows = "".join(f"{i} {60 * i} 0 100 8 -1 -1 8 200 -1 1 1 1 1 1 -1 -1 -1\n" for i in range(1, 50))
    machine = replace(THESIS_MACHINE, storage_bytes=10**15)
    options = ConvertOptions(processors_per_node=processors)
    _, report = convert(parse_swf(rows), machine, options)
    remark = (
        "burst buffers were drawn for each processor: a node of 4 processors requests 4 times as much as one processor "
        "(storage of the machine should be in proportion)"
    )
    assert (remark in report.remarks) is said
