"""Ends of jobs where rare features are in use: preempted and struck jobs, those that depend on them, their buffers."""

from __future__ import annotations

import math
from typing import Any

from spillway.protocol.messages import JobState
from spillway.schedulers.core.outages import KillReason, node_seconds, registration
from spillway.schedulers.core.preemption import as_a_whole
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.preemption import SuspendedState
from spillway.schedulers.policykit.view import Running


class Kills:
    """Kills jobs, and lets those wait again that are requeued, in one conversation."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def kill(self, job_id: str, death: KillReason) -> None:
        """Kill a running job that has lost resources or is preempted."""
        self._session.outages.kill(job_id, death)
        self._session.kill_job(self._session.book.running[job_id].job)

    def kill_noticed(self) -> bool:
        """Kill preempted jobs at the end of their grace time; return whether a job has ended by that.

        Called only after a whole message has been read: their ends may be in it.
        """
        session = self._session
        told = session.notices.due(session.now_s)
        due = [(job_id, death) for job_id, death in told if not session.outages.is_being_killed(job_id)]
        for job_id, death in due:
            self.kill(job_id, death)
        return any(job_id not in session.book.running for job_id, _ in due)

    def ended(self, running: Running, state: JobState, reason: str, left: Any, kept_s: float) -> None:
        """Handle the end of a job: requeue it where that is set, settle its dependents, return its buffers.

        Parameters
        ----------
        reason
            Why the runtime ended it without a request; "" where it did not.
        left, kept_s
            State passed to its next attempt, and the computing time (s) that this attempt adds to it.
        """
        session, job_id = self._session, running.job.id
        first = session.outages.first_attempt(job_id)
        death = session.outages.ended(job_id, reason)
        session.notices.ended(job_id)
        if death is None or not self._after_death(running, state, left, kept_s, death):
            failed = state is not JobState.COMPLETED_SUCCESSFULLY
            session.dependents.ended(first, session.now_s, failed=failed)
        if session.pool.requests:
            session.pool.leave(running.job)

    def _after_death(self, running: Running, state: JobState, left: Any, kept_s: float, death: KillReason) -> bool:
        """Requeue a job killed by an outage or for another job, where that is set; return whether it is requeued."""
        if state is not JobState.COMPLETED_KILLED:
            return False
        session, now_s = self._session, self._session.now_s
        held_node_s = node_seconds(running, now_s)
        if not death.requeues:
            self._tell(running.job, death, "killed", held_node_s)
            return False
        again = replaced(session.outages.next_attempt(running.job), left=left)
        if death.suspends:
            again, profile = session.notices.next_part(running, again, now_s)
            session.send((profile,))
        elif isinstance(running.job.left, SuspendedState):
            again = as_a_whole(again, running.job.left)
        if death.by:  # its wait begins anew
            held_s = now_s - again.submit_time_s + again.held_s
            again = replaced(again, submit_time_s=now_s, held_s=held_s)
        session.check_submission(again.id)
        session.send((registration(again, now_s),))
        what = "suspended, goes on as" if death.suspends else "requeued as"
        lost_node_s = 0.0 if death.suspends else held_node_s - kept_s * running.job.nodes
        self._tell(running.job, death, f"{what} {again.name}", lost_node_s)
        session.tell_submitted(again)
        hold_s = session.site.scheduler.requeue_hold_s if session.site is not None else 0.0
        if hold_s and not death.suspends:  # Slurm's clock has whole seconds
            session.dependents.hold(again, math.floor(now_s) + hold_s)
        else:
            session.enqueue(again)
        session.pool.go_on(running.job, again)
        session.counted.goes_on(running.job.id, again.id)
        return True

    def _tell(self, job: Job, death: KillReason, what: str, lost_node_s: float) -> None:
        """Report a killed job to the observer."""
        observer, now_s = self._session.observer, self._session.now_s
        if death.by:
            observer.preempted(job, death.by, what, death.told_s, now_s, lost_node_s)
        else:
            observer.interrupted(job, what, death.reason, now_s, lost_node_s)
