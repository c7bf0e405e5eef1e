"""MigrateMatrix: move remote jobs to their file's nodes where those are free (Zhang et al. 2003, section 3.6)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

from spillway.schedulers.timesharing.bandwidth import NO_STREAMS, Room, Streams
from spillway.schedulers.timesharing.matrix import Matrix, Place
from spillway.schedulers.timesharing.slices import Slices


class Target(enum.Enum):
    """Choices of a row for a job whose file's nodes are free in several rows."""

    FIRST = "first"
    """The first in order of rows: the paper's algorithm."""
    FULLEST = "fullest"
    """The one with the fewest free cells: the paper's second option, which it leaves for later."""


class MigrationStart(enum.Enum):
    """Times at which a job that was moved to other nodes begins to restart there."""

    NEXT_QUANTUM = "next-quantum"
    """At the beginning of the next time slice, as published. In the rest of the running slice the job continues on its
    old nodes, unless another job received them in this slice."""
    AT_ONCE = "at-once"
    """At the decision, inside the running slice."""

    def begins_us(self, now_us: int, slices: Slices) -> int:
        """Instant from which a job that is moved now belongs to its new nodes (microseconds).

        A decision at the very beginning of a slice is in time for that slice.
        """
        return now_us if self is MigrationStart.AT_ONCE else slices.begin_us(now_us)


class _Migrated(NamedTuple):
    """Result of a migration step: the new matrix, the migrated jobs, the number of tasks that changed their node."""

    matrix: Matrix
    jobs: tuple[int, ...]
    tasks: int


def migrate(
    matrix: Matrix, tasks: int, target: Target = Target.FIRST, closed: int = 0, streams: Streams = NO_STREAMS
) -> _Migrated:
    """Move remote jobs to their files' nodes, in order of their start, until nothing changes.

    Parameters
    ----------
    matrix
        A matrix without replicas.
    tasks
        Most tasks that may change their node (the rest of the slice's limit Q); a job that needs more is skipped.
    target
        Choice among several rows.
    closed
        Mask of columns that take no further jobs, and whose jobs stay where they are.
    streams
        Bandwidth that jobs stream: no row takes more than its links carry.
    """
    room = streams.room(matrix)
    places = list(matrix.places)
    usable = matrix.all_columns & ~closed
    free = [usable & ~mask for mask in matrix.occupied()]
    moved: list[int] = []
    left = tasks
    changed = True
    while changed:
        changed = False
        somewhere = 0
        for mask in free:
            somewhere |= mask
        for index, place in enumerate(places):
            away = place.files & ~place.columns
            if not away or away & ~somewhere or place.columns & closed:
                continue  # local already, or a file's node is free in no row, or it cannot be moved
            need = away.bit_count()
            if need > left:
                continue
            rate = streams.rate(place.job)
            room.give(place.home, place.columns, rate)
            row = _row(free, place, target, usable, room, rate)
            if row is None:
                room.take(place.home, place.columns, rate)
                continue
            room.take(row, place.files, rate)
            free[place.home] |= place.columns & usable
            somewhere |= place.columns & usable
            free[row] &= ~place.files
            places[index] = place.moved(row, place.files)
            moved.append(place.job)
            left -= need
            changed = True
    return _Migrated(matrix._replace(places=tuple(places)), tuple(moved), tasks - left)


def _row(free: Sequence[int], place: Place, target: Target, usable: int, room: Room, rate: int) -> int | None:
    """A row in which the file's nodes are free and whose links carry the job; its own row is considered without it."""
    own = place.columns & usable
    fitting = [
        row
        for row, mask in enumerate(free)
        if not place.files & ~(mask | own if row == place.home else mask) and room.carries(row, place.files, rate)
    ]
    if not fitting:
        return None
    return fitting[0] if target is Target.FIRST else min(fitting, key=lambda row: free[row].bit_count())
