"""Warnings to a reader: periods in which a machine is full, and requests that were multiplied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE
from spillway.workloads.conversion.offered_load import OfferedLoad
from spillway.workloads.logs.tables import parse_swf


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
