"""Kinds of burst buffers: a job's request, refusals of the guard, and the parts of striped ones."""

from typing import Any

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.core import Placement, StorageOrder, Timeline
from spillway.protocol.messages import ResourceInfo, SimulationBegins
from spillway.schedulers.core.allocation import find_growth, only, together, without
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.feasible import Limits
from spillway.schedulers.model.job import Allocation, Job, read_job
from spillway.schedulers.model.machine import Machine, Node, Storage, nearest_first, simple_machine
from spillway.schedulers.policykit.estimates import Walltimes
from tests.schedulers.guard import why_not


def book_of(machine: Machine, placement: Placement | None = None) -> Book:
    """The book of an empty machine."""
    return Book(machine, Timeline(machine, 0.0, placement), Walltimes())


def read(job: dict[str, Any], profile: dict[str, Any] | None = None, granule_bytes: int = 1) -> Job:
    """A job of 4 nodes."""
    return read_job("w0!1", {"res": 4} | job, profile, 0, 0.0, granule_bytes)


def striped(total: int, stripes: int, nodes: int = 2) -> Job:
    """A job with a buffer of its own."""
    return read_job("w0!1", {"res": nodes, "bb_total": total, "bb_stripes": stripes}, None, 0, 0.0)


@pytest.mark.parametrize(("fields", "granule_bytes", "bb_bytes", "stripes"), [
    ({}, 1, 0, 0),
    ({"bb": 10}, 1, 10, 0),
    ({"bb": 10}, 8, 16, 0),
    ({"bb_total": 100}, 1, 100, 1),
    ({"bb_total": 100, "bb_stripes": 3}, 1, 34, 3),
    ({"bb_total": 100, "bb_stripes": 3}, 20, 40, 3),
    ({"bb_total": 96, "bb_stripes": 3}, 16, 32, 3),
    ({"bb_total": 0, "bb_stripes": 3}, 16, 0, 0),
])  # fmt: skip
def test_what_a_job_requests(fields: dict[str, Any], granule_bytes: int, bb_bytes: int, stripes: int) -> None:
    """Per node, or for the whole job in equal shares; each request in whole granules; from the job or its profile."""
    for job in (read(fields, None, granule_bytes), read({}, fields, granule_bytes)):
        assert (job.bb_bytes, job.stripes, job.requests) == (bb_bytes, stripes, stripes or 4)


@pytest.mark.parametrize(("job", "profile", "message", "place"), [
    ({"bb": 1, "bb_total": 2}, {},
     "job 'w0!1': 'bb_total' (bytes of the whole job) beside 'bb' (bytes per node): leave one out", "$.job.bb_total"),
    ({"bb": 1}, {"bb_total": 2}, "leave one out", "$.profile.bb_total"),
    ({"bb_stripes": 2}, {}, "'bb_stripes' must be stated with 'bb_total', whose bytes it divides", "$.job.bb_stripes"),
    ({"bb_total": 2, "bb_stripes": 0}, {},
     "'bb_stripes' must be a whole number of storage nodes from 1 to 1048576, got 0", "$.job.bb_stripes"),
    ({"bb_total": 2, "bb_stripes": 1.5}, {}, "must be a whole number of storage nodes", "$.job.bb_stripes"),
    ({}, {"bb_total": -1}, "'bb_total' must be a number from 0 to 2^62, got -1", "$.profile.bb_total"),
])  # fmt: skip
def test_wrong_requests(job: dict[str, Any], profile: dict[str, Any], message: str, place: str) -> None:
    """The error states the field and the expected value."""
    with pytest.raises(RemoteProtocolError) as caught:
        read(job, profile)
    assert message in str(caught.value)
    assert place in str(caught.value)


def test_a_striped_buffer_stays_with_the_last_of_its_nodes() -> None:
    """It belongs to the job as a whole: no node takes a part of it along."""
    whole = Allocation((1, 3, 5), (0, 2), 7, 2, striped=True)
    assert only(whole, {1, 5}) == Allocation((1, 5), io_rate=2)
    assert without(whole, {1, 5}) == Allocation((3,), (0, 2), 7, 2, striped=True)
    assert only(without(whole, {1, 5}), {3}) == Allocation((3,), (0, 2), 7, 2, striped=True)
    assert without(whole, {1, 3, 5}) == Allocation((), io_rate=2)
    assert together(whole, Allocation((2,), io_rate=2)) == Allocation((1, 2, 3, 5), (0, 2), 7, 2, striped=True)
    timeline = Timeline(simple_machine(6, 3, 9))
    assert find_growth(timeline, whole, 1, [0, 2], [0, 0, 0], []) == Allocation((0,), io_rate=2)


