"""Two reservations: the burst buffer's longer interval and the nodes' shorter one are booked together.

A job that a policy starts gets its buffer now, stages in, and has its nodes reserved from the expected end of its
stage-in. Each pass renews the reservation before any other decision; it can only become earlier while running jobs end
as expected or before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spillway.base.options import option
from spillway.schedulers.lives.base import Expects, Life
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Job, Lives, replaced
from spillway.schedulers.model.staging import StageLimits
from spillway.schedulers.policykit import holds
from spillway.schedulers.policykit.view import Policy, View

_LATE_SHARE = 0.25
"""Expected rest of a late stage-in, as a share of the time that it has taken; one second at least. Chosen, not
measured."""


@dataclass(frozen=True)
class TwoReservations(Life):
    """Policies book a job's burst buffer from its stage-in to its stage-out, and its nodes in between."""

    source: ClassVar[str] = "flux-coral2, issues 161 and 441 (the question); the rule is ours"

    rate: float = option(
        0.0,
        unit="bytes/s",
        low=0.0,
        high=1e18,
        help="expected rate of a job's staging; 0: the stated bandwidth between storage nodes and file system",
    )
    margin: float = option(
        1.0, low=1.0, high=100.0, help="lead of a job's buffer over its nodes, in uncontended times of its stage-in"
    )
    stage_out_timeout: float = option(
        math.inf, unit="s", low=1.0, high=math.inf, help="a stage-out that takes longer ends, its data is lost"
    )

    def limits(self) -> StageLimits | None:
        """The time-outs."""
        return StageLimits(math.inf, self.stage_out_timeout)

    def decide(self, policy: Policy, view: View, expects: Expects) -> Iterator[Decision]:
        """Start the staged jobs with free nodes, then let the policy decide on the others."""
        self.keep(view, expects)
        shown = self._shown(view, view.queue, expects)
        others = tuple(job for job in shown if job.id not in view.held)
        for job in _in_turn(view, shown):
            yield from self._started(view, job)
        for decision in policy(view.showing(others, view.held)):
            if isinstance(decision, Start) and _stages_first(decision.job):
                yield holds.staging(view, decision)
            else:
                yield decision

    def keep(self, view: View, expects: Expects) -> None:
        """Reserve again for the jobs that hold their buffers, in the order in which they got them.

        A late stage-in delays the reservation, and its buffer is then held for longer than was expected: later
        bookings of others, such as a creation that waits, must not be in its way.
        """
        waiting = [job for job in view.queue if job.id in view.held and job.id not in view.reservations]
        for job in _in_turn(view, self._shown(view, waiting, expects)):
            if view.pool is None or view.pool.in_service(job.id):
                self._reserve(view, job)

    def _shown(self, view: View, jobs: Sequence[Job], expects: Expects) -> list[Job]:
        """Return the jobs as the policy sees them: with the expected lives of their holdings."""
        rate = self.rate or view.machine.trunk_bytes_per_s()
        return [self._living(job, rate, expects) if job.bb_bytes else job for job in jobs]

    def _living(self, job: Job, rate: float, expects: Expects) -> Job:
        """Return a job with the expected lives of its holdings."""
        stages = expects(job)
        lead_s = max(stages.in_s, stages.in_bytes / rate) * self.margin
        tail_s = max(stages.out_s, stages.out_bytes / rate)
        return replaced(job, lives=Lives(lead_s, tail_s))

    def _reserve(self, view: View, job: Job) -> None:
        """Reserve nodes for a job, not before its buffer is expected to be filled."""
        duration_s, held_s = view.estimate_s(job), view.held[job.id].start_s
        not_before_s = view.now_s
        if job.id not in view.filled_s:
            assert job.lives is not None
            late_s = view.now_s + max((view.now_s - held_s) * _LATE_SHARE, 1.0)
            expected_s = held_s + job.lives.storage_lead_s
            not_before_s = expected_s if expected_s > view.now_s else late_s
        fit = holds.earliest_fit(view, job, duration_s, not_before_s=not_before_s)
        if fit is not None:
            holds.book(view, job, fit, duration_s)
            view.reservations[job.id] = fit

    def _started(self, view: View, job: Job) -> Iterator[Decision]:
        """Start a job if it is staged and its reservation begins now."""
        fit = view.reservations.get(job.id)
        if fit is None:
            return
        staged = job.id in view.filled_s
        starts = staged and fit.start_s <= view.now_s
        if view.notes is not None:
            binding = None if starts else Binding.NODES if staged else Binding.STAGE_IN
            view.notes.write(job.id, Role.STARTED if starts else Role.HOLDS_BUFFER, binding, fit.start_s)
        if starts:
            yield Start(job, fit.allocation)


def _in_turn(view: View, jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs that hold their buffers, in the order in which they got them."""
    waiting = [job for job in jobs if job.id in view.held]
    return sorted(waiting, key=lambda job: (view.held[job.id].start_s, job.number))


def _stages_first(job: Job) -> bool:
    return job.lives is not None and job.lives.storage_lead_s > 0
