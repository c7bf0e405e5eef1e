"""Fits of jobs that may already hold their burst buffer: their nodes are searched, the buffer stays in place.

For jobs without a held buffer the timeline gives fits; so a policy that never yields
:class:`spillway.schedulers.model.decisions.Hold` may query the timeline directly.
"""

from __future__ import annotations

import math

from spillway.core import Fit, Resource
from spillway.schedulers.model.decisions import Hold, Start
from spillway.schedulers.model.job import Allocation, Job, Lives, once_staged, replaced
from spillway.schedulers.policykit.view import Holding, View


def fit_now(view: View, job: Job, duration_s: float) -> Allocation | None:
    """Return the allocation of a job if it fits now, with the burst buffer that it may hold; else ``None``."""
    if job.id not in view.held:
        return view.timeline.fit_now(job, duration_s)
    fit = earliest_fit(view, job, duration_s, latest_s=view.now_s)
    return None if fit is None else fit.allocation


def earliest_fit(
    view: View,
    job: Job,
    duration_s: float,
    covering: Resource = Resource.ALL,
    latest_s: float = math.inf,
    not_before_s: float | None = None,
) -> Fit | None:
    """Find a job's earliest start, with the burst buffer that it may hold.

    ``None`` also where the bytes of the buffer are booked for others from its expected end on.
    """
    timeline, holding = view.timeline, view.held.get(job.id)
    if holding is None:
        return timeline.earliest_fit(job, duration_s, not_before_s, covering, latest_s)
    fit = timeline.earliest_fit(
        on_nodes(job), duration_s, not_before_s=not_before_s, covering=covering, latest_s=latest_s
    )
    if fit is None or Resource.BURST_BUFFERS not in covering:
        return fit
    until_s = _needed_until(job, fit.start_s, duration_s)
    if until_s > holding.end_s:
        try:
            timeline.reserve(holding.end_s, until_s, holding.allocation, Resource.BURST_BUFFERS)
        except ValueError:
            return None
        timeline.release(holding.end_s, until_s, holding.allocation, Resource.BURST_BUFFERS)
    held = holding.allocation
    given = replaced(fit.allocation, storages=held.storages, bb_bytes=job.bb_bytes, striped=held.striped)
    return Fit(fit.start_s, given)


def on_nodes(job: Job) -> Job:
    """A job's request for nodes once its burst buffer is held and filled."""
    return replaced(job, bb_bytes=0, stripes=0, lives=once_staged(job.lives))


def book(view: View, job: Job, fit: Fit, duration_s: float, covering: Resource = Resource.ALL) -> None:
    """Book a fit in the view's timeline; the booking of an already held burst buffer is extended where needed."""
    timeline, holding = view.timeline, view.held.get(job.id)
    if holding is None:
        timeline.reserve(fit.start_s, fit.start_s + duration_s, fit.allocation, covering)
        return
    timeline.reserve(fit.start_s, fit.start_s + duration_s, fit.allocation, covering & ~Resource.BURST_BUFFERS)
    if Resource.BURST_BUFFERS in covering:
        _book_on(view, job, holding, fit.start_s, duration_s)


def _book_on(view: View, job: Job, holding: Holding, start_s: float, duration_s: float) -> None:
    until_s = _needed_until(job, start_s, duration_s)
    if until_s > holding.end_s:
        view.timeline.reserve(holding.end_s, until_s, holding.allocation, Resource.BURST_BUFFERS)


def _needed_until(job: Job, start_s: float, duration_s: float) -> float:
    """Time until which a job with this start needs its burst buffer (s)."""
    return _buffer_end_s(once_staged(job.lives), start_s, duration_s)


def book_buffer(view: View, request: Job, duration_s: float, latest_s: float = math.inf) -> Fit | None:
    """Book only a burst buffer, at the earliest time from which its bytes are free for the whole duration.

    Search and booking cover the same interval, or later bookings (persistent buffers that wait for their creation)
    would conflict with a buffer that is free at this instant.

    Parameters
    ----------
    request
        A waiting job, or a creation of a buffer (:func:`spillway.schedulers.model.persistent.as_request`).
    duration_s
        Duration of the hold (s); infinite where it is not known.
    latest_s
        Last start of interest (s).

    Returns
    -------
    Fit or None
        Begin and booked allocation, without nodes; ``None`` if the bytes are not free by ``latest_s``: then nothing is
        booked.
    """
    timeline, alone = view.timeline, replaced(request, lives=None)
    fit = timeline.earliest_fit(alone, duration_s, covering=Resource.BURST_BUFFERS, latest_s=latest_s)
    if fit is None:
        return None
    allocation = Allocation((), fit.allocation.storages, request.bb_bytes, striped=request.stripes > 0)
    timeline.reserve(fit.start_s, fit.start_s + duration_s, allocation, Resource.BURST_BUFFERS)
    return Fit(fit.start_s, allocation)


def try_hold(view: View, job: Job) -> Hold | None:
    """Book a job's burst buffer from now on, without end, as its end is not known; ``None`` if not free."""
    fit = book_buffer(view, job, math.inf, latest_s=view.now_s)
    return None if fit is None else Hold(job, fit.allocation)


def staging(view: View, start: Start) -> Hold:
    """Hold only the burst buffer of a job that a policy starts, for as long as it was booked with the nodes.

    The nodes follow later. The booking stays in the pass's timeline.
    """
    job, given = start.job, start.allocation
    end_s = _buffer_end_s(job.lives, view.now_s, view.estimate_s(job))
    return Hold(job, Allocation((), given.storages, given.bb_bytes, striped=given.striped), end_s)


def _buffer_end_s(lives: Lives | None, start_s: float, duration_s: float) -> float:
    """End of the burst buffer of a job that starts with it (s), and has its nodes for a duration (s)."""
    if lives is None:
        return start_s + duration_s
    return max(start_s + duration_s + lives.storage_lead_s + lives.storage_tail_s, start_s)
