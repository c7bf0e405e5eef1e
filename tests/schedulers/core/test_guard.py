"""The guard on the book: exact reasons for refusals, jobs that can never run."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import DecisionRefused
from spillway.core import Placement, Resource, Timeline
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.feasible import Limits
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.machine import Link, Machine, simple_machine
from spillway.schedulers.policykit.estimates import Walltimes
from tests.schedulers.guard import check_start, why_not
from tests.schedulers.machine_strategies import job, jobs, machines

GB = 10**9


def named(name: str, nodes: int, bb_bytes: int = 0, io_rate: int = 0) -> Job:
    """A job with an id."""
    return Job(f"w!{name}", 0, 0.0, 60.0, nodes, bb_bytes, io_rate)


def small_machine() -> Machine:
    """Four nodes, two storages of 10 GB, nodes 0 and 1 under one switch of 5 GB/s below a file system of 8 GB/s."""
    links = (Link("pfs", 8 * GB, -1), Link("left", 5 * GB, 0), Link("right", 5 * GB, 0))
    return simple_machine(4, 2, 10 * GB, links, (1, 1, 2, 2))


def book_of(machine: Machine, placement: Placement | None = None) -> Book:
    """The book of an empty machine."""
    return Book(machine, Timeline(machine, 0.0, placement), Walltimes())


@pytest.fixture
def book() -> Iterator[Book]:
    """A book in which job w!a holds node 1, 6 GB on s0 and 2 GB/s; it must prove itself after each test."""
    book = book_of(small_machine())
    book.start(named("a", 1, 6 * GB, 2 * GB), Allocation((1,), (0,), 6 * GB, 2 * GB), 0.0)
    yield book
    book.check()


@pytest.mark.parametrize(("requested", "allocation", "reason"), [
    (named("b", 2), Allocation((0, 1)), "node n1 is held by job 'w!a'"),
    (named("b", 2), Allocation((0,)), "it requests 2 nodes, the allocation has 1"),
    (named("b", 2), Allocation((0, 0)), "node n0 is listed twice"),
    (named("b", 2), Allocation((2, 0)), "the allocation's nodes must ascend"),
    (named("b", 2), Allocation((0, 4)), "unknown node index 4: the machine has nodes 0 to 3"),
    (named("b", 2), Allocation((-1, 0)), "unknown node index -1: the machine has nodes 0 to 3"),
    (named("b", 1, GB), Allocation((0,)), "it requests 1 GB of burst buffer per node, the allocation has 0 GB"),
    (named("b", 2, GB), Allocation((0, 2), (0,), GB),
     "it needs 2 storages (one per node with a burst buffer), the allocation has 1"),
    (named("b", 1), Allocation((0,), (0,)), "it needs 0 storages (one per node with a burst buffer), "),
    (named("b", 1, GB), Allocation((0,), (2,), GB), "unknown storage index 2: the machine has 2 storage nodes"),
    (named("b", 2, 3 * GB), Allocation((0, 2), (0, 0), 3 * GB), "storage s0 has 4 GB left, the allocation takes 6 GB"),
    (named("b", 1, 0, 4 * GB), Allocation((0,), (), 0, 4 * GB),
     "link left has 3 GB/s left, the allocation takes 4 GB/s"),
    (named("b", 1, 0, GB), Allocation((0,), (), 0, 2 * GB),
     "its I/O rate is 1 GB/s per node, the allocation books 2 GB/s"),
    (named("a", 1), Allocation((0,)), "the job already holds 1 nodes"),
])  # fmt: skip
def test_refusals_say_why(book: Book, requested: Job, allocation: Allocation, reason: str) -> None:
    """Every refusal names its cause."""
    said = why_not(book, requested, allocation)
    assert said is not None
    assert said.startswith(reason)
    with pytest.raises(DecisionRefused, match=re.escape(reason)):
        check_start(book, requested, allocation)


def test_a_scheduler_may_ignore_bandwidth(book: Book) -> None:
    """An allocation that books no bandwidth is accepted for any rate of the job."""
    assert why_not(book, named("b", 1, 0, 4 * GB), Allocation((0,))) is None


def test_check_finds_what_does_not_add_up(book: Book) -> None:
    """The invariants are worth something."""
    book.timeline.release(0.0, 60.0, Allocation((), (0,), 1), Resource.BURST_BUFFERS)
    with pytest.raises(AssertionError, match="other bytes are free"):
        book.check()
    book.timeline.reserve(0.0, 60.0, Allocation((), (0,), 1), Resource.BURST_BUFFERS)


@pytest.mark.parametrize(("requested", "reason"), [
    (job(97), "97 nodes > 96"),
    (job(0), "0 nodes < 1"),
    (job(1, 50 * GB), "bb 50 GB > 40 GB of the largest storage node"),
    (job(20, 30 * GB), "20 nodes x 30 GB: only 12 whole requests fit"),
    (job(12, 30 * GB), None),
    (job(70, 0, GB), "70 nodes x 1 GB/s: the links carry only 64; pfs (64 GB/s) carries 64 of its 96"),
    (job(50, 0, 2 * GB), "50 nodes x 2 GB/s: the links carry only 32; pfs (64 GB/s) carries 32 of its 96"),
    (job(13, 0, 5 * GB), "13 nodes x 5 GB/s: the links carry only 12; pfs (64 GB/s) carries 12 of its 96"),
    (job(5, 0, 12 * GB), "5 nodes x 12 GB/s: the links carry only 4; edge0 (20 GB/s) carries 1 of its 24"),
    (job(64, 0, GB), None),
    (job(96), None),
])  # fmt: skip
def test_jobs_that_can_never_run(requested: Job, reason: str | None) -> None:
    """The inequality that cannot hold even in the empty machine, with the level that is too small."""
    links = (Link("pfs", 64 * GB, -1), *(Link(f"edge{i}", 20 * GB, 0) for i in range(4)))
    machine = simple_machine(96, 12, 40 * GB, links, tuple(1 + i // 24 for i in range(96)))
    assert Limits(machine).infeasible_reason(requested) == reason


def test_what_is_not_covered_cannot_be_infeasible() -> None:
    """A scheduler that ignores bandwidth rejects no job for it; without burst buffers the reason says so."""
    assert Limits(small_machine()).infeasible_reason(job(1, 0, 9 * GB), Resource.NODES) is None
    assert Limits(simple_machine(1)).infeasible_reason(job(1, GB)) == "bb 1 GB: the machine has no burst buffers"
    assert Limits(simple_machine(1)).infeasible_reason(job(1, 0, GB)) is None


@settings(max_examples=150)
@given(data=st.data(), machine=machines())
def test_infeasible_means_that_it_does_not_fit_the_empty_machine(data: Any, machine: Machine) -> None:
    """The limits and the timeline draw the same line."""
    limits, empty = Limits(machine), Timeline(machine)
    for _ in range(5):
        requested = replaced(data.draw(jobs(machine)), partitions=(), pools=())
        assert (limits.infeasible_reason(requested) is None) == (empty.fit_now(requested, 1.0) is not None)


@settings(max_examples=80)
@given(data=st.data(), machine=machines())
def test_guard_and_timeline_agree(data: Any, machine: Machine) -> None:
    """In any history of starts and ends: the guard accepts each allocation of the timeline, and refuses where the
    timeline refuses."""
    book = book_of(machine)
    for number in range(data.draw(st.integers(1, 12))):
        if book.running and data.draw(st.booleans()):
            book.end(data.draw(st.sampled_from(sorted(book.running))), 0.0)
        requested = data.draw(jobs(machine))
        requested = Job(f"w!{number}", number, 0.0, 10.0, requested.nodes, requested.bb_bytes, requested.io_rate)
        allocation = book.timeline.fit_now(requested, 10.0)
        if allocation is None:  # try some nodes: the guard must refuse where the timeline does
            nodes = tuple(range(min(requested.nodes, len(machine.nodes))))
            storages = (0,) * len(nodes) if requested.bb_bytes and machine.storages else ()
            allocation = Allocation(nodes, storages, requested.bb_bytes if storages else 0, requested.io_rate)
            assert why_not(book, requested, allocation) is not None
            continue
        assert why_not(book, requested, allocation) is None
        book.start(requested, allocation, 0.0)
        book.check()
        assert len(book.free_nodes()) == book.timeline.free_nodes_now()
