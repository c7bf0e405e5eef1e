"""The waiting jobs of a pass, with their requests as columns, made without a copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import overload

import numpy as np
import numpy.typing as npt

from spillway.schedulers.model.job import Job

_CHUNK = 512
"""Places read at a time; also the first part of :meth:`WaitingJobs.in_parts`."""


@dataclass(slots=True)
class Columns:
    """Jobs in order of submission, a place for each; ``None`` for a job that no longer waits.

    Attributes
    ----------
    jobs
        Jobs by place. The arrays may be longer.
    nodes
        Requested nodes; :data:`NOWHERE` at places without a job.
    demands
        Requests as rows (:meth:`spillway.schedulers.timeline.Timeline.demand_of`).
    walltimes_s
        Walltimes (s).
    """

    jobs: list[Job | None]
    nodes: npt.NDArray[np.int64]
    demands: npt.NDArray[np.int64]
    walltimes_s: npt.NDArray[np.float64]

    def copy(self) -> Columns:
        """Copy the columns; demands and walltimes are shared."""
        return Columns(self.jobs.copy(), self.nodes.copy(), self.demands, self.walltimes_s)


NOWHERE = 2**62
"""More nodes than any machine has."""


@dataclass(slots=True, weakref_slot=True)
class Shown:
    """The columns of one pass; if it outlives the pass, the queue replaces them by a copy."""

    columns: Columns


@dataclass(slots=True)
class Look:
    """State of the waiting jobs at a time: their columns, a copy of their jobs, and the occupied places."""

    columns: Columns
    jobs: list[Job | None]
    there: npt.NDArray[np.bool_]


class WaitingJobs(Sequence[Job]):
    """Waiting jobs in order of submission; slices take no copy either. Immutable.

    Parameters
    ----------
    shown
        Their columns.
    first, end
        Range of places.
    count
        Number of jobs in it.
    """

    __slots__ = ("_count", "_end", "_first", "_shown")

    def __init__(self, shown: Shown, first: int, end: int, count: int) -> None:
        self._shown, self._first, self._end, self._count = shown, first, end, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Job]:
        for begin in range(self._first, self._end, _CHUNK):
            yield from filter(None, self._shown.columns.jobs[begin : min(begin + _CHUNK, self._end)])

    def __reversed__(self) -> Iterator[Job]:
        return (self._shown.columns.jobs[place] for place in self._places_from_end())  # type: ignore[misc]

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | Sequence[Job]:
        if isinstance(index, slice):
            begin, stop, step = index.indices(self._count)
            if step == 1 and stop == self._count:
                return self._without_first(begin)
            return list(islice(self, begin, stop)) if step == 1 else list(self)[index]
        number = index + self._count if index < 0 else index
        if not 0 <= number < self._count:
            raise IndexError("queue index out of range")
        return next(islice(self, number, None))

    def look(self) -> Look:
        """State of the waiting jobs, for :meth:`since`."""
        columns = self._shown.columns
        return Look(columns, columns.jobs[: self._end], self._there(columns))

    def since(self, look: Look) -> tuple[list[Job], list[Job]] | None:
        """Jobs gone since a look, and new jobs, in order; updates the look.

        ``None``, with the look unchanged, if jobs have other places now.
        """
        columns, before = self._shown.columns, look.there
        if columns is not look.columns or self._end < len(before):
            return None
        there = self._there(columns)
        if (there[: len(before)] & ~before).any():
            return None
        gone = [look.jobs[place] for place in np.flatnonzero(before & ~there[: len(before)]).tolist()]
        come = columns.jobs[max(len(before), self._first) : self._end]
        look.jobs += columns.jobs[len(before) : self._end]
        look.there = there
        return [*filter(None, gone)], [*filter(None, come)]

    def _there(self, columns: Columns) -> npt.NDArray[np.bool_]:
        there: npt.NDArray[np.bool_] = columns.nodes[: self._end] < NOWHERE
        there[: self._first] = False
        return there

    def of_at_most(self, nodes: int) -> Small:
        """Jobs that request at most ``nodes`` nodes."""
        columns = self._shown.columns
        fitting = np.flatnonzero(columns.nodes[self._first : self._end] <= nodes)
        fitting += self._first
        return Small(columns, fitting)

    def in_parts(self, length: int = _CHUNK) -> Iterator[WaitingJobs]:
        """The same jobs in parts of ``length`` places, doubled from part to part: a job found early costs little."""
        begin = self._first
        while begin < self._end:
            end = min(begin + length, self._end)
            count = int(np.count_nonzero(self._shown.columns.nodes[begin:end] < NOWHERE))
            yield WaitingJobs(self._shown, begin, end, count)
            begin, length = end, 2 * length

    def _without_first(self, number: int) -> WaitingJobs:
        left = self._count - number
        if left == 0:
            place = self._end
        elif self._end - self._first == self._count:
            place = self._first + number
        elif left < number:
            place = next(islice(self._places_from_end(), left - 1, None))
        else:
            jobs = self._shown.columns.jobs
            there = (place for place in range(self._first, self._end) if jobs[place] is not None)
            place = next(islice(there, number, None))
        return WaitingJobs(self._shown, place, self._end, left)

    def _places_from_end(self) -> Iterator[int]:
        jobs = self._shown.columns.jobs
        return (place for place in range(self._end - 1, self._first - 1, -1) if jobs[place] is not None)


class Small(Sequence[Job]):
    """Some of the waiting jobs, by their places in the columns."""

    __slots__ = ("_columns", "places")

    def __init__(self, columns: Columns, places: npt.NDArray[np.intp]) -> None:
        self._columns, self.places = columns, places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | Sequence[Job]:
        jobs = self._columns.jobs
        if isinstance(index, slice):
            return Small(self._columns, self.places[index])
        job: Job | None = jobs[self.places[index]]
        assert job is not None
        return job

    def of_at_most(self, nodes: int) -> Small:
        """Jobs that request at most ``nodes`` nodes."""
        return Small(self._columns, self.places[self._columns.nodes[self.places] <= nodes])

    @property
    def demands(self) -> npt.NDArray[np.int64]:
        """Requests, a row for each job."""
        return self._columns.demands[self.places]

    @property
    def walltimes_s(self) -> npt.NDArray[np.float64]:
        """Walltimes (s)."""
        return self._columns.walltimes_s[self.places]
