"""The ledger by hand: starts, ends that come late, nodes gained and left, jobs that move, nodes that go away."""

from __future__ import annotations

import pytest

from spillway.schedulers.core.ledger import OVERDUE_S, Ledger
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.timeline import Timeline

JOB = Job("w!1", 0, 0.0, 10.0, 2)


@pytest.fixture
def ledger() -> Ledger:
    """Six nodes; a job of 10 s runs on two of them since time 0."""
    machine = simple_machine(6)
    found = Ledger(machine, Timeline(machine), Walltimes())
    found.start(JOB, Allocation((0, 1)), 0.0)
    return found


def test_a_job_is_booked_until_its_walltime(ledger: Ledger) -> None:
    """And gone at once when it ends before that."""
    ledger.check()
    assert ledger.timeline.breakpoints() == [0.0, 10.0]
    assert [running.job for running in ledger.jobs()] == [JOB]
    assert ledger.end("w!1", 4.0).end_s == 10.0
    ledger.check()
    assert (ledger.cluster.free_nodes, ledger.timeline.free_nodes_now(), len(ledger.jobs())) == (6, 6, 0)


def test_a_late_job_is_booked_on(ledger: Ledger) -> None:
    """A moment longer than its walltime, as often as it takes; not when it ends just then."""
    ledger.advance(10.0)
    assert ledger.timeline.breakpoints() == [10.0, 10.0 + OVERDUE_S]
    ledger.advance(11.0)
    assert ledger.timeline.free_nodes_now() == 4
    ledger.end("w!1", 11.5)
    assert ledger.timeline.breakpoints() == [11.5]
    ledger.check()


def test_extra_nodes_are_booked_until_they_are_expected_back(ledger: Ledger) -> None:
    """Three of its five nodes leave, two extra ones and one of its own: they are free, the others booked to the end."""
    running = ledger.expand("w!1", Allocation((3, 4, 5)), 1.0, 6.0)
    assert running.allocation.nodes == (0, 1, 3, 4, 5)
    assert ledger.timeline.breakpoints() == [1.0, 6.0, 10.0]
    ledger.check()
    assert ledger.give_back("w!1", 2.0, (1, 3, 4)).allocation.nodes == (0, 5)
    assert (ledger.cluster.free_nodes, ledger.timeline.free_nodes_now()) == (4, 4)
    assert ledger.extra.nodes_of("w!1") == {5}
    ledger.check()


def test_a_job_moves(ledger: Ledger) -> None:
    """Off its nodes and onto others, with the same end."""
    ledger.advance(3.0)
    ledger.lift("w!1", 3.0)
    assert ledger.timeline.free_nodes_now() == 6
    ledger.place(JOB, Allocation((4, 5)), 3.0)
    assert ledger.running["w!1"].allocation.nodes == (4, 5)
    assert ledger.running["w!1"].start_s == 0.0
    assert ledger.timeline.free_nodes_now() == 4
    ledger.check()


def test_a_busy_node_that_goes_away_stays_away(ledger: Ledger) -> None:
    """It is used to the job's end, and free again only when the machine has it back."""
    ledger.close((0, 2), (), 1.0)
    assert ledger.timeline.free_nodes_now() == 3
    ledger.end("w!1", 5.0)
    assert (ledger.cluster.free_nodes, ledger.timeline.free_nodes_now()) == (4, 4)
    ledger.open((0, 2), (), 6.0)
    assert (ledger.cluster.free_nodes, ledger.timeline.free_nodes_now()) == (6, 6)
    ledger.check()
