"""Compiled steps of :mod:`spillway.schedulers.timesharing`, without streams, buffers and nodes that are out.

Jobs are rows of arrays; a set of columns is a row of words with :data:`WORD` bits each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import boolean, int64, types

from spillway.base.kernel_cache import drop_older_than, njit

WORD = 60
"""Columns in a word: the sign bit of whole numbers stays free."""

Ints = npt.NDArray[np.int64]

ROW = types.Array(types.int64, 1, "C")
ROWS = types.Array(types.int64, 2, "C")


class Rules(NamedTuple):
    """Rules of the steps; each field is a whole number, 0 for no.

    Attributes
    ----------
    where
        0: anywhere, 1: on the file's nodes, 2: on these first.
    local_first, migrate, fullest, compaction, scan
        As in :class:`spillway.schedulers.timesharing.recomputing.Rules`.
    """

    where: int
    local_first: int
    migrate: int
    fullest: int
    compaction: int
    scan: int


RULES = types.NamedUniTuple(types.int64, 6, Rules)


class Places(NamedTuple):
    """The jobs in the matrix; all arrays except ``order`` and ``count`` are indexed by the number of the job.

    Attributes
    ----------
    order
        Jobs in order of their start; the first ``count[0]``.
    count
        Number of jobs in the matrix; tasks that have migrated in the running slice; migrations; first and last job of
        the queue (-1: no job).
    home, rows
        Home row; mask of the rows.
    columns, files
        Sets of columns.
    following
        Next job of the queue (-1: no job).
    """

    order: Ints
    count: Ints
    home: Ints
    rows: Ints
    columns: Ints
    files: Ints
    size: Ints
    following: Ints


PLACES = types.NamedTuple((ROW, ROW, ROW, ROW, ROWS, ROWS, ROW, ROW), Places)
JOBS, USED, MOVES, FIRST, LAST = range(5)
"""Indices in ``count``."""


@njit(int64(int64), cache=True)
def _bits(word: int) -> int:
    word = word - ((word >> 1) & 0x5555555555555555)
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((word * 0x0101010101010101) >> 56) & 0x7F


drop_older_than(_bits.stats.cache_path, __file__)


@njit(int64(ROW), cache=True)
def _total(mask: Ints) -> int:
    found = 0
    for word in mask:
        found += _bits(word)
    return found


@njit(boolean(ROW, ROW), cache=True)
def _within(mask: Ints, other: Ints) -> bool:
    """Whether all columns of a set are in the other."""
    beyond = 0
    for place in range(mask.shape[0]):
        beyond |= mask[place] & ~other[place]
    return beyond == 0


@njit(boolean(ROW), cache=True)
def empty(mask: Ints) -> bool:
    """Whether a set has no columns."""
    found = 0
    for word in mask:
        found |= word
    return found == 0


@njit(types.void(ROW, ROW), cache=True)
def _take(mask: Ints, columns: Ints) -> None:
    """Take columns out of a set, in place: an expression would allocate arrays."""
    for place in range(mask.shape[0]):
        mask[place] &= ~columns[place]


@njit(types.void(ROW, ROW), cache=True)
def _give(mask: Ints, columns: Ints) -> None:
    """Put columns into a set, in place."""
    for place in range(mask.shape[0]):
        mask[place] |= columns[place]


@njit(ROWS(PLACES, int64, ROW), cache=True)
def _free(places: Places, level: int, whole: Ints) -> Ints:
    """Free columns of each row."""
    free = np.empty((level, whole.shape[0]), np.int64)
    for row in range(level):
        free[row] = whole
    for index in range(places.count[JOBS]):
        job = places.order[index]
        for row in range(level):
            if places.rows[job] >> row & 1:
                _take(free[row], places.columns[job])
    return free


@njit(int64(ROWS, ROW, int64, ROW), cache=True)
def _fitting(free: Ints, files: Ints, own: int, columns: Ints) -> int:
    """Mask of the rows in which the file's columns are free; the job's own columns count as free in its own row."""
    found = 0
    for row in range(free.shape[0]):
        good = True
        for place in range(files.shape[0]):
            there = free[row, place] | (columns[place] if row == own else 0)
            if files[place] & ~there:
                good = False
                break
        if good:
            found |= 1 << row
    return found


@njit(int64(ROWS, int64), cache=True)
def _fullest(free: Ints, rows: int) -> int:
    """The row of ``rows`` (a mask) with the fewest free cells, the first of equals; -1 if the mask is empty."""
    best, least = -1, 0
    for row in range(free.shape[0]):
        if rows >> row & 1:
            cells = _total(free[row])
            if best < 0 or cells < least:
                best, least = row, cells
    return best


@njit(int64(int64), cache=True)
def _first(rows: int) -> int:
    row = 0
    while not rows >> row & 1:
        row += 1
    return row


@njit(int64(ROW, ROW, ROW), cache=True)
def _apart(files: Ints, columns: Ints, somewhere: Ints) -> int:
    """Number of the file's columns that a job is not on; 0 if one of these is free in no row."""
    found = 0
    for place in range(files.shape[0]):
        away = files[place] & ~columns[place]
        if away & ~somewhere[place]:
            return 0
        found += _bits(away)
    return found


