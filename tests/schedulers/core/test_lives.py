"""Lives of holdings in a session: a buffer before its nodes, nodes back before the buffer, and the reverse."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from spillway.schedulers.core.ledger import OVERDUE_S, Ledger
from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.policykit.view import Holding
from spillway.schedulers.timeline import Resource, Timeline

NODES, STORAGE, LINKS = Resource.NODES, Resource.BURST_BUFFERS, Resource.BANDWIDTH
JOB = Job("w!1", 0, 0.0, 600.0, 2, 4)
ON = Allocation((0, 1), (0, 1), 4)


@pytest.fixture
def ledger() -> Iterable[Ledger]:
    """Four nodes, two storage nodes of 10 bytes; the ledger must add up after each test."""
    machine = simple_machine(4, 2, 10)
    found = Ledger(machine, Timeline(machine), Walltimes())
    yield found
    found.check()


def test_storage_from_100_to_900_and_nodes_from_160_to_700(ledger: Ledger) -> None:
    """Held first, then nodes, then nodes back, then storage back; expected ends follow.

    At 100 the buffer is held, expected until 1,000. At 160 the job starts for at most 600 s with a tail of 300 s: nodes
    until 760, storage until 1,060. At 700 the nodes come back: the storage is still expected until 1,060. At 900 the
    job is through.
    """
    job = Job("w!1", 0, 0.0, 600.0, 2, 4, lives=Lives(storage_lead_s=60.0, storage_tail_s=300.0))
    ledger.advance(100.0)
    ledger.hold(job, Allocation((), (0, 1), 4), 100.0, 1000.0)
    ledger.check()
    assert ledger.held == {"w!1": Holding(STORAGE, Allocation((), (0, 1), 4), 100.0, 1000.0)}
    assert (ledger.cluster.free_nodes, ledger.cluster.free_storage) == (4, [6, 6])
    ledger.advance(160.0)
    ledger.start(job, ON, 160.0)
    ledger.check()
    assert ledger.held == {}
    assert ledger.running["w!1"].holdings == (
        Holding(STORAGE, ON, 100.0, 1060.0),
        Holding(NODES | LINKS, ON, 160.0, 760.0),
    )
    assert ledger.timeline.breakpoints() == [160.0, 760.0, 1060.0]
    running = ledger.give_back("w!1", 700.0, covering=NODES | LINKS)
    ledger.check()
    assert running.allocation == Allocation((), (0, 1), 4)
    assert running.holdings == (Holding(STORAGE, ON, 100.0, 1060.0),)
    assert running.past == (Holding(NODES | LINKS, ON, 160.0, 700.0),)
    assert (ledger.cluster.free_nodes, ledger.cluster.free_storage) == (4, [6, 6])
    ended = ledger.end("w!1", 900.0)
    assert (ended.holdings, ended.past) == ((Holding(STORAGE, ON, 100.0, 900.0),), running.past)
    assert (ledger.cluster.free_nodes, ledger.cluster.free_storage) == (4, [10, 10])
    assert ledger.timeline.breakpoints() == [900.0]


def test_some_nodes_back_and_their_storage_kept(ledger: Ledger) -> None:
    """One of two nodes, then the request that served it, then the other's request while its node computes on."""
    ledger.start(JOB, ON, 0.0)
    assert ledger.give_back("w!1", 10.0, (0,), NODES).allocation == Allocation((1,), (0, 1), 4)
    ledger.check()
    assert ledger.give_back("w!1", 20.0, (0,), STORAGE).allocation == Allocation((1,), (1,), 4)
    ledger.check()
    running = ledger.give_back("w!1", 30.0, (1,), STORAGE)
    assert running.allocation == Allocation((1,))
    ledger.check()
    assert (ledger.timeline.free_nodes_now(), ledger.timeline.free_storage_now()) == (3, [10, 10])
    assert [(part.covering, part.allocation.nodes, part.end_s) for part in running.past] == [
        (NODES, (0,), 10.0),
        (STORAGE, (0,), 20.0),
        (STORAGE, (1,), 30.0),
    ]
    ledger.end("w!1", 40.0)


