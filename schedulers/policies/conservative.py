"""Conservative backfilling: every waiting job has a promised start that no other job moves later.

References
----------
Mu'alem, Feitelson, *Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with
backfilling*, IEEE TPDS 12(6), 2001, section 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision, Start, WakeAt
from spillway.schedulers.model.explanations import Binding, PassNotes, Role
from spillway.schedulers.model.job import Job, once_staged
from spillway.schedulers.policykit.holds import book, book_from, earliest_fit, give_back
from spillway.schedulers.policykit.ordering import ORDERS, ordered
from spillway.schedulers.policykit.passes import binding_now
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline import Fit

PROMISES = "promises"

CALLED = "promises: called"
"""Key of the notebook: the time of the last call that was requested because a promise begins then."""

SHORTEST_CALL_S = 1.0
"""Calls come no sooner than this (s): a promise that waits for something overdue moves on by a little in each pass."""

TICK_S = 1e-6
"""Batsim rounds the times of calls to this (s)."""


@dataclass(frozen=True)
class Conservative:
    """Promise every job a start when it comes; move it earlier when resources become free, never later for another job.

    Where what a job waits for is late itself, its start is later by no more than that.
    """

    source: ClassVar[str] = "Mu'alem & Feitelson 2001, section 2.2"

    order: str = option(
        "fcfs", choices=tuple(ORDERS), help="order in which waiting jobs are promised and moved earlier"
    )
    replan: bool = option(False, help="drop promises and plan the whole queue anew in each pass")

    def __call__(self, view: View) -> Iterator[Decision]:
        """Book all promises, then move each job as early as it can go; start those that may start now."""
        yield from self.with_staging(view, {})

    def with_staging(self, view: View, staged_s: Mapping[str, float]) -> Iterator[Decision]:
        """The same with jobs that hold their burst buffers and have been promised their nodes."""
        queue = ordered(view.queue, self.order, view.now_s)
        if not queue:
            view.notebook.pop(PROMISES, None)
            return
        old: dict[str, Fit] = view.notebook.get(PROMISES, {})
        if self.replan:
            old = {job_id: old[job_id] for job_id in staged_s if job_id in old}
        booked = _book_promises(view, queue, old, staged_s)
        promises: dict[str, Fit] = {}
        for job in queue:
            if job.id in booked:
                give_back(view, job, booked[job.id], view.estimate_s(job))
            fit = _place(view, job, staged_s.get(job.id, view.now_s))
            if fit is None:
                continue
            starts = fit.start_s <= view.now_s and (job.id not in staged_s or job.id in view.filled_s)
            if view.notes is not None:
                _note(view.notes, view, job, fit, starts)
            if not starts:
                promises[job.id] = fit
                continue
            if _lead_s(fit):  # with its burst buffer
                promises[job.id] = _once_staged(fit)
            yield Start(job, fit.allocation)
        view.notebook[PROMISES] = promises
        if view.stages_first:
            yield from _calls(view, promises.values())


def _book_promises(
    view: View, queue: list[Job], promises: Mapping[str, Fit], staged_s: Mapping[str, float]
) -> dict[str, Fit]:
    """Book the standing promises, each when it was promised, or as little later as what it waits for is late.

    Ends are reported late, by a message's latency where a job is killed at its walltime and by as much as an estimate
    was wrong. So promises are booked in the order of their starts, each on the nodes and storage nodes that it was
    promised, as early as these are free beside running jobs and the promises before it. None comes later by more than
    what is late: with all of them later by as much, everything would fit, and nothing that comes before one of them
    stands in its way where it would not stand then. None looks for other nodes here: these are for promises that are
    still to be booked.

    A promise of what is not free at any later time (a node went out) is made anew behind all others; but at once where
    the job holds its burst buffer, for others wait for that.
    """
    standing = [
        (job, promise)
        for job in queue
        if (promise := _promise_to(job, promises, job.id in staged_s)) is not None or job.id in staged_s
    ]
    standing.sort(key=lambda entry: (-math.inf if entry[1] is None else _on_nodes_s(entry[1]), entry[0].number))
    booked: dict[str, Fit] = {}
    for job, promise in standing:
        not_before_s = staged_s.get(job.id, view.now_s)
        fit = None if promise is None else _keep(view, job, promise, not_before_s)
        if fit is None and job.id in staged_s:
            fit = _place(view, job, not_before_s)
        if fit is not None:
            booked[job.id] = fit
    return booked


def _promise_to(job: Job, promises: Mapping[str, Fit], staging: bool) -> Fit | None:
    """What a job was promised; ``None`` also where it was promised nodes for a burst buffer that it has lost since."""
    promise, lives = promises.get(job.id), once_staged(job.lives) if staging else job.lives
    return promise if promise is not None and promise.allocation.lives == lives else None


def _keep(view: View, job: Job, promise: Fit, not_before_s: float) -> Fit | None:
    """Book just what a job was promised, as little later as that goes."""
    first_s = max(promise.start_s, not_before_s)
    start_s = book_from(view, job, promise.allocation, view.estimate_s(job), first_s)
    return Fit(start_s, promise.allocation) if start_s < math.inf else None


def _place(view: View, job: Job, not_before_s: float) -> Fit | None:
    """Book a job where it goes first."""
    duration_s = view.estimate_s(job)
    fit = earliest_fit(view, job, duration_s, not_before_s=not_before_s)
    if fit is not None:
        book(view, job, fit, duration_s)
    return fit


def _note(notes: PassNotes, view: View, job: Job, fit: Fit, starts: bool) -> None:
    """Say what was decided on a job."""
    if starts:
        notes.write(job.id, Role.STARTED, estimate_s=view.now_s)
    elif job.id not in view.held:
        notes.write(job.id, Role.RESERVED, binding_now(view, job), fit.start_s)
    else:
        binding = Binding.NODES if job.id in view.filled_s else Binding.STAGE_IN
        notes.write(job.id, Role.HOLDS_BUFFER, binding, fit.start_s)


def _calls(view: View, promises: Iterable[Fit]) -> Iterator[WakeAt]:
    """Have the next promise kept that begins with a burst buffer before the nodes: nothing need end at that time."""
    begins_s = min((promise.start_s for promise in promises if _lead_s(promise)), default=math.inf)
    call_s = max(begins_s + TICK_S, view.now_s + SHORTEST_CALL_S)
    if call_s < math.inf and not view.now_s + TICK_S < view.notebook.get(CALLED, -math.inf) <= call_s:
        view.notebook[CALLED] = call_s
        yield WakeAt(call_s)


def _lead_s(promise: Fit) -> float:
    """How long a job has its burst buffer before its nodes (s)."""
    lives = promise.allocation.lives
    return 0.0 if lives is None else lives.storage_lead_s


def _on_nodes_s(promise: Fit) -> float:
    """When a job has its nodes (s)."""
    return promise.start_s + _lead_s(promise)


def _once_staged(promise: Fit) -> Fit:
    """What is left of a promise when the job has its burst buffer."""
    allocation = msgspec.structs.replace(promise.allocation, lives=once_staged(promise.allocation.lives))
    return Fit(_on_nodes_s(promise), allocation)
