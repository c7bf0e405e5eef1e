"""The book by hand: starts, ends that come late, nodes gained and left, jobs that move, nodes that go away."""

from __future__ import annotations

import dataclasses

import pytest

from spillway.core import Resource, Timeline
from spillway.schedulers.core.book import OVERDUE_S, Book
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.machine import CountedPool, simple_machine
from spillway.schedulers.policykit.estimates import Walltimes

JOB = Job("w!1", 0, 0.0, 10.0, 2)


@pytest.fixture
def book() -> Book:
    """Six nodes; a job of 10 s runs on two of them since time 0."""
    machine = simple_machine(6)
    found = Book(machine, Timeline(machine), Walltimes())
    found.start(JOB, Allocation((0, 1)), 0.0)
    return found


def test_a_job_is_booked_until_its_walltime(book: Book) -> None:
    """The booking ends at once when the job ends before that."""
    book.check()
    assert book.timeline.breakpoints() == [0.0, 10.0]
    assert [running.job for running in book.running.values()] == [JOB]
    assert book.end("w!1", 4.0).end_s == 10.0
    book.check()
    assert (len(book.free_nodes()), book.timeline.free_nodes_now(), len(book.running.values())) == (6, 6, 0)


def test_a_late_job_is_booked_on(book: Book) -> None:
    """A moment longer than its walltime, as often as it takes; not when it ends just then."""
    book.advance(10.0)
    assert book.timeline.breakpoints() == [10.0, 10.0 + OVERDUE_S]
    book.advance(11.0)
    assert book.timeline.free_nodes_now() == 4
    book.end("w!1", 11.5)
    assert book.timeline.breakpoints() == [11.5]
    book.check()


def test_what_is_counted_may_be_back_before_nodes() -> None:
    """A job with two of six nodes and two of three licenses gives these back at 4 s, and its nodes at 5 s."""
    machine = dataclasses.replace(simple_machine(6), pools=(CountedPool("license x", 3, license=True),))
    book = Book(machine, Timeline(machine), Walltimes())
    book.start(replaced(JOB, pools=(2,)), Allocation((0, 1), pools=(2,)), 0.0)
    assert book.timeline.free_pools_now() == [1]
    changed = book.give_back("w!1", 4.0, covering=Resource.POOLS)
    book.check()
    assert changed.allocation == Allocation((0, 1))
    assert (book.timeline.free_pools_now(), book.timeline.free_nodes_now()) == ([3], 4)
    book.end("w!1", 5.0)
    book.check()
    assert book.timeline.free_nodes_now() == 6


def test_extra_nodes_are_booked_until_they_are_expected_back(book: Book) -> None:
    """Three of its five nodes leave, two extra ones and one of its own: they are free, the others booked to the end."""
    running = book.expand("w!1", Allocation((3, 4, 5)), 1.0, 6.0)
    assert running.allocation.nodes == (0, 1, 3, 4, 5)
    assert book.timeline.breakpoints() == [1.0, 6.0, 10.0]
    book.check()
    assert book.give_back("w!1", 2.0, (1, 3, 4)).allocation.nodes == (0, 5)
    assert (len(book.free_nodes()), book.timeline.free_nodes_now()) == (4, 4)
    book.check()


def test_a_job_moves(book: Book) -> None:
    """Off its nodes and onto others, with the same end."""
    book.advance(3.0)
    book.lift("w!1", 3.0)
    assert book.timeline.free_nodes_now() == 6
    book.place(JOB, Allocation((4, 5)), 3.0)
    assert book.running["w!1"].allocation.nodes == (4, 5)
    assert book.running["w!1"].start_s == 0.0
    assert book.timeline.free_nodes_now() == 4
    book.check()


def test_a_busy_node_that_goes_away_stays_away(book: Book) -> None:
    """It is used to the job's end, and free again only when the machine has it back."""
    book.close((0, 2), (), 1.0)
    assert book.timeline.free_nodes_now() == 3
    book.end("w!1", 5.0)
    assert (len(book.free_nodes()), book.timeline.free_nodes_now()) == (4, 4)
    book.open((0, 2), (), 6.0)
    assert (len(book.free_nodes()), book.timeline.free_nodes_now()) == (6, 6)
    book.check()


def test_an_extra_node_that_becomes_unavailable_is_not_free_afterwards(book: Book) -> None:
    """It remains in use; given back, it is out until it becomes available again."""
    book.expand("w!1", Allocation((3,)), 0.0, 5.0)
    book.close((3,), (), 0.0)
    book.advance(5.0)
    book.check()
    book.give_back("w!1", 5.0, (3,))
    assert book.timeline.free_nodes_now() == 3
    book.open((3,), (), 5.0)
    assert book.timeline.free_nodes_now() == 4
    book.check()