@pytest.mark.parametrize(("nodes", "covering"), [((2,), Resource.ALL), ((0, 3), NODES), ((0,), STORAGE)])
def test_what_is_not_held_cannot_be_given_back(ledger: Ledger, nodes: tuple[int, ...], covering: Resource) -> None:
    """A node of others, or a request that was given back before: refused, nothing is changed."""
    ledger.start(JOB, ON, 0.0)
    ledger.give_back("w!1", 1.0, (0,), STORAGE)
    before = ledger.running["w!1"]
    with pytest.raises(ValueError, match="cannot give back what it does not hold for node"):
        ledger.give_back("w!1", 1.0, nodes, covering)
    assert ledger.running["w!1"] is before


def test_each_kind_outlives_its_own_expected_end(ledger: Ledger) -> None:
    """Walltime 600, tail 300. Nodes late at 600: both later by as much. Nodes back at 650, storage late at 960.

    The nodes are booked to 600.001, the storage to 900.001; at 650 to 650.001 and 950.001. Once the nodes are back, the
    storage is on its own: late at 960, it is booked on for as long as its tail was.
    """
    ledger.start(Job("w!1", 0, 0.0, 600.0, 2, 4, lives=Lives(storage_tail_s=300.0)), ON, 0.0)
    assert ledger.timeline.breakpoints() == [0.0, 600.0, 900.0]
    ledger.advance(600.0)
    assert ledger.timeline.breakpoints() == [600.0, 600.0 + OVERDUE_S, 900.0 + OVERDUE_S]
    ledger.advance(650.0)
    assert ledger.timeline.breakpoints() == [650.0, 650.0 + OVERDUE_S, 950.0 + OVERDUE_S]
    ledger.give_back("w!1", 650.0, covering=NODES | LINKS)
    ledger.check()
    ledger.advance(960.0)
    assert ledger.timeline.breakpoints() == [960.0, 1260.0]
    assert ledger.running["w!1"].holdings == (Holding(STORAGE, ON, 0.0, 1260.0),)


def test_a_model_may_know_better(ledger: Ledger) -> None:
    """The drain is expected to be over at 80, then at 200; the nodes are as before."""
    ledger.start(JOB, ON, 0.0)
    ledger.expect("w!1", 80.0, 10.0, STORAGE)
    ledger.check()
    assert ledger.timeline.breakpoints() == [10.0, 80.0, 600.0]
    ledger.expect("w!1", 700.0, 20.0, STORAGE)
    assert ledger.timeline.breakpoints() == [20.0, 600.0, 700.0]


def test_an_evicted_buffer_is_free(ledger: Ledger) -> None:
    """It was expected until 50; what waits longer is booked on for as long again."""
    ledger.hold(JOB, Allocation((), (1, 1), 4), 0.0, 50.0)
    ledger.advance(60.0)
    assert ledger.held["w!1"].end_s == 110.0
    assert ledger.evict("w!1", 70.0) == Holding(STORAGE, Allocation((), (1, 1), 4), 0.0, 70.0)
    assert (ledger.timeline.free_storage_now(), ledger.cluster.free_storage) == ([10, 10], [10, 10])


def test_a_node_that_goes_away_under_a_buffer(ledger: Ledger) -> None:
    """Node 0 is unavailable while the job runs there: it is not free when the job leaves it, the buffer stays."""
    ledger.start(JOB, ON, 0.0)
    ledger.close((0,), (), 5.0)
    ledger.give_back("w!1", 10.0, covering=NODES | LINKS)
    ledger.check()
    assert (ledger.cluster.free_nodes, ledger.timeline.free_nodes_now()) == (3, 3)
    ledger.open((0,), (), 20.0)
    assert ledger.timeline.free_nodes_now() == 4
    ledger.end("w!1", 30.0)


def test_a_job_shorter_than_what_it_gives_back_early(ledger: Ledger) -> None:
    """No walltime to speak of, a lead of 60 s, a buffer back 100 s before the nodes: held at the start, then late."""
    lives = Lives(storage_lead_s=60.0, storage_tail_s=-100.0)
    ledger.advance(10.0)
    ledger.hold(JOB, Allocation((), (0, 1), 4), 10.0, 50.0)
    ledger.advance(20.0)
    ledger.start(Job("w!1", 0, 0.0, 0.0, 2, 4, lives=lives), ON, 20.0)
    ledger.advance(20.0)
    ledger.check()
    assert ledger.timeline.breakpoints() == [20.0, 20.0 + OVERDUE_S]
    assert (ledger.timeline.free_nodes_now(), ledger.timeline.free_storage_now()) == (2, [6, 6])
