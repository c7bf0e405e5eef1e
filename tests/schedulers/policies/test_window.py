"""Window: hand-computed passes, ages, reservations, placement; always feasible, optimal and the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from spillway.base.errors import OptionError
from spillway.base.options import build, describe
from spillway.schedulers.model.explanations import PassNotes, Role
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Link, Machine, Node, simple_machine
from spillway.schedulers.policies.window import AGES, CHOICES, Choices, Window
from tests.schedulers.policies.scenes import GB, job, numbers, started, view

MACHINE = simple_machine(10, 2, 10 * GB)
REQUESTS = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from([10.0, 50.0, 100.0]), st.sampled_from([0.0, 1.0, 3.0, 4.0, 5.0, 9.0])),
    max_size=9,
)


def jobs_of(requests: list[tuple[int, float, float]]) -> list[Job]:
    """Jobs submitted one second after the other."""
    return [
        job(i, nodes, wall, bb if nodes * bb <= 18 else 0.0, float(i)) for i, (nodes, wall, bb) in enumerate(requests)
    ]


METHODS = pytest.mark.parametrize("method", ["bb", "largest-first"])


@METHODS
def test_best_set_of_the_window(method: str) -> None:
    """6 nodes are free: 3 + 3 uses all of them, only the first job 5. Backfilling then finds nothing."""
    queue = [job(0, 5, 50.0), job(1, 3, 50.0), job(2, 3, 50.0)]
    seen = view(MACHINE, queue, busy=[job(9, 4, 100.0)])
    assert numbers(started(Window(size=10, method=method), seen)) == [1, 2]
    assert seen.notebook[CHOICES].made == seen.notebook[CHOICES].proven == 1


@METHODS
def test_burst_buffers_are_whole_per_node(method: str) -> None:
    """Rooms of 10 and 10 GB hold two units of 6 GB, not three; 6 + 6 and 4 + 4 fill them."""
    queue = [job(0, 3, 50.0, 6.0), job(1, 2, 50.0, 6.0), job(2, 2, 50.0, 4.0), job(3, 1, 50.0, 3.0)]
    seen = view(MACHINE, queue)
    starts = started(Window(size=10, method=method), seen)
    assert numbers(starts) == [1, 2]
    assert sorted(starts[0].allocation.storages) == [0, 1]
    assert sorted(starts[1].allocation.storages) == [0, 1]


def test_only_the_window_is_looked_at_but_all_are_backfilled() -> None:
    """A window of one sees the first job only; the shortest of the others fills the rest."""
    queue = [job(0, 5, 50.0), job(1, 6, 50.0), job(2, 5, 60.0), job(3, 5, 40.0)]
    assert numbers(started(Window(size=1), view(MACHINE, queue))) == [0, 3]
    assert numbers(started(Window(size=3), view(MACHINE, queue))) == [0, 2]


def test_ages_count_passes_in_the_window() -> None:
    """Each pass adds one; a job that leaves the window is forgotten."""
    notebook: dict[str, object] = {}
    queue = [job(0, 10, 50.0), job(1, 10, 50.0), job(2, 10, 50.0)]
    busy = [job(9, 4, 100.0)]
    for _ in range(3):
        started(Window(size=2), view(MACHINE, queue, busy=busy, notebook=notebook))
    assert notebook[AGES] == {"w0!0": 3, "w0!1": 3}
    started(Window(size=2), view(MACHINE, queue[1:], busy=busy, notebook=notebook))
    assert notebook[AGES] == {"w0!1": 4, "w0!2": 1}


def test_old_first_job_must_be_chosen() -> None:
    """Young, the first job loses against 5 + 5 nodes; at the maximum age it starts although 4 + 5 is less."""
    queue = [job(0, 4, 50.0), job(1, 5, 50.0), job(2, 5, 60.0)]
    young, old = {AGES: {"w0!0": 48}}, {AGES: {"w0!0": 49}}
    assert numbers(started(Window(), view(MACHINE, queue, notebook=young))) == [1, 2]
    assert numbers(started(Window(), view(MACHINE, queue, notebook=old))) == [0, 1]
    assert numbers(started(Window(depth=0), view(MACHINE, queue, notebook={AGES: {"w0!0": 49}}))) == [1, 2]


@pytest.mark.parametrize(
    ("reserve", "age", "jobs"),
    [
        ("aged", 10, [1]),  # no reservation: the long job takes the nodes the first one waits for
        ("aged", 99, [2]),  # too old, and not to be started: nothing is chosen, plain backfilling with a reservation
        ("always", 10, [1]),  # the choice itself needs no reservation
        ("always", 99, [2]),
        ("empty", 99, [2]),
    ],
)
def test_old_first_job_that_cannot_start(reserve: str, age: int, jobs: list[int]) -> None:
    """6 nodes are free until 100; the first job needs 10 then; jobs 1 (long) and 2 (short) fill in."""
    queue = [job(0, 10, 50.0), job(1, 6, 200.0), job(2, 5, 100.0)]
    seen = view(MACHINE, queue, busy=[job(9, 4, 100.0)], notebook={AGES: {"w0!0": age}})
    assert numbers(started(Window(reserve=reserve), seen)) == jobs


@pytest.mark.parametrize(("reserve", "jobs"), [("aged", [1]), ("empty", []), ("always", [])])
def test_reservation_in_backfilling(reserve: str, jobs: list[int]) -> None:
    """Nothing of a window of one fits; the long job behind it may only start without a reservation."""
    queue = [job(0, 10, 50.0), job(1, 6, 200.0)]
    seen = view(MACHINE, queue, busy=[job(9, 4, 100.0)])
    assert numbers(started(Window(size=1, reserve=reserve), seen)) == jobs


def test_near_storage_unless_the_set_needs_more() -> None:
    """Placed one by one (5 + 4 + 1 on the first storage), job 2 of 9 GB would not fit: the packing is used."""
    machine = simple_machine(10, 2, 10 * GB)
    easy = started(Window(), view(machine, [job(0, 1, 50.0, 5.0), job(1, 1, 50.0, 5.0)]))
    assert [start.allocation.storages for start in easy] == [(0,), (0,)]
    queue = [job(0, 1, 50.0, 3.0), job(1, 1, 50.0, 6.0), job(2, 2, 50.0, 4.0), job(3, 1, 50.0, 3.0)]
    tight = started(Window(), view(machine, queue))
    assert sorted(numbers(tight)) == [0, 1, 2, 3]


def test_solver_placement_takes_nodes_by_batsim_id() -> None:
    """Placement order n2, n1, n0, but Batsim's ids run the other way."""
    base = simple_machine(3, 1, 10 * GB)
    nodes = tuple(Node(2 - i, f"n{2 - i}", ()) for i in range(3))
    machine = replace(base, nodes=nodes, node_index={2 - i: i for i in range(3)})
    queue = [job(0, 1, 50.0, 1.0), job(1, 1, 50.0, 1.0)]
    near, solver = (started(Window(size=10, placement=how), view(machine, queue)) for how in ("nearest", "solver"))
    assert [start.allocation.nodes for start in near] == [(0,), (1,)]
    assert [start.allocation.nodes for start in solver] == [(2,), (1,)]


