"""A policy with starts that are chosen from outside, one after another; a reference policy decides the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.core import StorageOrder
from spillway.schedulers.model.decisions import Decision, Pause
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.holds import book, earliest_fit, fit_now
from spillway.schedulers.policykit.passes import try_start
from spillway.schedulers.policykit.view import Policy, View

Mask = npt.NDArray[np.bool_]


class Turn(NamedTuple):
    """A pass that has stopped for a choice.

    Attributes
    ----------
    view
        The pass as it is now: jobs started in it are booked.
    jobs
        The window: the first waiting jobs, in order of submission.
    fits
        Which of them can be started now.
    waiting
        Number of all waiting jobs.
    may_wait
        Whether the pass may end without a start: the end of a running job brings another pass, and the guard does not
        require the oldest job to start.
    """

    view: View
    jobs: Sequence[Job]
    fits: Mask
    waiting: int
    may_wait: bool


class Chooser:
    """Stop wherever a job of the window can start, and then follow :attr:`action`.

    Where no job of the window can start, the reference policy decides, and may start jobs beyond the window.

    Parameters
    ----------
    reference
        Decides where no job can be chosen, or where the choice is left to it.
    window
        Number of waiting jobs to choose from.
    guard_s
        Once the oldest job has waited for longer (s), it is the only choice where it fits, and others start only
        without delaying its earliest start. Applies to choices, not to the reference policy.

    Attributes
    ----------
    turn
        The pass that waits for a choice; ``None``: no pass.
    action
        The choice: a place in the window, ``window`` for the reference policy, ``window + 1`` to wait.
    """

    def __init__(self, reference: Policy, window: int, guard_s: float) -> None:
        self._reference, self._window, self._guard_s = reference, window, guard_s
        self.packs_buffers = getattr(reference, "packs_buffers", False)  # an attribute of policies that sessions read
        self.turn: Turn | None = None
        self.action = window

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        return self._choose(view) if view.queue else self._reference(view)

    def _choose(self, view: View) -> Iterator[Decision]:
        queue, reserved = view.queue, False
        again = view.timeline.placement.storage_order is StorageOrder.RACK  # a booking may let more jobs fit
        misfits: set[str] = set()
        while queue:
            jobs = queue[: self._window]
            fits = _startable(view, jobs, misfits)
            if not again:
                misfits.update(job.id for job, fit in zip(jobs, fits.tolist(), strict=True) if not fit)
            overdue = view.now_s - queue[0].submit_time_s > self._guard_s
            if overdue and fits[0]:
                fits[1:] = False
            elif overdue and not reserved:
                reserved = _reserve(view, queue[0])
                fits = _startable(view, jobs, misfits)
            if not fits.any():
                break
            may_wait = (bool(view.running) or queue is not view.queue) and not (overdue and fits.item(0))
            self.turn = Turn(view, jobs, fits, len(queue), may_wait)
            yield Pause()
            if self.action > self._window:
                return
            if self.action == self._window:
                break
            chosen = jobs[self.action]
            start = try_start(view, chosen)
            assert start is not None, "a job was chosen that does not fit"
            yield start
            queue = [job for job in queue if job is not chosen]
        if reserved:
            view.renew()
        yield from self._reference(view if queue is view.queue else view.showing(tuple(queue), view.held))


def _startable(view: View, jobs: Sequence[Job], misfits: Collection[str] = ()) -> Mask:
    """Mask of the jobs that could each start now, beside the bookings; ``misfits`` cannot."""
    free = view.timeline.free_nodes_now()
    fits = [
        job.nodes <= free and job.id not in misfits and fit_now(view, job, view.estimate_s(job)) is not None
        for job in jobs
    ]
    return np.array(fits, np.bool_)


def _reserve(view: View, job: Job) -> bool:
    """Book a job's earliest start; return whether it has one."""
    duration_s = view.estimate_s(job)
    fit = earliest_fit(view, job, duration_s)
    if fit is not None:
        book(view, job, fit, duration_s)
    return fit is not None