@njit(types.void(PLACES, int64, ROW, int64, int64), cache=True)
def _migrate(places: Places, level: int, whole: Ints, tasks: int, fullest: int) -> None:
    free = _free(places, level, whole)
    somewhere = np.zeros(whole.shape[0], np.int64)
    for row in range(level):
        _give(somewhere, free[row])
    left, changed = tasks, True
    while changed:
        changed = False
        for index in range(places.count[JOBS]):
            job = places.order[index]
            columns, files = places.columns[job], places.files[job]
            need = _apart(files, columns, somewhere)
            if need == 0 or need > left:
                continue
            rows = _fitting(free, files, places.home[job], columns)
            if not rows:
                continue
            row = _fullest(free, rows) if fullest else _first(rows)
            _give(free[places.home[job]], columns)
            _give(somewhere, columns)
            _take(free[row], files)
            places.home[job] = row
            places.rows[job] = 1 << row
            places.columns[job] = files
            left -= need
            places.count[MOVES] += 1
            changed = True
    places.count[USED] += tasks - left


@njit(types.void(PLACES, int64, ROW), cache=True)
def _compact(places: Places, level: int, whole: Ints) -> None:
    jobs = places.count[JOBS]
    free = _free(places, level, whole)
    homes = np.empty((level, jobs), np.int64)
    held = np.zeros(level, np.int64)
    tasks = np.zeros(level, np.int64)
    for index in range(jobs):
        job = places.order[index]
        row = places.home[job]
        homes[row, held[row]] = job
        held[row] += 1
        tasks[row] += places.size[job]
    order = np.empty(level, np.int64)
    changed = True
    while changed:
        changed = False
        for row in range(level):  # from the least populated, equals in their order
            at = row
            while at > 0 and tasks[order[at - 1]] > tasks[row]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = row
        for position in range(level):
            source = order[position]
            for other in range(level - 1, position, -1):
                target = order[other]
                if tasks[target] < tasks[source]:
                    continue
                for index in range(held[source]):
                    job = homes[source, index]
                    if not _within(places.columns[job], free[target]):
                        continue
                    for later in range(index + 1, held[source]):
                        homes[source, later - 1] = homes[source, later]
                    held[source] -= 1
                    homes[target, held[target]] = job
                    held[target] += 1
                    _give(free[source], places.columns[job])
                    _take(free[target], places.columns[job])
                    tasks[source] -= places.size[job]
                    tasks[target] += places.size[job]
                    places.home[job] = target
                    places.rows[job] = 1 << target
                    changed = True
                    break


@njit(types.void(ROWS, int64, int64, ROW), cache=True)
def _freest(free: Ints, row: int, size: int, chosen: Ints) -> None:
    """Choose columns of a row that are free in the most other rows, of equals the lowest."""
    level, words = free.shape
    at_least = np.empty((level, words), np.int64)
    at_least[0] = free[row]
    count = 1
    for other in range(level):
        if other == row:
            continue
        for place in range(words):
            mask = free[other, place]
            at_least[count, place] = at_least[count - 1, place] & mask
            for depth in range(count - 1, 0, -1):
                at_least[depth, place] |= at_least[depth - 1, place] & mask
        count += 1
    chosen[:] = 0
    wanted = size
    for depth in range(count - 1, -1, -1):
        for place in range(words):
            fresh = at_least[depth, place] & ~chosen[place]
            while fresh and wanted:
                low = fresh & -fresh
                chosen[place] |= low
                fresh ^= low
                wanted -= 1
        if not wanted:
            return


