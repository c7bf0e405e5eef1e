"""Maximising utilisation: hand-computed passes, nothing over-committed, better than filling, always the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Timeline
from spillway.schedulers.model.explanations import PassNotes, Role
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policies.maxutil import MaxUtil
from tests.reference.filling import plain_score
from tests.schedulers.policies.scenes import GB, job, numbers, started, view

MACHINE = simple_machine(10, 2, 10 * GB)
REQUESTS = st.lists(
    st.tuples(
        st.integers(1, 8), st.sampled_from([10.0, 50.0, 100.0, 300.0]), st.sampled_from([0.0, 1.0, 3.0, 5.0, 9.0])
    ),
    max_size=14,
)


def jobs_of(requests: list[tuple[int, float, float]]) -> list[Job]:
    """Jobs submitted one second after the other."""
    return [
        job(i, nodes, wall, bb if nodes * bb <= 18 else 0.0, float(i)) for i, (nodes, wall, bb) in enumerate(requests)
    ]


def test_depth_two_starts_what_its_reservation_begins_now() -> None:
    """The second job's reservation begins now: it starts, but in the thesis's code it waits with its nodes idle."""
    busy = [job(9, 4, 100.0)]
    queue = [job(0, 10, 50.0), job(1, 6, 100.0), job(2, 6, 100.0)]
    assert numbers(started(MaxUtil(depth=2), view(MACHINE, queue, busy=busy))) == [1]
    assert numbers(started(MaxUtil(depth=2, literal_depth=True), view(MACHINE, queue, busy=busy))) == []


def test_climbing_finds_what_the_nine_orders_miss() -> None:
    """In no sorted order of these jobs the first that start use all 10 nodes; 6 and 4 do."""
    queue = [job(i, nodes, 50.0, 0.0, float(i)) for i, nodes in enumerate((8, 6, 7, 5, 9, 9, 4))]
    for evaluations, nodes in ((0, 9), (100, 10)):
        policy = MaxUtil(depth=0, evaluations=evaluations)
        assert sum(start.job.nodes for start in started(policy, view(MACHINE, queue, now_s=50.0))) == nodes
    assert MaxUtil().evaluations == 5000


@pytest.mark.parametrize("queue", [[], [job(0, 1, 5.0)]])
def test_short_queues(queue: list[Job]) -> None:
    """Nothing and one job need no search."""
    assert len(started(MaxUtil(depth=0), view(MACHINE, queue))) == len(queue)
    assert len(started(MaxUtil(depth=1), view(MACHINE, queue))) == len(queue)


@settings(max_examples=80)
@given(REQUESTS, st.integers(0, 5))
def test_never_below_submission_order(requests: list[tuple[int, float, float]], busy: int) -> None:
    """Without reservations the score is at least that of greedy filling."""
    jobs = jobs_of(requests)
    seen = view(MACHINE, jobs[busy:], 20.0, jobs[:busy])
    timeline: Timeline = seen._timeline_source()
    queue = list(seen.queue)
    greedy, _ = plain_score(timeline, queue, range(len(queue)), lambda one: one.walltime_s, True)
    chosen = numbers(started(MaxUtil(depth=0, balance=1e6, evaluations=200), seen))
    order = [next(i for i, one in enumerate(queue) if one.number == number) for number in chosen]
    found, _ = plain_score(timeline, queue, order, lambda one: one.walltime_s, True)
    assert found[:2] >= greedy[:2]


def test_notes_say_why_jobs_wait() -> None:
    """The first job is reserved, the chosen are backfilled, the others passed over."""
    notes = PassNotes()
    busy = [job(9, 4, 100.0)]
    queue = [job(0, 10, 50.0), job(1, 6, 101.0), job(2, 3, 100.0), job(3, 2, 100.0)]
    started(MaxUtil(), view(MACHINE, queue, busy=busy, notes=notes))
    assert {name: note.role for name, note in notes.notes.items()} == {
        "w0!0": Role.RESERVED,
        "w0!1": Role.PASSED_OVER,
        "w0!2": Role.BACKFILLED,
        "w0!3": Role.BACKFILLED,
    }
