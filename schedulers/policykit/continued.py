"""Passes that go on where the one before ended: jobs that could not start then are not tried again.

Nothing but the time has changed since a pass, and jobs have come to the end of the queue. As long as no segment of the
timeline has passed and no reservation has begun, whatever fits from now on for some time would have fitted before: the
same segments from the first one on, or fewer, were looked at. What did not fit then does not fit now, reservations stay
where they are, and the pass before has left the timeline that this one would make. So it is enough to go on with the
jobs that have come.

Where racks restrict storage this does not hold: their nodes are chosen one by one, and with less bandwidth left another
choice may succeed. There, where jobs may start on fewer nodes or without them, and where notes are kept, each pass
looks at all jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from spillway.schedulers.model.decisions import Start
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline import StorageOrder, Timeline

KEPT = "continued"
"""Key of the notebook."""


class _Kept(NamedTuple):
    """What a pass left: its timeline, how many jobs waited, the changes until then, its earliest reservation (s)."""

    timeline: Timeline
    waiting: int
    changes: int
    reserved_s: float


def continued(view: View, serve: Callable[[View, int], Iterator[Start]]) -> Iterator[Start]:
    """Run a pass, or what is left to do of it.

    Parameters
    ----------
    serve
        Runs a pass over the queue in which so many jobs at its head have been tried; what is reserved for them is
        booked. It starts jobs in order of submission up to the first that does not fit, reserves for jobs in order of
        submission, and starts any others that fit beside what is reserved.
    """
    if (
        view.changes is None
        or view.notes is not None
        or view.fewest_nodes is not None
        or view.stages_first
        or view.held
        or view.pool is not None
    ):
        yield from serve(view, 0)
        return
    kept, tried = view.notebook.pop(KEPT, None), 0
    if kept is not None and _stands(kept, view, view.changes()):
        tried = kept.waiting
        view.resume(kept.timeline)
        view.reserved_s = kept.reserved_s
    started, changes, alike = 0, view.changes(), True
    for start in serve(view, tried):
        yield start
        started += 1
        changes += 2  # it left the queue, and was booked: as here
        alike = alike and view.changes() == changes
    if alike and view.timeline.placement.storage_order is not StorageOrder.RACK:
        waiting = len(view.queue) - started
        view.notebook[KEPT] = _Kept(view.timeline, waiting, changes, view.reserved_s)


def _stands(kept: _Kept, view: View, changes: int) -> bool:
    """Whether nothing has changed since but the time, and no segment has passed, no reservation begun."""
    return kept.changes == changes and kept.reserved_s > view.now_s and kept.timeline.next_change_s() > view.now_s
