"""The small examples of Zhang et al. 2003 (Figures 3, 5 and 7), cell for cell."""

from __future__ import annotations

import pytest

from spillway.schedulers.timesharing.columns import mask_of
from spillway.schedulers.timesharing.rules import PlacementColumns, Rules
from spillway.schedulers.timesharing.slices import Slices
from tests.schedulers.timesharing.matrices import (
    Matrix,
    Request,
    clean,
    drawing,
    lines,
    matrix_from,
    migrate,
    recompute,
    schedule,
)

FIGURE_3 = """
1 1 1 1 1 1 1 1
2 2 2 2 2 2 2 2
3 3 3 3 4 4 5 5
6 6 6 6 4 4 5 5
"""

FILES = {"A": (0, 1), "B": (1, 2)}
"""Figure 5: F lies on nodes 1 and 2, G on nodes 2 and 3 (counted from 1 there)."""


def request(name: str, size: int, files: tuple[int, ...] = ()) -> Request:
    """A waiting job by its letter."""
    return Request(ord(name), size, mask_of(files))


def test_figure_3_is_legal_and_cyclic() -> None:
    """Every cell holds one task, and time-slice 3 is followed by 0: each row runs at a quarter of the speed."""
    matrix = matrix_from(FIGURE_3)
    matrix.check()
    assert drawing(matrix) == lines(FIGURE_3)
    slices = Slices(4, 200)
    assert [slices.row(200 * n) for n in range(9)] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    rows = {chr(place.job): place.rows for place in matrix.places}
    assert [200 * rows[name].bit_count() for name in "123456"] == [200, 200, 200, 400, 400, 200]


def test_figure_3_comes_of_the_steps() -> None:
    """Jobs of 8, 8, 4, 2, 2 and 4 tasks, one after the other under plain gang scheduling, give Figure 3's matrix."""
    matrix = Matrix(4, 8)
    for name, size in zip("123456", (8, 8, 4, 2, 2, 4), strict=True):
        matrix = recompute(matrix, [request(name, size)], Rules()).matrix
        matrix.check()
    assert drawing(matrix) == lines(FIGURE_3)


def test_figure_3_without_replicas() -> None:
    """CleanMatrix leaves J4 and J5 in their home row alone."""
    assert drawing(clean(matrix_from(FIGURE_3)))[3] == "6 6 6 6 . . . ."


def test_figure_5a_iogs_wastes_half_of_the_matrix() -> None:
    """A and B share node 2: neither can be replicated, half of the cells stay empty, and C (3 tasks) has to wait."""
    queue = [request("A", 2, FILES["A"]), request("B", 2, FILES["B"])]
    rules = Rules(PlacementColumns.FILES)
    outcome = recompute(Matrix(2, 4), queue, rules)
    assert drawing(outcome.matrix) == lines("A A . .\n. B B .")
    assert outcome.started == 2
    assert recompute(outcome.matrix, [request("C", 3, (1, 2, 3))], rules).started == 0


def test_figure_5b_gs_uses_the_whole_matrix() -> None:
    """Plain gang scheduling puts A and B side by side and replicates both; C then finds a row."""
    queue = [request("A", 2, FILES["A"]), request("B", 2, FILES["B"])]
    outcome = recompute(Matrix(2, 4), queue, Rules())
    assert drawing(outcome.matrix) == lines("A A B B\nA A B B")
    with_c = recompute(outcome.matrix, [request("C", 3, (1, 2, 3))], Rules())
    assert drawing(with_c.matrix) == lines("A A B B\nC C C .")


def test_figure_7_without_migration_stays_remote() -> None:
    """D came when A and B were on its file's nodes: adaptive placement puts it beside B, on nodes 1 and 3."""
    files = {"D": (0, 1)}
    before = matrix_from("A A C C\n. B . .", files)
    placed, count = schedule(before, [request("D", 2, files["D"])], PlacementColumns.FILES_FIRST)
    assert count == 1
    assert drawing(placed) == lines("A A C C\nD B D .")
    assert not placed.places[-1].local
    after = recompute(placed.without([ord("A")]), [], Rules(PlacementColumns.FILES_FIRST)).matrix
    (remote,) = [place for place in after.places if place.job == ord("D")]
    assert remote.columns == mask_of((0, 2))


def test_figure_7_migration_brings_d_home() -> None:
    """A leaves: D moves from row 2 to row 1, onto nodes 1 and 2; one task (that of node 3) changes its node."""
    matrix = matrix_from("A A C C\nD B D .", {"D": (0, 1)}, order="ACBD")
    outcome = migrate(matrix.without([ord("A")]), tasks=64)
    assert drawing(outcome.matrix) == lines("D D C C\n. B . .")
    assert outcome.jobs == (ord("D"),)
    assert outcome.tasks == 1
    assert outcome.matrix.places[-1].local


@pytest.mark.parametrize(("tasks", "moves"), [(0, 0), (1, 1)])
def test_figure_7_under_the_limit(tasks: int, moves: int) -> None:
    """Q counts tasks that change their node: 0 is adaptive scheduling, 1 is enough for D."""
    matrix = matrix_from(". . C C\nD B D .", {"D": (0, 1)})
    assert len(migrate(matrix, tasks).jobs) == moves
