"""Passes that continue the last one: jobs that could not start then are not tried again.

Suppose that since a pass only the time has changed, and jobs have been added at the end of the queue. As long as no
segment of the timeline has passed and no reservation has begun, a pass over the whole queue would give the same result:

- A job that did not fit does not fit: since it was tried, resources have only been booked, and the interval that it
  needs ends no earlier.
- A reservation is made again: its interval was kept free, and no earlier one is free. Where placement takes the first
  resources that suffice (:attr:`spillway.schedulers.timeline.Placement.steady`), it has the same nodes and storage
  nodes: those passed over do not suffice now either. Other rules may choose differently beside jobs started since.

So the pass before has left the timeline that this one would make. Still to do are reservations for jobs that have moved
up among the first because others of these started, and the new jobs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from spillway.schedulers.model.decisions import Start
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline import Timeline


class _Kept(NamedTuple):
    """State after a pass.

    Its timeline and the number of its changes, starts of reservations (s), number of waiting jobs, changes of the view.
    """

    timeline: Timeline
    bookings: int
    reserved: list[float]
    waiting: int
    changes: int

    def stands(self, view: View, changes: int) -> bool:
        """Whether only the time has changed since, no segment has passed and no reservation has begun."""
        return (
            self.changes == changes
            and self.timeline.changes == self.bookings
            and min(self.timeline.next_change_s(), *self.reserved, math.inf) > view.now_s
        )


def continued(view: View, serve: Callable[[View, int], Iterator[Start]]) -> Iterator[Start]:
    """Run a pass, or the part of it that the last pass has not done.

    Parameters
    ----------
    serve
        Runs a pass over the queue in which the given number of jobs at its head have been tried; the reservations in
        ``view.reserved`` are booked for the first of these. It starts jobs in order of submission up to the first that
        does not fit, reserves for the next jobs or starts them, and starts any others that fit beside that.
    """
    if view.changes is None or not view.at_once or not view.untouched:
        yield from serve(view, 0)
        return
    changes, tried, cache = view.changes(), 0, view.cache
    kept: _Kept | None = cache.pop("pass", None)
    if kept is not None and kept.stands(view, changes):
        view.resume(kept.timeline, kept.reserved)
        tried = kept.waiting
    started = 0
    for start in serve(view, tried):
        yield start
        started += 1
    timeline = view.timeline
    changes += 2 * started  # a start is two changes: out of the queue, and booked; the count never decreases
    if timeline.steady and (not started or view.changes() == changes):
        cache["pass"] = _Kept(timeline, timeline.changes, view.reserved, len(view.queue) - started, changes)
