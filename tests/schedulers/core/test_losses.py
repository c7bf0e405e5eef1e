"""Drained parts of storage nodes in the core: guard, book and session."""

from typing import Any

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.core import Timeline
from spillway.protocol.messages import ResourceInfo, SimulationBegins
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.losses import drained_by
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine, simple_machine
from spillway.schedulers.policykit.estimates import Walltimes
from tests.schedulers.guard import why_not

GB = 10**9


def job(number: int, nodes: int, bb_bytes: int, walltime_s: float = 10.0) -> Job:
    """A job that needs a burst buffer for each of its nodes."""
    return Job(f"w!{number}", number, 0.0, walltime_s, nodes, bb_bytes)


def test_the_inequality_is_named() -> None:
    """A start beyond the rest is refused; the guard ignores the bytes that are already held there."""
    machine = simple_machine(4, 1, 10 * GB)
    book = Book(machine, Timeline(machine), Walltimes())
    book.start(job(1, 1, 6 * GB), Allocation((0,), (0,), 6 * GB), 0.0)
    book.drain(0, 5 * GB, 0.0)
    assert (book.timeline.free_storage_now(), book.left_storage()) == ([0], [-1 * GB])
    reason = why_not(book, job(2, 1, GB), Allocation((1,), (0,), GB))
    assert reason == "storage s0 has 0 GB left (5 GB are drained), the allocation takes 1 GB"
    book.end("w!1", 1.0)
    assert why_not(book, job(2, 1, 5 * GB), Allocation((1,), (0,), 5 * GB)) is None
    reason = why_not(book, job(3, 2, 3 * GB), Allocation((1, 2), (0, 0), 3 * GB))
    assert reason == "storage s0 has 5 GB left (5 GB are drained), the allocation takes 6 GB"
    book.drain(0, 0, 1.0)
    assert (book.left_storage(), book.drained) == ([10 * GB], {})
    with pytest.raises(ValueError, match=r"s0: the drained bytes must be from 0 to 10 GB, got 11 GB"):
        book.drain(0, 11 * GB, 1.0)
    book.check()


def machine() -> Machine:
    """Two compute nodes, two storage nodes of 10 and 20 bytes, a file system."""
    storages = (
        ResourceInfo(2, "bb0", properties={"capacity_bytes": "10"}),
        ResourceInfo(3, "bb1", properties={"capacity_bytes": "20"}),
        ResourceInfo(4, "pfs"),
    )
    begins = SimulationBegins(0.0, (ResourceInfo(0, "n0"), ResourceInfo(1, "n1")), storages)
    return Machine.from_simulation_begins(begins, None)


@pytest.mark.parametrize(("data", "place", "expected"), [
    ({"resources": "0", "bytes": 1}, "$.resources", "expected ids of storage nodes with burst buffers (2, 3), got 0"),
    ({"resources": "4", "bytes": 1}, "$.resources", "with burst buffers (2, 3), got 4"),
    ({"resources": "2-3", "bytes": 11}, "$.bytes", "storage node bb0 has 10 bytes: 11 of them cannot be drained"),
    ({"resources": "2", "bytes": "all"}, "$", "field 'bytes' must be a whole number"),
])  # fmt: skip
def test_what_the_machine_does_not_have(data: dict[str, Any], place: str, expected: str) -> None:
    """Located in the event."""
    with pytest.raises(RemoteProtocolError) as caught:
        drained_by(machine(), data)
    assert caught.value.path == place
    assert expected in str(caught.value)