def linked() -> Machine:
    """Ten nodes under two switches of 60 below a file system of 100."""
    return simple_machine(
        10, 2, 10 * GB, (Link("pfs", 100, -1), Link("a", 60, 0), Link("b", 60, 0)), tuple(1 + i // 5 for i in range(10))
    )


@pytest.mark.parametrize("placement", ["nearest", "solver"])
def test_bandwidth_of_the_root_is_part_of_the_choice(placement: str) -> None:
    """Each node of the first two jobs takes 30; three nodes fit under the file system, so one of these jobs waits."""
    queue = [job(0, 2, 50.0, 1.0, 0.0, 30), job(1, 2, 50.0, 1.0, 1.0, 30), job(2, 6, 50.0, 0.5)]
    starts = started(Window(placement=placement), view(linked(), queue, now_s=9.0))
    assert sorted(numbers(starts)) == [0, 2]


def test_remarks_and_counts() -> None:
    """A budget of zero leaves gaps, which the notes and the counts report."""
    queue = [job(0, 3, 50.0, 4.0), job(1, 1, 50.0, 5.0), job(2, 2, 50.0, 7.0)]
    machine = replace(
        simple_machine(6, 2),
        storages=tuple(
            replace(storage, capacity_bytes=size * GB)
            for storage, size in zip(simple_machine(6, 2).storages, (15, 16), strict=True)
        ),
    )
    notes = PassNotes()
    seen = view(machine, queue, notes=notes)
    policy = Window(steps=0)
    assert sorted(numbers(started(policy, seen))) in ([0, 1], [0, 2])
    counts = seen.notebook[CHOICES]
    assert isinstance(counts, Choices)
    assert (counts.made, counts.proven) == (1, 0)
    assert counts.first_gap + counts.second_gap > 0
    assert "gap" in notes.remarks[0]
    assert notes.notes["w0!0"].role is Role.STARTED
    exact = PassNotes()
    assert len(started(Window(), view(machine, queue, notes=exact))) == 3
    assert "proven best" in exact.remarks[0]


def test_options() -> None:
    """Options come from texts; the thesis's loop refuses windows it cannot look through."""
    assert {"size", "max_age", "depth", "balance", "method"} <= {info.name for info in describe(Window)}
    assert build(Window, {"size": "10", "method": "largest-first"}) == Window(size=10, method="largest-first")
    with pytest.raises(OptionError, match="at most 16 with method 'largest-first', got 40"):
        build(Window, {"method": "largest-first"})
