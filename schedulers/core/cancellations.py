"""Jobs that their users cancelled while they waited: they hold their place, and leave at that time or at their start.

A log does not state the run time of such a job: one that would start before its cancellation leaves then, and holds
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spillway.protocol.limits import LATEST_S
from spillway.schedulers.core.deadlines import Deadlines
from spillway.schedulers.model.decisions import Decision, Reject, Start
from spillway.schedulers.model.job import CANCELLED_FIELD, Job, is_number, refuse_field

CANCELLED = "its user cancelled it while it waited"
STARTED = "it would start now; at the site its user cancelled it later"
REASONS = (CANCELLED, STARTED)
"""Reasons with which such jobs leave."""


class Cancellations:
    """Cancelled jobs of one conversation that wait, or that others hold."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._waiting: set[str] = set()
        self._deadlines = Deadlines(self._waiting)
        self._left = False

    def submitted(self, job: Job) -> None:
        """Note the cancellation of a submitted job, if it states one.

        Raises
        ------
        RemoteProtocolError
            The job's field is malformed.
        """
        after_s = job.extras.get(CANCELLED_FIELD, self)
        if after_s is self:
            return
        if not is_number(after_s) or not 0 <= after_s <= LATEST_S:
            refuse_field(job.id, "job", CANCELLED_FIELD, "delay", after_s)
        self._deadlines.add(round(job.submit_time_s + after_s, 6), job)
        self._waiting.add(job.id)
        self._session.rare = True

    @property
    def due_s(self) -> float:
        """Time of the next cancellation of a job that has not left (s); infinite without one."""
        return self._deadlines.due_s

    def gone(self, job_id: str) -> None:
        """Forget a job that was rejected, or has ended."""
        self._waiting.discard(job_id)

    def enact(self) -> bool:
        """Let jobs leave whose time has come; return whether a job has left since the last call."""
        session = self._session
        for job_id in self._deadlines.met(session.now_s):
            if job_id in session.jobs:
                session.reject_waiting(session.jobs[job_id], CANCELLED)
            elif job_id in session.dependents.held:
                session.reject(session.dependents.withdraw(job_id), CANCELLED)
            else:  # it had no nodes, and has ended
                self.gone(job_id)
                continue
            self._left = session.dirty = True
        left, self._left = self._left, False
        return left

    def played(self, decisions: Iterator[Decision]) -> Iterator[Decision]:
        """A policy's decisions; a cancelled job leaves where it would start, and the policy decides again."""
        if not self._waiting:
            return decisions
        return map(self._of, decisions)

    def _of(self, decision: Decision) -> Decision:
        if type(decision) is not Start or getattr(decision.job, "id", "") not in self._waiting:
            return decision
        self._left = self._session.dirty = True
        return Reject(decision.job, STARTED)
