"""A policy's decisions other than plain starts: each is checked, and carried out. The core does so for starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import spillway.core as core
from spillway.base.errors import DecisionRefused, shown
from spillway.protocol.limits import LATEST_S
from spillway.protocol.messages import CallMeLater, JobState, SetResourceState
from spillway.schedulers.core.book import NOTHING
from spillway.schedulers.core.guard import check_create, check_destroy, check_layers
from spillway.schedulers.core.outages import KillReason
from spillway.schedulers.core.preemption import check_preempt
from spillway.schedulers.model.decisions import (
    Arrange,
    Create,
    Destroy,
    Evict,
    Finish,
    Hold,
    Kill,
    Preempt,
    Reject,
    SetPowerState,
    Start,
    WakeAt,
)
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.model.preemption import REQUEUE, SUSPEND
from spillway.schedulers.policykit.view import Running


class Decisions:
    """Carries out decisions of one conversation."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def enact(self, decision: Any) -> bool:
        """Carry out a decision; return whether it is one.

        Raises
        ------
        DecisionRefused
            The decision is impossible; the error names the job and the reason.
        """
        enact = self._ENACT.get(type(decision))
        if enact is None:
            return False
        _refuse_values(decision)
        enact(self, decision)
        return True

    def discard(self, name: str, job: Job) -> None:
        """Destroy a persistent buffer for a job."""
        session = self._session
        session.pool.to_destroy.pop(name, None)
        session.observer.destroyed(session.book.discard(name, session.now_s), job, session.now_s)

    def _create(self, decision: Create) -> None:
        session, job, name = self._session, decision.job, decision.name
        creation = check_create(session, session.book, session.pool, job.id in session.line, decision)
        buffer = PersistentBuffer(name, job.user, job.id, decision.allocation, session.now_s)
        session.book.keep(buffer)
        session.pool.done.add((job.id, creation.name))
        session.observer.created(buffer, session.now_s)

    def _destroy(self, decision: Destroy) -> None:
        session = self._session
        check_destroy(session.pool, decision, decision.job.id in session.line, session.book.running)
        session.pool.done.add((decision.job.id, decision.name))
        self.discard(decision.name, decision.job)

    def _finish(self, decision: Finish) -> None:
        """End a job without nodes, which the simulator does not run."""
        session, job, now_s = self._session, decision.job, self._session.now_s
        if job.id not in session.line or job.nodes:
            raise DecisionRefused(job.id, "only a waiting job without nodes can be finished without a start")
        missing = session.pool.missing(job.id)
        if missing is not None:
            raise DecisionRefused(job.id, missing)
        session.line.remove(job.id)
        session.tell_started(job, NOTHING)
        session.end_without_nodes(job)
        session.tell_ended(Running(job, now_s, now_s, NOTHING), JobState.COMPLETED_SUCCESSFULLY)
        session.dependents.started(job.id, now_s)
        session.dependents.ended(job.id, now_s, failed=False)
        session.pool.leave(job)

    def _arrange(self, decision: Arrange) -> None:
        session = self._session
        book, now_s = session.book, session.now_s
        for job, _ in decision.places:
            if job.id not in book.running:
                raise DecisionRefused(job.id, "only a running job can be moved")
            try:
                book.lift(job.id, now_s)
            except ValueError as error:
                raise DecisionRefused(job.id, str(error)) from error
        for job, allocation in decision.places:
            core.check_start(session, book, True, job, job.nodes, allocation)
            check_layers(book, job, allocation)
            book.place(job, allocation, now_s)
            if not session.move_job(job, allocation):
                raise DecisionRefused(job.id, "jobs can only be moved where they share nodes in time (gang scheduling)")

    def _preempt(self, decision: Preempt) -> None:
        """Preempt a job: it is killed after its grace time, at the end of this message at the earliest."""
        session, job, by, now_s = self._session, decision.job, decision.by, self._session.now_s
        group = check_preempt(session.book, session.notices.rules, by.id in session.line, decision, now_s)
        if job.id in session.notices.given or session.outages.is_being_killed(job.id):
            return
        suspends = group.mode == SUSPEND
        death = KillReason(f"preempted by job {by.name}", suspends or group.mode == REQUEUE, by.id, now_s, suspends)
        due_s = now_s + group.grace_s
        session.notices.give(job.id, due_s, death)
        session.book.leave(job.id, due_s, now_s)
        if group.grace_s and due_s <= LATEST_S:  # no simulation gets beyond
            session.send((CallMeLater(now_s, due_s),))

    def _power(self, decision: SetPowerState) -> None:
        session = self._session
        book, machine = session.book, session.book.machine
        if not decision.nodes:
            raise DecisionRefused("", "SET_RESOURCE_STATE needs at least one host")
        busy = [index for index in decision.nodes if book.holder_of(index) is not None or index in book.nodes_out]
        if busy:
            raise DecisionRefused("", f"node {machine.nodes[busy[0]].name} is busy: its power state must stay")
        session.send((SetResourceState(session.now_s, machine.alloc_ids(decision.nodes), decision.pstate),))

    _ENACT: ClassVar[dict[type, Callable[[Decisions, Any], None]]] = {
        Create: _create,
        Destroy: _destroy,
        Finish: _finish,
        Preempt: _preempt,
        SetPowerState: _power,
        Arrange: _arrange,
        # The core carries out the others.
        Start: lambda self, it: self._session.start(it.job, it.allocation),
        Hold: lambda self, it: self._session.hold(it.job, it.allocation, it.until_s),
        Evict: lambda self, it: self._session.evict(it.job),
        Reject: lambda self, it: self._session.reject_waiting(it.job, it.reason),
        Kill: lambda self, it: self._session.kill_job(it.job),
        WakeAt: lambda self, it: self._session.wake(it.time_s),
    }


_VALUES: dict[str, tuple[type, ...]] = {
    "job": (Job,), "by": (Job,), "allocation": (Allocation,), "name": (str,), "time_s": (int, float),
    "until_s": (int, float),
}  # fmt: skip


def _refuse_values(decision: Any) -> None:
    """Refuse a decision with a value of another type: a policy's author sees it here first."""
    for name in decision.__struct_fields__:
        value, types = getattr(decision, name), _VALUES.get(name)
        if types is not None and not isinstance(value, types):
            job_id = getattr(getattr(decision, "job", None), "id", "")
            kind = type(decision).__name__
            raise DecisionRefused(job_id, f"{kind}: {name} must be of type {types[-1].__name__}, got {shown(value)}")
