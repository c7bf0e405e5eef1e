"""CompactMatrix: move jobs to more populated rows (Zhang et al. 2003, section 3.2, step 2)."""

from __future__ import annotations

from spillway.schedulers.timesharing.bandwidth import NO_STREAMS, Streams
from spillway.schedulers.timesharing.columns import columns_of
from spillway.schedulers.timesharing.matrix import Matrix


def compact(matrix: Matrix, closed: int = 0, streams: Streams = NO_STREAMS) -> Matrix:
    """Move jobs to new home rows, in the same columns, so that few rows hold many jobs.

    As in the paper, rows are visited from the least to the most populated, and for each the possible targets from the
    most to the least populated; one job moves, then the next target is tried; this repeats until nothing changes.
    A row with fewer tasks than a job's own row is no target: otherwise jobs would move back and forth for ever.

    Parameters
    ----------
    matrix
        A matrix without replicas, except of jobs on closed columns.
    closed
        Mask of columns whose jobs stay where they are.
    streams
        Bandwidth that jobs stream: no row takes more than its links carry.
    """
    room = streams.room(matrix)
    places = list(matrix.places)
    rows = range(matrix.level)
    occupied = [0] * matrix.level
    homes: list[list[int]] = [[] for _ in rows]
    for index, place in enumerate(places):
        if place.columns & closed:
            for row in columns_of(place.rows):
                occupied[row] |= place.columns
            continue
        homes[place.home].append(index)
        occupied[place.home] |= place.columns
    tasks = [mask.bit_count() for mask in occupied]
    changed = True
    while changed:
        changed = False
        order = sorted(rows, key=tasks.__getitem__)
        for position, source in enumerate(order):
            for target in reversed(order[position + 1 :]):
                taken = occupied[target]
                if tasks[target] < tasks[source] or taken == matrix.all_columns:
                    continue
                for index in homes[source]:
                    place = places[index]
                    if place.columns & taken:
                        continue
                    rate = streams.rate(place.job)
                    if room.carries(target, place.columns, rate):
                        room.give(source, place.columns, rate)
                        room.take(target, place.columns, rate)
                        homes[source].remove(index)
                        homes[target].append(index)
                        occupied[source] ^= place.columns
                        occupied[target] |= place.columns
                        size = place.columns.bit_count()
                        tasks[source] -= size
                        tasks[target] += size
                        places[index] = place.moved(target, place.columns)
                        changed = True
                        break
    return matrix._replace(places=tuple(places))
