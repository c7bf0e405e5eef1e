"""Window: hand-computed passes, ages, reservations, placement; always feasible, optimal and the same."""

from dataclasses import replace

import pytest

from spillway.base.errors import OptionError
from spillway.base.options import build, describe
from spillway.schedulers.model.explanations import PassNotes, Role
from spillway.schedulers.model.machine import Node, simple_machine
from spillway.schedulers.policies.window import AGES, CHOICES, Choices, Window
from tests.schedulers.policies.scenes import GB, job, numbers, started, view

MACHINE = simple_machine(10, 2, 10 * GB)


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
