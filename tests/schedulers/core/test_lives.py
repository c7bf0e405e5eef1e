"""Lives of holdings in a session: a buffer before its nodes, nodes back before the buffer, and the reverse."""

from collections.abc import Iterable

import pytest

from spillway.core import Resource, Timeline
from spillway.schedulers.core.book import OVERDUE_S, Book
from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.policykit.view import Holding

NODES, STORAGE = Resource.NODES, Resource.BURST_BUFFERS
LINKS = Resource.BANDWIDTH | Resource.POOLS
JOB = Job("w!1", 0, 0.0, 600.0, 2, 4)
ON = Allocation((0, 1), (0, 1), 4)


@pytest.fixture
def book() -> Iterable[Book]:
    """Four nodes, two storage nodes of 10 bytes; the book must add up after each test."""
    machine = simple_machine(4, 2, 10)
    found = Book(machine, Timeline(machine), Walltimes())
    yield found
    found.check()


def test_storage_from_100_to_900_and_nodes_from_160_to_700(book: Book) -> None:
    """Held first, then nodes, then nodes back, then storage back; expected ends follow.

    At 100 the buffer is held, expected until 1,000. At 160 the job starts for at most 600 s with a tail of 300 s: nodes
    until 760, storage until 1,060. At 700 the nodes come back: the storage is still expected until 1,060. At 900 the
    job has ended.
    """
    job = Job("w!1", 0, 0.0, 600.0, 2, 4, lives=Lives(storage_lead_s=60.0, storage_tail_s=300.0))
    book.advance(100.0)
    book.hold(job, Allocation((), (0, 1), 4), 100.0, 1000.0)
    book.check()
    assert book.held == {"w!1": Holding(STORAGE, Allocation((), (0, 1), 4), 100.0, 1000.0)}
    assert (len(book.free_nodes()), book.timeline.free_storage_now()) == (4, [6, 6])
    book.advance(160.0)
    book.start(job, ON, 160.0)
    book.check()
    assert book.held == {}
    assert book.running["w!1"].holdings == (
        Holding(STORAGE, ON, 100.0, 1060.0),
        Holding(NODES | LINKS, ON, 160.0, 760.0),
    )
    assert book.timeline.breakpoints() == [160.0, 760.0, 1060.0]
    running = book.give_back("w!1", 700.0, covering=NODES | LINKS)
    book.check()
    assert running.allocation == Allocation((), (0, 1), 4)
    assert running.holdings == (Holding(STORAGE, ON, 100.0, 1060.0),)
    assert running.past == (Holding(NODES | LINKS, ON, 160.0, 700.0),)
    assert (len(book.free_nodes()), book.timeline.free_storage_now()) == (4, [6, 6])
    ended = book.end("w!1", 900.0)
    assert (ended.holdings, ended.past) == ((Holding(STORAGE, ON, 100.0, 900.0),), running.past)
    assert (len(book.free_nodes()), book.timeline.free_storage_now()) == (4, [10, 10])
    assert book.timeline.breakpoints() == [900.0]


@pytest.mark.parametrize(("nodes", "covering"), [((2,), Resource.ALL), ((0, 3), NODES), ((0,), STORAGE)])
def test_what_is_not_held_cannot_be_given_back(book: Book, nodes: tuple[int, ...], covering: Resource) -> None:
    """A node of others, or a request that was given back before: refused, nothing is changed."""
    book.start(JOB, ON, 0.0)
    book.give_back("w!1", 1.0, (0,), STORAGE)
    before = book.running["w!1"]
    with pytest.raises(ValueError, match="holds nothing to give back for node"):
        book.give_back("w!1", 1.0, nodes, covering)
    assert book.running["w!1"] is before


def test_each_kind_outlives_its_own_expected_end(book: Book) -> None:
    """Walltime 600, tail 300. Nodes late at 600: both later by as much. Nodes back at 650, storage late at 960.

    The nodes are booked to 600.001, the storage to 900.001; at 650 to 650.001 and 950.001. Once the nodes are back, the
    storage is on its own: late at 960, it is booked on for as long as its tail was.
    """
    book.start(Job("w!1", 0, 0.0, 600.0, 2, 4, lives=Lives(storage_tail_s=300.0)), ON, 0.0)
    assert book.timeline.breakpoints() == [0.0, 600.0, 900.0]
    book.advance(600.0)
    assert book.timeline.breakpoints() == [600.0, 600.0 + OVERDUE_S, 900.0 + OVERDUE_S]
    book.advance(650.0)
    assert book.timeline.breakpoints() == [650.0, 650.0 + OVERDUE_S, 950.0 + OVERDUE_S]
    book.give_back("w!1", 650.0, covering=NODES | LINKS)
    book.check()
    book.advance(960.0)
    assert book.timeline.breakpoints() == [960.0, 1260.0]
    assert book.running["w!1"].holdings == (Holding(STORAGE, ON, 0.0, 1260.0),)


def test_a_job_shorter_than_what_it_gives_back_early(book: Book) -> None:
    """No walltime to speak of, a lead of 60 s, a buffer back 100 s before the nodes: held at the start, then late."""
    lives = Lives(storage_lead_s=60.0, storage_tail_s=-100.0)
    book.advance(10.0)
    book.hold(JOB, Allocation((), (0, 1), 4), 10.0, 50.0)
    book.advance(20.0)
    book.start(Job("w!1", 0, 0.0, 0.0, 2, 4, lives=lives), ON, 20.0)
    book.advance(20.0)
    book.check()
    assert book.timeline.breakpoints() == [20.0, 20.0 + OVERDUE_S]
    assert (book.timeline.free_nodes_now(), book.timeline.free_storage_now()) == (2, [6, 6])
