"""Two reservations: the burst buffer's longer interval and the nodes' shorter one are booked together.

A job that a policy starts gets its buffer now, stages in, and has its nodes reserved for the time at which that is
expected to be over. From pass to pass the reservation is kept before anything else is decided, and can only become
earlier where running jobs end as expected or before. A policy that keeps promises keeps it among them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from spillway.base.options import option
from spillway.schedulers.lives.base import Expects, Life, StandIns
from spillway.schedulers.model.decisions import Decision, Hold, Start
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.staging import StageLimits
from spillway.schedulers.policykit import holds
from spillway.schedulers.policykit.view import KeepsReservations, Policy, View

LATE_SHARE = 0.25
"""A stage-in that is late is expected to go on for this share of the time that it has taken, and for a second at least.
Chosen, not measured."""


@dataclass(frozen=True)
class TwoReservations(Life):
    """Policies book a job's burst buffer from its stage-in to its stage-out, and its nodes in between."""

    source: ClassVar[str] = "flux-coral2, issues 161 and 441 (the question); the rule is ours"

    rate: float = option(
        0.0,
        unit="bytes/s",
        low=0.0,
        high=1e18,
        help="at which a job's staging is expected to move; 0: the bandwidth that the machine states to its files",
    )
    margin: float = option(
        1.0, low=1.0, high=100.0, help="how many times the uncontended time of its stage-in a job's nodes come after it"
    )
    stage_out_timeout: float = option(
        math.inf, unit="s", low=1.0, high=math.inf, help="a stage-out that takes longer ends, its data is lost"
    )

    def limits(self) -> StageLimits | None:
        """The time-outs."""
        return StageLimits(math.inf, self.stage_out_timeout)

    def decide(self, policy: Policy, view: View, expects: Expects) -> Iterator[Decision]:
        """Keep the reservations of jobs that hold their buffers, then let the policy decide on the others."""
        stand_ins = StandIns(view)
        shown = {
            job.id: stand_ins.get(job, lambda job: self._living(job, view.machine, expects)) if job.bb_bytes else job
            for job in view.queue
        }
        waiting = [job for job in shown.values() if job.id in view.held]
        if isinstance(policy, KeepsReservations):
            staged_s = {job.id: _staged_s(view, job) for job in waiting}
            decisions = policy.with_staging(view.showing(tuple(shown.values()), view.held), staged_s)
        else:
            others = tuple(job for job_id, job in shown.items() if job_id not in view.held)
            for job in sorted(waiting, key=lambda job: (view.held[job.id].start_s, job.number)):
                yield from self._kept(view, job)
            decisions = policy(view.showing(others, view.held))
        for decision in decisions:
            if isinstance(decision, Start) and _stages_first(decision.job) and decision.job.id not in view.held:
                yield _hold_of(view, decision)
            else:
                yield decision

    def _living(self, job: Job, machine: Machine, expects: Expects) -> Job:
        """A job with the expected lives of its holdings."""
        stages = expects(job)
        rate = self.rate or _bandwidth(machine)
        lead_s = max(stages.in_s, stages.in_bytes / rate) * self.margin
        tail_s = max(stages.out_s, stages.out_bytes / rate)
        return msgspec.structs.replace(job, lives=Lives(lead_s, tail_s))

    def _kept(self, view: View, job: Job) -> Iterator[Decision]:
        """Start a job that is staged if its nodes are free, else reserve them again."""
        duration_s, staged = view.estimate_s(job), job.id in view.filled_s
        fit = holds.earliest_fit(view, job, duration_s, not_before_s=_staged_s(view, job))
        if fit is None:
            return
        holds.book(view, job, fit, duration_s)
        starts = staged and fit.start_s <= view.now_s
        if view.notes is not None:
            binding = None if starts else Binding.NODES if staged else Binding.STAGE_IN
            view.notes.write(job.id, Role.STARTED if starts else Role.HOLDS_BUFFER, binding, fit.start_s)
        if starts:
            yield Start(job, fit.allocation)


def _staged_s(view: View, job: Job) -> float:
    """When the burst buffer that a job holds is expected to be filled (s)."""
    if job.id in view.filled_s:
        return view.now_s
    assert job.lives is not None
    held_s = view.held[job.id].start_s
    expected_s = held_s + job.lives.storage_lead_s
    return expected_s if expected_s > view.now_s else view.now_s + max((view.now_s - held_s) * LATE_SHARE, 1.0)


def _stages_first(job: Job) -> bool:
    return job.lives is not None and job.lives.storage_lead_s > 0


def _hold_of(view: View, start: Start) -> Hold:
    """The buffer of a job that a policy starts; what the policy booked for it stays in the pass's timeline."""
    job, allocation = start.job, start.allocation
    assert job.lives is not None
    until_s = view.now_s + job.lives.storage_lead_s + view.estimate_s(job) + max(job.lives.storage_tail_s, 0.0)
    return Hold(job, Allocation((), allocation.storages, allocation.bb_bytes, striped=allocation.striped), until_s)


def _bandwidth(machine: Machine) -> float:
    """Bytes per second between all storage nodes and the file system; infinite where the machine states none."""
    return min((float(link.capacity_bytes_per_s) for link in machine.trunk().links), default=math.inf)