@pytest.mark.parametrize(("allocation", "reason"), [
    (Allocation((0, 1), (0, 1, 2), 4, striped=True), None),
    (Allocation((0, 1), (0, 1), 4, striped=True), "it needs 3 storages (one per stripe), the allocation has 2"),
    (Allocation((0, 1), (0, 1, 2), 4), "its burst buffer is one per stripe: the allocation must have striped=True"),
    (Allocation((0, 1), (0, 1, 1), 4, striped=True), "its 3 stripes must lie on storages that all differ"),
    (Allocation((0, 1), (0, 1, 2), 5, striped=True), "of burst buffer per stripe, the allocation has"),
    (Allocation((0, 1), (0, 1, 3), 4, striped=True), "unknown storage index 3"),
])  # fmt: skip
def test_guard_of_striped_buffers(allocation: Allocation, reason: str | None) -> None:
    """As many as stripes, all different, as large as requested."""
    found = why_not(book_of(simple_machine(4, 3, 5)), striped(12, 3), allocation)
    assert (found is None) if reason is None else (found is not None and reason in found)


def test_jobs_that_can_never_run() -> None:
    """More stripes than storage nodes that are so large; under the rule of racks, more nodes than their racks serve."""
    machine = simple_machine(4, 3, 5)
    assert Limits(machine).infeasible_reason(striped(15, 3)) is None
    assert (
        Limits(machine).infeasible_reason(striped(16, 4)) == "4 stripes x 4e-09 GB: only 3 storage nodes are so large"
    )
    nodes = tuple(Node(i, f"n{i}", (f"r{i // 2}",)) for i in range(4))
    storages = (Storage(4, "s0", ("r0",), 9), Storage(5, "s1", ("r1",), 5))
    racked = Machine(nodes, storages, nearest_storages=nearest_first(nodes, storages))
    own = Placement(storage_order=StorageOrder.RACK)
    per_node = read({"bb": 4})
    assert Limits(racked).infeasible_reason(per_node) == "4 nodes x 4e-09 GB: only 3 whole requests fit"
    assert Limits(racked).infeasible_reason(read({"res": 3, "bb": 4})) is None
    assert Limits(racked, own).infeasible_reason(read({"res": 3, "bb": 4})) is None
    reason = Limits(racked, own).infeasible_reason(read({"res": 3, "bb": 3}))
    assert reason is None
    reason = Limits(racked, own).infeasible_reason(read({"res": 4, "bb": 3}))
    assert reason == "4 nodes x 3e-09 GB: the storage of their own racks serves only 3"
    why = why_not(book_of(racked, own), read({"res": 1, "bb": 3}), Allocation((0,), (1,), 3))
    assert why == "storage s1 is not in the rack of node n0, which storage_order=rack demands"


def test_granules_of_a_platform() -> None:
    """The same on all burst buffers, at least one byte."""

    def machine(*granules: str) -> Machine:
        texts = ({"capacity_bytes": "100"} | ({"granule_bytes": size} if size else {}) for size in granules)
        hosts = tuple(ResourceInfo(1 + i, f"s{i}", properties=text) for i, text in enumerate(texts))
        return Machine.from_simulation_begins(SimulationBegins(0.0, (ResourceInfo(0, "n0"),), hosts))

    assert machine("", "").granule_bytes == 1
    assert machine("20", "20").granule_bytes == 20
    for wrong, message in (
        (
            ("20", "30"),
            "storage host 's1': property 'granule_bytes' must be the same on all storage hosts, 20 on s0, got 30",
        ),
        (("0",), "storage host 's0': property 'granule_bytes' must be at least 1, got 0"),
        (("much",), "must be a number of bytes, got 'much'"),
    ):
        with pytest.raises(RemoteProtocolError, match=message):
            machine(*wrong)
