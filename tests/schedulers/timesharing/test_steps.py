"""Each step by hand, and the invariants of all."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import GangMatrix
from spillway.schedulers.timesharing.bandwidth import Links
from spillway.schedulers.timesharing.columns import columns_of, mask_of
from spillway.schedulers.timesharing.rules import PlacementColumns, Queue, Rules
from tests.schedulers.timesharing.matrices import (
    Matrix,
    Place,
    Request,
    Streams,
    clean,
    compact,
    recompute,
    schedule,
)

WIDTH, LEVEL = 6, 3

REQUESTS = st.lists(
    st.integers(1, WIDTH).flatmap(
        lambda size: st.tuples(st.just(size), st.sets(st.integers(0, WIDTH - 1), min_size=size, max_size=size))
    ),
    max_size=8,
)
RULES = st.builds(Rules, st.sampled_from(PlacementColumns), migrate=st.booleans())


@given(requests=REQUESTS, rules=RULES, leaving=st.lists(st.integers(0, 7), max_size=6), tasks=st.integers(0, WIDTH))
def test_events_keep_the_invariants(
    requests: list[tuple[int, set[int]]], rules: Rules, leaving: list[int], tasks: int
) -> None:
    """Jobs come and go: the matrix stays legal, FCFS holds, file-bound jobs are local, only migration moves columns."""
    matrix, queue = Matrix(LEVEL, WIDTH), [Request(n, size, mask_of(files)) for n, (size, files) in enumerate(requests)]
    for gone in [[], *([job] for job in leaving)]:
        before = {place.job: place for place in matrix.places}
        matrix = matrix.without(gone)
        outcome = recompute(matrix, queue, rules, tasks)
        matrix, queue = outcome.matrix, queue[outcome.started :]
        matrix.check()
        jobs = [place.job for place in matrix.places]
        assert jobs == sorted(jobs)
        assert outcome.tasks <= tasks
        for place in matrix.places:
            if rules.where is PlacementColumns.FILES:
                assert place.local
            if place.job in outcome.migrated:
                assert place.columns == place.files
            elif place.job in before:
                assert place.columns == before[place.job].columns
        if queue:
            assert schedule(clean(matrix), queue[:1], rules.where)[1] == 0
        full = matrix.occupied()
        assert all(place.columns & full[row] for place in matrix.places for row in range(LEVEL))


@given(requests=REQUESTS)
def test_compaction_never_spreads(requests: list[tuple[int, set[int]]]) -> None:
    """Sums of squared populations never fall, columns stay, and a second compaction changes nothing."""
    matrix = schedule(
        Matrix(LEVEL, WIDTH),
        [Request(n, size, mask_of(files)) for n, (size, files) in enumerate(requests)],
        PlacementColumns.FILES,
    )[0]
    stages = [matrix, compact(matrix), compact(compact(matrix))]
    weights = [sum(mask.bit_count() ** 2 for mask in stage.occupied()) for stage in stages]
    for (first, second), (before, after) in zip(pairwise(stages), pairwise(weights), strict=True):
        second.check()
        assert before <= after
        assert [place.columns for place in first.places] == [place.columns for place in second.places]
    assert stages[1] == stages[2]


LINKS = Links((0b111111, 0b000111, 0b111000, 0b000011), (100, 70, 70, 40))
"""A tree over the six columns: all of them, two halves, and two columns of the first."""


def overload(matrix: Matrix, streams: Streams) -> list[tuple[int, int]]:
    """Rows and links that carry too much, counted cell by cell."""
    return [
        (row, link)
        for row, cells in enumerate(matrix.cells())
        for link, (below, most) in enumerate(zip(*LINKS, strict=True))
        if sum(streams.rate(job) for column, job in enumerate(cells) if job is not None and below >> column & 1) > most
    ]


def fits(matrix: Matrix, request: Request, where: PlacementColumns, streams: Streams) -> bool:
    """Whether some row has a place for a job, by trying all."""
    sets = [columns_of(request.files)] if where is PlacementColumns.FILES and request.files else []
    for row, full in enumerate(matrix.occupied()):
        for columns in sets or combinations(range(WIDTH), request.size):
            place = Place(request.job, mask_of(columns), row, 1 << row)
            if not full & place.columns and not overload(matrix._replace(places=(*matrix.places, place)), streams):
                return True
    return False


@settings(max_examples=60)
@given(
    requests=REQUESTS,
    rates=st.lists(st.sampled_from([0, 10, 25, 35]), min_size=8, max_size=8),
    rules=RULES,
    leaving=st.lists(st.integers(0, 7), max_size=4),
    closed=st.sampled_from([0, 0, 0b1000]),
)
def test_no_row_overloads_a_link(
    requests: list[tuple[int, set[int]]], rates: list[int], rules: Rules, leaving: list[int], closed: int
) -> None:
    """Each row keeps to every link after all moves; the first job waits only where no choice of columns in any row
    would do; and no job has a hole beside it that its row's links would carry."""
    streams = Streams(LINKS, dict(enumerate(rates)))
    matrix, queue = Matrix(LEVEL, WIDTH), [Request(n, size, mask_of(files)) for n, (size, files) in enumerate(requests)]
    for number, gone in enumerate([[], *([job] for job in leaving)]):
        out = closed if number else 0
        outcome = recompute(matrix.without(gone), queue, rules, WIDTH, out, None, streams)
        matrix, queue = outcome.matrix, queue[outcome.started :]
        matrix.check()
        assert not overload(matrix, streams)
        if out:
            continue
        if queue:
            assert not fits(clean(matrix), queue[0], rules.where, streams)
        for place in matrix.places:
            others = matrix.without([place.job])
            for row in columns_of((1 << LEVEL) - 1 & ~place.rows):
                more = others._replace(places=(*others.places, place.within(place.rows | 1 << row)))
                assert place.columns & matrix.occupied()[row] or overload(more, streams)


def test_scanning_goes_on_after_a_file_that_is_taken_and_a_buffer_that_does_not_fit() -> None:
    """The second job's file is taken, the third's buffer does not fit, the fourth starts."""
    queue = [Request(0, 1, 0b1), Request(1, 1, 0b1), Request(2, 1, 0b10), Request(3, 1, 0b100)]
    held = schedule(
        Matrix(1, 4), queue, PlacementColumns.FILES, hold=lambda job, _: job.job != 2, discipline=Queue.SCAN
    )
    assert [place.job for place in held[0].places] == [0, 3]


def test_a_matrix_refuses_what_is_not_in_it() -> None:
    """Columns beyond the width, rows beyond the level, a home that is not among the rows."""
    matrix = GangMatrix(2, 4)
    with pytest.raises(OverflowError):
        matrix.add(1, 0b10000, 0, 0b1)
    with pytest.raises(OverflowError):
        matrix.recompute([(1, 1, 0b10000, 0)], Rules().of_core)
    for home, rows in ((2, 0b100), (0, 0b101), (0, 0b10)):
        with pytest.raises(ValueError, match="one of its rows"):
            matrix.add(1, 0b1, home, rows)
    for level in (0, 65):
        with pytest.raises(ValueError, match="1 to 64 rows"):
            GangMatrix(level, 4)
    assert matrix.places == []


def test_an_error_in_a_hold_passes_through() -> None:
    """An exception of the policy's own function is the caller's."""

    def fails(job: int, columns: int) -> bool:
        raise RuntimeError(f"no storage for {job}")

    with pytest.raises(RuntimeError, match="no storage for 7"):
        GangMatrix(1, 2).schedule([(7, 1, 0, 0)], PlacementColumns.ANYWHERE.code, hold=fails)
