"""First the burst buffer, then the nodes: a job stages in while others compute, and stages out when its nodes are free.

References
----------
Slurm's documentation, "Slurm Burst Buffer Guide"; observed behaviour of its version 22.05: ``docs/slurm.md``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import msgspec

from spillway.base.options import option
from spillway.core import Resource
from spillway.schedulers.lives.base import Expects, Life
from spillway.schedulers.model.decisions import Decision, Evict, Hold, Kill, Reject, Start, WakeAt
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.rules import Rules, Trait
from spillway.schedulers.model.site import FAILS_FIELD
from spillway.schedulers.model.staging import StageLimits
from spillway.schedulers.policykit.holds import on_nodes, try_hold
from spillway.schedulers.policykit.ordering import ORDER_NAMES, ordered
from spillway.schedulers.policykit.view import BufferGiver, Holding, Policy, View

_EVICTED = "lives: evicted"
"""Key of the notebook: losses of buffers by waiting jobs (:class:`BufferLoss`), by job id."""

CALLED = "lives: called"
"""Key of the notebook: the last time for which a call was requested because a buffer reaches its bound then (s)."""

WOKEN = "lives: woken"
"""Key of the notebook: the last time for which the policy requested a call (s)."""


class BufferLoss(NamedTuple):
    """A waiting job's loss of its buffer to another job.

    Attributes
    ----------
    time_s
        Time of the loss (s); the job queues for its next buffer from then on.
    ended
        Number of jobs that had ended by then.
    waiting
        Ids of the jobs that waited then.
    unavailable
        Nodes that were out then.
    """

    time_s: float
    ended: int
    waiting: frozenset[str]
    unavailable: frozenset[int]

    @classmethod
    def now(cls, view: View) -> BufferLoss:
        """Return a loss in this pass."""
        return cls(view.now_s, view.finished.total, frozenset(job.id for job in view.queue), view.unavailable)

    def stands(self, view: View) -> bool:
        """Whether nothing has happened since that could give nodes to a job that waited with its buffer then.

        No job runs or has ended since, no job left the queue, no node went out or came back, and no call that the
        policy had requested was due, other than for passes at regular times. A job that waited in vain then would wait
        in vain again.
        """
        return (
            not view.running
            and self.ended == view.finished.total
            and self.unavailable == view.unavailable
            and self.time_s >= view.notebook.get(WOKEN, -math.inf)
            and self.waiting.issubset(job.id for job in view.queue)
        )


@dataclass(frozen=True)
class Slurm(Life):
    """A job gets its burst buffer first, stages in, then competes for nodes; its nodes are freed before its stage-out.

    The policy decides only on the nodes of jobs that need no buffer or have a filled one, unless it gives buffers
    itself (:class:`spillway.schedulers.policykit.view.BufferGiver`).
    """

    source: ClassVar[str] = "Slurm Burst Buffer Guide"
    policies_give: ClassVar[bool] = True
    """Whether a policy may give the buffers itself."""

    order: str = option("fcfs", choices=ORDER_NAMES, help="order in which waiting jobs are given burst buffers")
    overtake: bool = option(
        True, help="whether a job may get its buffer while an earlier one waits for more than is free"
    )
    stage_in_timeout: float = option(
        math.inf, unit="s", low=1.0, high=math.inf, help="a job with a longer stage-in is rejected"
    )
    stage_out_timeout: float = option(
        math.inf, unit="s", low=1.0, high=math.inf, help="a stage-out that takes longer ends, its data is lost"
    )

    def limits(self) -> StageLimits | None:
        """The time-outs."""
        return StageLimits(self.stage_in_timeout, self.stage_out_timeout)

    def rules(self) -> Rules:
        """Needs of this life; a changed order excludes policies that give buffers in an order of their own."""
        changed = [name for name in ("order", "overtake") if getattr(self, name) != getattr(Slurm, name)]
        lacks = {Trait.BUFFER_ORDER: (f":{changed[0]}", "")} if changed and self.policies_give else {}
        return Rules(super().rules().needs, lacks)

    def decide(self, policy: Policy, view: View, expects: Expects) -> Iterator[Decision]:
        """Give out buffers, then let the policy decide on the nodes of jobs that are ready for them."""
        through = yield from _reject_failed(view)
        if through:
            view = _without(view, through)
        if self.policies_give and isinstance(policy, BufferGiver):
            for decision in policy.with_buffers_first(view):
                if isinstance(decision, Start) and _fails(decision.job):  # its buffer was set up in no time
                    yield Reject(decision.job, _NOT_MADE)
                else:
                    yield decision
            return
        while True:
            freed = yield from self._pass(policy, view, through)
            if not freed:
                return  # otherwise once more: perhaps no other message comes
            view = _without(view, through)

    def _pass(self, policy: Policy, view: View, through: set[str]) -> Generator[Decision, None, bool]:
        """Decide on buffers and nodes; return whether the policy rejected a job with a buffer, which is free now.

        Jobs that started or were rejected are added to ``through``.
        """
        yield from self._give(view, apart_s(policy))
        if failed := (yield from _reject_failed(view)):  # set up in no time
            through |= failed
            return True
        ready = [job for job in view.queue if not job.bb_bytes or job.id in view.filled_s]
        if view.notes is not None:
            for job in view.queue:
                if job.id in view.held and job.id not in view.filled_s:
                    view.notes.write(job.id, Role.HOLDS_BUFFER, Binding.STAGE_IN)
        shown = tuple(on_nodes(job) if job.bb_bytes else job for job in ready)
        real = {job.id: job for job in ready}
        freed = False
        for decision in policy(view.showing(shown, {})):
            if isinstance(decision, Start | Reject):
                through.add(decision.job.id)
            elif isinstance(decision, WakeAt) and not apart_s(policy):
                view.notebook[WOKEN] = max(decision.time_s, view.notebook.get(WOKEN, -math.inf))
            holding = view.held.get(decision.job.id) if isinstance(decision, Reject) else None
            if holding is not None:
                view.timeline.release(view.now_s, holding.end_s, holding.allocation, Resource.BURST_BUFFERS)
                freed = True
            yield _translated(decision, real, view.held)
        return freed

    def _give(self, view: View, least_s: float) -> Iterator[Decision]:
        """Give free burst buffers to waiting jobs, which keep them for ``least_s`` seconds."""
        blocked: list[Job] = []
        for job in self._candidates(view):
            hold = None if blocked and not self.overtake else try_hold(view, job)
            if hold is None:
                blocked.append(job)
            else:
                yield hold
        if blocked:
            yield from self._make_room(view, blocked, least_s)
        if view.notes is not None:
            for job in blocked:
                if job.id not in view.held:
                    view.notes.write(job.id, Role.PASSED_OVER, Binding.BUFFER_FIRST)

    def _candidates(self, view: View) -> Sequence[Job]:
        """Jobs that wait for a buffer, in order."""
        waiting = [job for job in view.queue if job.bb_bytes and job.id not in view.held]
        return ordered(view, waiting, self.order)

    def _make_room(self, view: View, blocked: Sequence[Job], least_s: float) -> Iterator[Decision]:
        """Free a buffer for blocked jobs; this life frees nothing."""
        return iter(())


@dataclass(frozen=True)
class Standby(Slurm):
    """Like ``slurm``, but a filled buffer that has waited for nodes longer than a bound may go to another job.

    A job that lost its buffer queues behind the jobs that wait for theirs at that time, and stages in again. No buffer
    is taken back for it until something happens that could give it nodes (:meth:`BufferLoss.stands`): otherwise jobs
    that cannot get nodes would take the buffers from each other for ever.
    """

    policies_give: ClassVar[bool] = False

    bound: float = option(
        3600.0,
        unit="s",
        low=0.0,
        high=1e9,
        help="a filled buffer that has waited longer for nodes may be given to another job",
    )

    def _candidates(self, view: View) -> Sequence[Job]:
        waiting, before = super()._candidates(view), view.notebook.get(_EVICTED, {})
        lost: dict[str, BufferLoss] = {job.id: before[job.id] for job in waiting if job.id in before}
        view.notebook[_EVICTED] = lost
        return sorted(waiting, key=lambda job: lost[job.id].time_s if job.id in lost else -math.inf)

    def _make_room(self, view: View, blocked: Sequence[Job], least_s: float) -> Iterator[Decision]:
        """Take back buffers over the bound, longest filled first, if that frees enough for the first blocked job.

        A buffer that is filled just now stays: its job may start in this pass. So does a buffer for as long as a policy
        has its own passes apart.
        """
        job, lost, bound_s = blocked[0], view.notebook[_EVICTED], max(self.bound, least_s)
        if job.id in lost and lost[job.id].stands(view):
            return
        waited = sorted(
            (since_s, other.number, other)
            for other in view.queue
            if (since_s := view.filled_s.get(other.id)) is not None and other.id in view.held
        )
        over = [other for since_s, _, other in waited if since_s + bound_s <= view.now_s and since_s < view.now_s]
        timeline, before, taken = view.timeline, view.timeline.snapshot(), []
        hold: Hold | None = None
        for other in over:
            taken.append(other)
            holding = view.held[other.id]
            timeline.release(view.now_s, holding.end_s, holding.allocation, Resource.BURST_BUFFERS)
            hold = try_hold(view, job)
            if hold is not None:
                break
        if hold is not None:
            for other in taken:
                lost[other.id] = BufferLoss.now(view)
                yield Evict(other)
            yield hold
            return
        timeline.restore(before)
        later = [since_s + bound_s for since_s, _, _ in waited if since_s + bound_s > view.now_s]
        if later and view.notebook.get(CALLED) != min(later):
            view.notebook[CALLED] = min(later)
            yield WakeAt(max(min(later), view.now_s + 1e-3))


_NOT_MADE = "its burst buffer could not be made"


def _fails(job: Job) -> bool:
    """Whether a job's burst buffer is set up, and cannot be made."""
    return job.bb_bytes > 0 and job.extras.get(FAILS_FIELD) is True


