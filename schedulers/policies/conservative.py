"""Conservative backfilling: every waiting job has a promised start that no other job moves later.

References
----------
Mu'alem, Feitelson, *Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with
backfilling*, IEEE TPDS 12(6), 2001, section 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from spillway.base.options import option
from spillway.core import Fit, Timeline
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.explanations import Role
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.ordering import ORDER_NAMES, ordered
from spillway.schedulers.policykit.pass_limit import BoundedPass, PassLimit, told
from spillway.schedulers.policykit.passes import binding_now
from spillway.schedulers.policykit.view import View

PROMISES = "promises"


@dataclass(frozen=True)
class Conservative:
    """Promise every job a start at submission; move it earlier when resources become free, never later for another job.

    A start moves later only when the resources that the job waits for are released late, and by no more than that
    delay.
    """

    source: ClassVar[str] = "Mu'alem & Feitelson 2001, section 2.2"

    order: str = option("fcfs", choices=ORDER_NAMES, help="order in which waiting jobs are promised and moved earlier")
    replan: bool = option(False, help="drop promises and plan the whole queue anew in each pass")
    limit: PassLimit | None = field(default=None, repr=False)

    def limited(self, limit: PassLimit) -> Self:
        """Return the same policy with a bound on the time for moving promises; those not reached in a pass stay.

        Jobs without a promise always get one, with ``replan`` all jobs.
        """
        return replace(self, limit=limit)

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
        """State how many passes the bound ended before all promises were moved."""
        return told(notebook)

    def __call__(self, view: View) -> Iterable[Decision]:
        """Book all promises, then move each job to its earliest start; start the jobs that can start now."""
        queue = ordered(view, view.queue, self.order)
        if not queue:
            view.notebook.pop(PROMISES, None)
            return
        old: dict[str, Fit] = {} if self.replan else view.notebook.get(PROMISES, {})
        timeline = view.timeline
        booked = self._book_promises(view, timeline, queue, old)
        promises: dict[str, Fit] = {}
        bounded = BoundedPass(self.limit)
        for job in queue:
            promise = booked.get(job.id)
            if promise is not None and bounded.over():
                fit: Fit | None = promise
            else:
                fit = self._improve(view, timeline, job, promise)
            if fit is None:
                continue
            if fit.start_s <= view.now_s:
                if view.notes is not None:
                    view.notes.write(job.id, Role.STARTED, estimate_s=view.now_s)
                yield Start(job, fit.allocation)
            else:
                promises[job.id] = fit
                if view.notes is not None:
                    view.notes.write(job.id, Role.RESERVED, binding_now(view, job), fit.start_s)
        view.notebook[PROMISES] = promises
        bounded.count(view.notebook)

    def _book_promises(
        self, view: View, timeline: Timeline, queue: Sequence[Job], old: dict[str, Fit]
    ) -> dict[str, Fit]:
        """Book the promises of the last pass, each at its promised start or as soon after as its resources are free.

        Ends are reported late: by a message's latency where a job is killed at its walltime, and by the error of an
        estimate. So promises are booked in the order of their starts, each on its promised nodes and storage nodes, as
        early as these are free beside running jobs and the promises before it. No promise moves by more than the
        largest delay: if all moved by as much, all would fit, and a promise booked earlier blocks no more than it would
        then. No job searches other nodes here: those are for promises still to be booked.

        A promise of resources that are free at no later time (a node went out) is made anew, after all others.
        """
        booked: dict[str, Fit] = {}
        standing = [(job, old[job.id]) for job in queue if job.id in old]
        standing.sort(key=lambda entry: (entry[1].start_s + _lead_s(entry[1]), entry[0].number))
        for job, (promised_s, allocation) in standing:
            start_s = timeline.reserve_from(max(promised_s, view.now_s), view.estimate_s(job), allocation)
            if start_s < math.inf:
                booked[job.id] = Fit(start_s, allocation)
        return booked

    def _improve(self, view: View, timeline: Timeline, job: Job, promise: Fit | None) -> Fit | None:
        """Give a job its earliest start, at the latest the promised one, and book it."""
        duration_s = view.estimate_s(job)
        if promise is not None:
            timeline.release(promise.start_s, promise.start_s + duration_s, promise.allocation)
        fit = timeline.earliest_fit(job, duration_s)
        if fit is None:
            return None
        timeline.reserve(fit.start_s, fit.start_s + duration_s, fit.allocation)
        return fit


def _lead_s(promise: Fit) -> float:
    """Seconds for which a job holds its burst buffer before its nodes."""
    lives = promise.allocation.lives
    return 0.0 if lives is None else lives.storage_lead_s
