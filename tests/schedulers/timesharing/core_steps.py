"""The core's steps as functions of plain matrices, in the form of :mod:`tests.reference.gang_steps`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from spillway.core import GangMatrix
from spillway.schedulers.timesharing.rules import Queue, Rules, Target, Where
from tests.reference.gang_matrix import NO_STREAMS, Matrix, Place, Request, Streams
from tests.reference.gang_steps import Hold, Migrated, Outcome

_Row = tuple[int, int, int, int]


def of_core(matrix: Matrix, streams: Streams = NO_STREAMS) -> GangMatrix:
    """The same matrix in the core."""
    below = [mask & matrix.all_columns for mask in streams.links.below]
    links = list(zip(below, streams.links.bytes_per_s, strict=True))
    made = GangMatrix(matrix.level, matrix.width, links)
    for place in matrix.places:
        made.add(*place, streams.rate(place.job))
    return made


def plain(matrix: GangMatrix) -> Matrix:
    """The plain matrix of the core's."""
    places = [Place(one.job, one.columns, one.home, one.rows, one.files) for one in matrix.places]
    assert [place.local for place in places] == [one.local for one in matrix.places]
    return Matrix(matrix.level, matrix.width, tuple(places))


def clean(matrix: Matrix, closed: int = 0) -> Matrix:
    """CleanMatrix."""
    made = of_core(matrix)
    made.clean(closed)
    return plain(made)


def migrate(
    matrix: Matrix, tasks: int, target: Target = Target.FIRST, closed: int = 0, streams: Streams = NO_STREAMS
) -> Migrated:
    """MigrateMatrix."""
    made = of_core(matrix, streams)
    outcome = made.migrate(tasks, target is Target.FULLEST, closed)
    return Migrated(plain(made), tuple(outcome.migrated), outcome.tasks)


def compact(matrix: Matrix, closed: int = 0, streams: Streams = NO_STREAMS) -> Matrix:
    """CompactMatrix."""
    made = of_core(matrix, streams)
    made.compact(closed)
    return plain(made)


def schedule(
    matrix: Matrix,
    queue: Iterable[Request],
    where: Where,
    closed: int = 0,
    hold: Hold | None = None,
    streams: Streams = NO_STREAMS,
    discipline: Queue = Queue.STOP,
) -> tuple[Matrix, int]:
    """Place waiting jobs."""
    made, waiting = of_core(matrix, streams), list(queue)
    holds = None if hold is None else _holds(waiting, hold)
    placed = made.schedule(_rows(waiting, streams), where.code, discipline is Queue.SCAN, closed, holds)
    return plain(made), len(placed)


def fill(matrix: Matrix, local_first: bool = False, closed: int = 0, streams: Streams = NO_STREAMS) -> Matrix:
    """FillMatrix."""
    made = of_core(matrix, streams)
    made.fill(local_first, closed)
    return plain(made)


def recompute(
    matrix: Matrix,
    queue: Iterable[Request],
    rules: Rules,
    tasks: int = 0,
    closed: int = 0,
    hold: Hold | None = None,
    streams: Streams = NO_STREAMS,
) -> Outcome:
    """All steps; what the core says of changed and started jobs is what the matrices show."""
    made, waiting = of_core(matrix, streams), list(queue)
    holds = None if hold is None else _holds(waiting, hold)
    outcome = made.recompute(_rows(waiting, streams), rules.of_core, tasks, closed, holds)
    after, old = plain(made), len(matrix.places)
    assert [place.job for place in outcome.started] == [place.job for place in after.places[old:]]
    changed = [new for new, before in zip(after.places[:old], matrix.places, strict=True) if new != before]
    assert [place.job for place in outcome.changed] == [place.job for place in changed if _moved(place, matrix)]
    return Outcome(after, len(outcome.started), tuple(outcome.migrated), outcome.tasks)


def _moved(place: Place, before: Matrix) -> bool:
    """Whether a job has other rows or columns."""
    (old,) = [one for one in before.places if one.job == place.job]
    return (place.rows, place.columns) != (old.rows, old.columns)


def _rows(queue: Sequence[Request], streams: Streams) -> list[_Row]:
    return [(one.job, one.size, one.files, streams.rate(one.job)) for one in queue]


def _holds(queue: Sequence[Request], hold: Hold) -> Callable[[int, int], bool]:
    """``hold`` by the number of a job."""
    requests = {one.job: one for one in queue}
    return lambda job, columns: hold(requests[job], columns)