def _reject_failed(view: View) -> Generator[Decision, None, set[str]]:
    """Reject jobs whose buffers were set up and could not be made, which frees their buffers; return their ids."""
    failed = [
        job
        for job in (view.queue if view.filled_s else ())
        if _fails(job) and job.id in view.filled_s and job.id in view.held
    ]
    for job in failed:
        holding = view.held[job.id]
        view.timeline.release(view.now_s, holding.end_s, holding.allocation, Resource.BURST_BUFFERS)
        yield Reject(job, _NOT_MADE)
    return {job.id for job in failed}


def _without(view: View, through: Collection[str]) -> View:
    """The pass without jobs that have started or were rejected."""
    return view.showing(tuple(job for job in view.queue if job.id not in through), view.held)


def apart_s(policy: Policy) -> float:
    """Longest time between two passes of a policy that decides only in its own, at regular times (s); else 0."""
    found: float = getattr(policy, "apart_s", 0.0)
    return found


def _translated(decision: Decision, real: Mapping[str, Job], held: Mapping[str, Holding]) -> Decision:
    """Translate a policy's decision on a stand-in into one on the job itself, which starts on its own buffer."""
    if not isinstance(decision, Start | Hold | Evict | Reject | Kill) or decision.job.id not in real:
        return decision
    job = real[decision.job.id]
    if not isinstance(decision, Start):
        return msgspec.structs.replace(decision, job=job)
    if not job.bb_bytes:
        return decision
    buffer = held[job.id].allocation
    allocation = replaced(
        decision.allocation, storages=buffer.storages, bb_bytes=job.bb_bytes, lives=None, striped=buffer.striped
    )
    return Start(job, allocation)
