"""Passes that go on where the one before ended: jobs that could not start then are not tried again.

Nothing but the time has changed since a pass, and jobs have come to the end of the queue. As long as no segment of the
timeline has passed and no reservation has begun, a pass over the whole queue would come to the same:

- What did not fit does not fit: since a job was tried more has been booked, nothing has become free, and the interval
  that it needs ends no earlier.
- What was reserved is reserved again: its interval was kept free, and there is none earlier still. Where rules take the
  first that will do (:attr:`spillway.schedulers.timeline.Placement.steady`), it has the same nodes and storage nodes:
  what they passed over will not do now either. Other rules may choose otherwise beside what has started since.

So the pass before has left the timeline that this one would make. Left to do are reservations for jobs that have moved
up among the first because others of these started, and the jobs that have come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from spillway.schedulers.model.decisions import Start
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline import Timeline


class _Kept(NamedTuple):
    """What a pass left.

    Its timeline and how often that had changed, starts of reservations (s), how many jobs waited, changes until then.
    """

    timeline: Timeline
    bookings: int
    reserved: list[float]
    waiting: int
    changes: int

    def stands(self, view: View, changes: int) -> bool:
        """Whether nothing has changed since but the time, and no segment has passed, no reservation begun."""
        return (
            self.changes == changes
            and self.timeline.changes == self.bookings
            and min(self.timeline.next_change_s(), *self.reserved, math.inf) > view.now_s
        )


def continued(view: View, serve: Callable[[View, int], Iterator[Start]]) -> Iterator[Start]:
    """Run a pass, or what is left to do of it.

    Parameters
    ----------
    serve
        Runs a pass over the queue in which so many jobs at its head have been tried; for the first of these, as many
        as ``view.reserved`` has, the reservations are booked. It starts jobs in order of submission up to the first
        that does not fit, reserves for those behind it or starts them, and starts any others that fit beside that.
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
    changes += 2 * started  # each left the queue, and was booked: as here; they never become fewer
    if timeline.steady and (not started or view.changes() == changes):
        cache["pass"] = _Kept(timeline, timeline.changes, view.reserved, len(view.queue) - started, changes)