@njit(int64(ROWS, PLACES, int64, int64, ROW), cache=True)
def _choose(free: Ints, places: Places, job: int, where: int, chosen: Ints) -> int:
    """Choose columns for a waiting job and return their row; -1 where it does not fit."""
    files = places.files[job]
    if where and not empty(files):
        row = _fullest(free, _fitting(free, files, -1, files))
        if row >= 0:
            chosen[:] = files
            return row
        if where == 1:
            return -1
    fitting = 0
    for row in range(free.shape[0]):
        if _total(free[row]) >= places.size[job]:
            fitting |= 1 << row
    row = _fullest(free, fitting)
    if row >= 0:
        _freest(free, row, places.size[job], chosen)
    return row


@njit(int64(ROWS), cache=True)
def _widest(free: Ints) -> int:
    most = 0
    for row in range(free.shape[0]):
        most = max(most, _total(free[row]))
    return most


@njit(types.void(PLACES, int64, ROW, int64, int64), cache=True)
def _schedule(places: Places, level: int, whole: Ints, where: int, scan: int) -> None:
    """Take jobs out of the queue into the matrix."""
    free = _free(places, level, whole)
    chosen = np.empty(whole.shape[0], np.int64)
    widest, before, job = _widest(free), -1, places.count[FIRST]
    while job >= 0:
        behind = places.following[job]
        row = _choose(free, places, job, where, chosen) if places.size[job] <= widest else -1
        if row >= 0:
            places.columns[job] = chosen
            places.home[job] = row
            places.rows[job] = 1 << row
            places.order[places.count[JOBS]] = job
            places.count[JOBS] += 1
            _take(free[row], chosen)
            widest = _widest(free)
            if before >= 0:
                places.following[before] = behind
            else:
                places.count[FIRST] = behind
            if behind < 0:
                places.count[LAST] = before
        elif scan:
            before = job
        else:
            return
        job = behind


@njit(types.void(PLACES, int64, ROW, int64), cache=True)
def _fill(places: Places, level: int, whole: Ints, local_first: int) -> None:
    free = _free(places, level, whole)
    somewhere = np.zeros(whole.shape[0], np.int64)
    for row in range(level):
        _give(somewhere, free[row])
    queue = np.empty(places.count[JOBS], np.int64)
    for turn in range(2 if local_first else 1):
        waiting = 0
        for index in range(places.count[JOBS]):
            job = places.order[index]
            files = places.files[job]
            local = empty(files) or (_within(files, places.columns[job]))
            if (not local_first or local == (turn == 0)) and _within(places.columns[job], somewhere):
                queue[waiting] = job
                waiting += 1
        while waiting:
            kept = 0
            for index in range(waiting):
                job = queue[index]
                for row in range(level):
                    if _within(places.columns[job], free[row]):
                        _take(free[row], places.columns[job])
                        places.rows[job] |= 1 << row
                        queue[kept] = job
                        kept += 1
                        break
            waiting = kept


@njit(types.void(PLACES, int64, ROW, RULES, int64), cache=True)
def recompute(places: Places, level: int, whole: Ints, rules: Rules, tasks: int) -> None:
    """Recompute the matrix as in :func:`spillway.schedulers.timesharing.recomputing.recompute`.

    Parameters
    ----------
    places
        Jobs in the matrix and in the queue; both are changed.
    level
        Rows.
    whole
        All columns.
    rules
        The policy.
    tasks
        Most tasks that may migrate now.
    """
    for index in range(places.count[JOBS]):
        job = places.order[index]
        places.rows[job] = 1 << places.home[job]
    if rules.migrate and tasks > 0:
        _migrate(places, level, whole, tasks, rules.fullest)
    if rules.compaction:
        _compact(places, level, whole)
    _schedule(places, level, whole, rules.where, rules.scan)
    _fill(places, level, whole, rules.local_first)
