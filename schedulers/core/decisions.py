"""A policy's decisions: each is checked by the guard and carried out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from spillway.base.errors import DecisionRefused, shown
from spillway.protocol.limits import LATEST_S
from spillway.protocol.messages import CallMeLater, SetResourceState
from spillway.schedulers.core.book import NOTHING
from spillway.schedulers.core.consequences import SUCCESS, Consequences
from spillway.schedulers.core.guard import check_create, check_destroy, check_hold, check_start, check_wake
from spillway.schedulers.core.outages import Death
from spillway.schedulers.core.preemption import check_preempt
from spillway.schedulers.core.records import Records
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
    """Carries out decisions, in the records of one conversation.

    Parameters
    ----------
    records, consequences
        The records, and the handler of consequences.
    fewest_nodes
        See :class:`spillway.schedulers.core.terms.JobTerms`.
    """

    def __init__(self, records: Records, consequences: Consequences, fewest_nodes: Callable[[Job], int] | None) -> None:
        self._records = records
        self._consequences = consequences
        self._fewest_nodes = fewest_nodes

    def enact(self, decision: Any) -> bool:
        """Carry out a decision; return whether it is one.

        Raises
        ------
        DecisionRefused
            The decision is impossible; the error names the job and the reason.
        """
        enact = self._ENACT.get(type(decision))
        if enact is not None:
            is_start = type(decision) is Start  # as most are: looked at quickly
            if not (is_start and type(decision.job) is Job and type(decision.allocation) is Allocation):
                _refuse_values(decision)
            enact(self, decision)
        return enact is not None

    def discard(self, name: str, job: Job) -> None:
        """Destroy a persistent buffer for a job."""
        records = self._records
        records.pool.to_destroy.pop(name, None)
        records.observer.destroyed(records.book.discard(name, records.now_s), job, records.now_s)

    def _start(self, decision: Start) -> None:
        records, job, allocation = self._records, decision.job, decision.allocation
        book, queue, pool, job_id, now_s = records.book, records.queue, records.pool, decision.job.id, records.now_s
        fewest = self._fewest_nodes(job) if self._fewest_nodes is not None else None
        check_start(book, job_id in queue.jobs, job, allocation, fewest)
        if job_id in book.held and job_id not in records.filled_s:
            raise DecisionRefused(job_id, "its burst buffer is still being filled (stage-in): it can start after that")
        if pool.requests and (missing := pool.missing(job_id)) is not None:
            raise DecisionRefused(job_id, missing)
        queue.remove(job_id)
        records.filled_s.pop(job_id, None)
        book.start(job, allocation, now_s)
        records.observer.started(job, allocation, now_s)
        records.dependents.started(records.outages.first_attempt(job_id), now_s)
        self._consequences.enact(records.runtime.start(job, allocation, now_s))

    def _hold(self, decision: Hold) -> None:
        records, job = self._records, decision.job
        check_hold(records.book, job.id in records.queue.jobs, decision, records.now_s)
        records.book.hold(job, decision.allocation, records.now_s, decision.until_s)
        records.observer.held(job, records.book.held[job.id], records.now_s)
        self._consequences.enact(records.runtime.stage(job, decision.allocation, records.now_s))

    def _evict(self, decision: Evict) -> None:
        self._consequences.evict(decision.job)

    def _create(self, decision: Create) -> None:
        records, job, name = self._records, decision.job, decision.name
        creation = check_create(records.book, records.pool, job.id in records.queue.jobs, decision)
        buffer = PersistentBuffer(name, job.user, job.id, decision.allocation, records.now_s)
        records.book.keep(buffer)
        records.pool.done.add((job.id, creation.name))
        records.observer.created(buffer, records.now_s)

    def _destroy(self, decision: Destroy) -> None:
        records = self._records
        check_destroy(records.pool, decision, decision.job.id in records.queue.jobs, records.book.running)
        records.pool.done.add((decision.job.id, decision.name))
        self.discard(decision.name, decision.job)

    def _finish(self, decision: Finish) -> None:
        """End a job without nodes, which the simulator does not run."""
        records, job, now_s = self._records, decision.job, self._records.now_s
        if job.id not in records.queue.jobs or job.nodes:
            raise DecisionRefused(job.id, "only a waiting job without nodes can be finished without a start")
        missing = records.pool.missing(job.id)
        if missing is not None:
            raise DecisionRefused(job.id, missing)
        records.queue.remove(job.id)
        records.observer.started(job, NOTHING, now_s)
        self._consequences.enact(records.runtime.without_nodes(job, now_s))
        records.observer.ended(Running(job, now_s, now_s, NOTHING), SUCCESS, now_s)
        records.dependents.started(job.id, now_s)
        records.dependents.ended(job.id, now_s, failed=False)
        records.pool.leave(job)

    def _arrange(self, decision: Arrange) -> None:
        records = self._records
        book, now_s = records.book, records.now_s
        for job, _ in decision.places:
            if job.id not in book.running:
                raise DecisionRefused(job.id, "only a running job can be moved")
            try:
                book.lift(job.id, now_s)
            except ValueError as error:
                raise DecisionRefused(job.id, str(error)) from error
        for job, allocation in decision.places:
            check_start(book, True, job, allocation)
            book.place(job, allocation, now_s)
            records.runtime.move(job, allocation, now_s)

    def _reject(self, decision: Reject) -> None:
        self._consequences.reject_waiting(decision.job, decision.reason)

    def _kill(self, decision: Kill) -> None:
        records = self._records
        if decision.job.id not in records.book.running:
            raise DecisionRefused(decision.job.id, "only a running job can be killed")
        self._consequences.enact(records.runtime.kill(decision.job, records.now_s))

    def _preempt(self, decision: Preempt) -> None:
        """Preempt a job: it is killed after its grace time, at the end of this message at the earliest."""
        records, job, by, now_s = self._records, decision.job, decision.by, self._records.now_s
        group = check_preempt(records.book, records.notices.rules, by.id in records.queue.jobs, decision, now_s)
        if job.id in records.notices.given or records.outages.is_being_killed(job.id):
            return
        suspends = group.mode == SUSPEND
        death = Death(f"preempted by job {by.name}", suspends or group.mode == REQUEUE, by.id, now_s, suspends)
        due_s = now_s + group.grace_s
        records.notices.give(job.id, due_s, death)
        records.book.leave(job.id, due_s, now_s)
        if group.grace_s and due_s <= LATEST_S:  # no simulation gets beyond
            records.send((CallMeLater(now_s, due_s),))

    def _wake(self, decision: WakeAt) -> None:
        records = self._records
        check_wake(decision.time_s, records.now_s)
        if decision.time_s <= LATEST_S:  # no simulation gets beyond
            records.send((CallMeLater(records.now_s, decision.time_s),))

    def _power(self, decision: SetPowerState) -> None:
        records = self._records
        book, machine = records.book, records.book.machine
        busy = [index for index in decision.nodes if book.holder[index] is not None or index in book.nodes_out]
        if busy:
            raise DecisionRefused("", f"node {machine.nodes[busy[0]].name} is busy: its power state must stay")
        records.send((SetResourceState(records.now_s, machine.alloc_ids(decision.nodes), decision.pstate),))

    _ENACT: ClassVar[dict[type, Callable[[Decisions, Any], None]]] = {
        Start: _start,
        Hold: _hold,
        Evict: _evict,
        Create: _create,
        Destroy: _destroy,
        Finish: _finish,
        Reject: _reject,
        Kill: _kill,
        Preempt: _preempt,
        WakeAt: _wake,
        SetPowerState: _power,
        Arrange: _arrange,
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
