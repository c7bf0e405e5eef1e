"""Promises that cannot have changed since the last pass, so that they are not searched again.

A promise is a job's earliest start beside all bookings of that time, on the first nodes that suffice. As long as
bookings are only added, it has neither an earlier start nor other nodes (see :mod:`.continuation`). Resources freed
since then are where the timeline without promises differs from the one that the last pass left, and where moved
promises were. All of these lie before a time; a job that would start before that time may start earlier now, and any
other keeps its start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline import Fit, Timeline

KEPT = "promises settled"


@dataclass(frozen=True)
class _Kept:
    """State after a pass.

    Timelines without and with promises, the promises, expected durations (s), and by job the time (s) until which
    resources became free after the job's turn in the pass.
    """

    base: Timeline
    timeline: Timeline
    promises: Mapping[str, Fit]
    durations_s: Mapping[str, float]
    freed_s: Mapping[str, float]


class Settled:
    """Promises settled by the last pass, as one pass uses and updates them.

    Attributes
    ----------
    stands
        Whether all promises are booked already.
    """

    def __init__(self, view: View, base: Timeline | None, kept: _Kept | None, freed_s: float) -> None:
        self._view, self._base, self._kept = view, base, kept
        self._freed_s = freed_s
        self._durations_s: dict[str, float] = {}
        self._marks: dict[str, int] = {}
        self._moves: list[float] = []
        self._most_free: tuple[float, int] = (-math.inf, 0)
        self.stands = kept is not None and freed_s <= view.now_s

    @classmethod
    def of(cls, view: View, queue: Sequence[Job], old: Mapping[str, Fit]) -> Settled:
        """State at the beginning of a pass over this queue, with the promises ``old`` of the last pass."""
        kept: _Kept | None = view.cache.pop(KEPT, None)
        timeline = view.timeline
        if not view.at_once or not timeline.steady:
            return cls(view, None, None, math.inf)
        if (
            kept is None
            or kept.promises is not old
            or not old.keys() <= {job.id for job in queue}
            or any(fit.start_s <= view.now_s for fit in old.values())
            or any(kept.durations_s[job.id] != view.estimate_s(job) for job in queue if job.id in old)
        ):
            return cls(view, timeline.copy(), None, math.inf)
        kept.base.advance(view.now_s)
        found = cls(view, timeline.copy(), kept, timeline.differs_until(kept.base))
        if found.stands:
            view.resume(kept.timeline, [])
        return found

    def booked(self, promises: Mapping[str, Fit]) -> None:
        """Take promises that were booked anew; if one of them has changed, no promise is settled."""
        if self._kept is not None and promises != self._kept.promises:
            self._kept, self._freed_s = None, math.inf

    def stays(self, job: Job, promise: Fit) -> bool:
        """Whether a job can neither start earlier than promised nor on other nodes."""
        if self._kept is None:
            return False
        view = self._view
        freed_s = max(self._freed_s, self._kept.freed_s.get(job.id, -math.inf))
        if freed_s <= view.now_s:
            return True
        duration_s = view.estimate_s(job)
        if freed_s + duration_s > promise.start_s:
            return False
        if self._most_free[0] < freed_s:
            self._most_free = freed_s, view.timeline.most_free_nodes(freed_s)
        if job.nodes > self._most_free[1]:
            return True
        return view.timeline.earliest_fit(job, duration_s, latest_s=freed_s) is None

    def note(self, job: Job, promise: Fit | None, fit: Fit | None) -> None:
        """Note that the promise of a job was ``promise`` and is now ``fit``."""
        if self._base is None:
            return
        duration_s = self._durations_s[job.id] = self._view.estimate_s(job)
        if promise is not None and fit != promise:
            freed_s = promise.start_s + duration_s
            self._moves.append(freed_s)
            self._freed_s = max(self._freed_s, freed_s)
            self._most_free = -math.inf, 0
        self._marks[job.id] = len(self._moves)
        if fit is not None and fit.start_s <= self._view.now_s:
            self._base.reserve(fit.start_s, fit.start_s + duration_s, fit.allocation)

    def keep(self, promises: Mapping[str, Fit]) -> None:
        """Keep the state for the next pass."""
        if self._base is None:
            return
        later = [-math.inf]
        for freed_s in reversed(self._moves):
            later.append(max(later[-1], freed_s))
        count = len(self._moves)
        freed = {name: later[count - mark] for name, mark in self._marks.items() if mark < count}
        self._view.cache[KEPT] = _Kept(self._base, self._view.timeline, promises, self._durations_s, freed)
