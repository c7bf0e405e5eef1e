"""Consequences of an event or a decision: steps of the runtime, ends of jobs, jobs that wait again after a kill."""

from __future__ import annotations

from spillway.base.errors import DecisionRefused, RemoteProtocolError, shown
from spillway.protocol.messages import JobState, RejectJob
from spillway.schedulers.core.execution import NOTHING, Ended, Released, Staged, Step
from spillway.schedulers.core.outages import Death, node_seconds, registration
from spillway.schedulers.core.preemption import as_a_whole
from spillway.schedulers.core.records import Records
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.preemption import Suspended
from spillway.schedulers.policykit.view import Running
from spillway.schedulers.timeline import Resource

SUCCESS = JobState.COMPLETED_SUCCESSFULLY


class Consequences:
    """Applies the consequences of events and decisions to the records of one conversation."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def enact(self, step: Step) -> None:
        """Carry out a step of the runtime."""
        if step is NOTHING:
            return
        records = self._records
        if step.requests:
            records.send(step.requests)
        for staged in step.staged:
            self._staged_in(staged)
        for released in step.released:
            self._left(released)
        for expected in step.expected:
            records.book.expect(expected.job_id, expected.until_s, records.now_s, expected.covering)
        for ended in step.ended:
            self._job_ended(ended)

    def reject(self, job: Job, reason: str) -> None:
        """Reject a job that neither waits nor runs."""
        records = self._records
        records.observer.rejected(job, reason, records.now_s)
        records.dependents.ended(job.id, records.now_s, failed=True)
        records.pool.leave(job, ended=False)
        records.send((RejectJob(records.now_s, job.id),))

    def reject_waiting(self, job: Job, reason: str) -> None:
        """Reject a waiting job; it loses its burst buffer."""
        records = self._records
        if job.id not in records.queue.jobs:
            raise DecisionRefused(job.id, "only a waiting job can be rejected")
        if job.id in records.book.held:
            self.evict(job)
        records.queue.remove(job.id)
        self.reject(job, reason)

    def evict(self, job: Job) -> None:
        """Take the burst buffer of a waiting job away."""
        records = self._records
        if job.id not in records.book.held:
            raise DecisionRefused(job.id, "only a waiting job that holds a burst buffer can be evicted from it")
        records.filled_s.pop(job.id, None)
        holding = records.book.evict(job.id, records.now_s)
        records.observer.evicted(job, holding, records.now_s)
        self.enact(records.runtime.unstage(job, records.now_s))

    def kill(self, job_id: str, death: Death) -> None:
        """Kill a running job that has lost resources or is preempted."""
        records = self._records
        records.outages.kill(job_id, death)
        self.enact(records.runtime.kill(records.book.running[job_id].job, records.now_s))

    def kill_noticed(self) -> bool:
        """Kill preempted jobs at the end of their grace time; return whether a job has ended by that.

        Called only after a whole message has been read: their ends may be in it.
        """
        records = self._records
        told = records.notices.due(records.now_s)
        due = [one for one in told if not records.outages.is_being_killed(one[0])]
        for job_id, death in due:
            self.kill(job_id, death)
        return any(job_id not in records.book.running for job_id, _ in due)

    def _staged_in(self, staged: Staged) -> None:
        """Record that a waiting job's stage-in has finished; after a failed stage-in, reject the job."""
        records = self._records
        records.dirty = True
        if staged.reason:
            self.reject_waiting(records.queue.jobs[staged.job_id], staged.reason)
        else:
            records.filled_s[staged.job_id] = records.now_s

    def _left(self, released: Released) -> None:
        """Release resources that a running job has given back: they are free in the policy's next pass."""
        records, now_s = self._records, self._records.now_s
        try:
            changed = records.book.give_back(released.job_id, now_s, released.nodes, released.covering)
        except ValueError as error:
            raise DecisionRefused(released.job_id, str(error)) from error
        records.observer.resized(changed, now_s)
        records.dirty = True
        # At a site, as in Slurm, jobs that depend on this one do not wait until its buffer is emptied.
        if records.site is not None and not any(Resource.NODES in one.covering for one in changed.holdings):
            records.dependents.ended(records.outages.first_attempt(released.job_id), now_s, failed=False)

    def _job_ended(self, ended: Ended) -> None:
        records, now_s, job_id = self._records, self._records.now_s, ended.job_id
        if job_id not in records.book.running:
            raise RemoteProtocolError(f"the end of {shown(job_id)}, which does not run")
        running = records.book.end(job_id, now_s)
        records.book.accounts.ended(running, ended.state._value_, now_s)
        records.observer.ended(running, ended.state, now_s)
        records.wire.ended(job_id)
        records.dirty = True
        first = records.outages.first_attempt(job_id)
        death = records.outages.ended(job_id, ended.reason)
        if records.notices.given:
            records.notices.ended(job_id)
        if death is None or not self._after_death(running, ended, death):
            records.dependents.ended(first, now_s, failed=ended.state is not SUCCESS)
        if records.pool.requests:
            records.pool.leave(running.job)

    def _after_death(self, running: Running, ended: Ended, death: Death) -> bool:
        """Requeue a job killed by an outage or for another job, where that is set; return whether it is requeued."""
        if ended.state is not JobState.COMPLETED_KILLED:
            return False
        records, now_s = self._records, self._records.now_s
        held_node_s = node_seconds(running, now_s)
        if not death.requeues:
            self._tell(running.job, death, "killed", held_node_s)
            return False
        again = replaced(records.outages.next_attempt(running.job), left=ended.left)
        if death.suspends:
            again, profile = records.notices.next_part(running, again, now_s)
            records.send((profile,))
        elif isinstance(running.job.left, Suspended):
            again = as_a_whole(again, running.job.left)
        if death.by:  # its wait begins anew
            held_s = now_s - again.submit_time_s + again.held_s
            again = replaced(again, submit_time_s=now_s, held_s=held_s)
        records.arrivals.check_submission(again.id)
        records.send((registration(again, now_s),))
        what = "suspended, goes on as" if death.suspends else "requeued as"
        lost_node_s = 0.0 if death.suspends else held_node_s - ended.kept_s * running.job.nodes
        self._tell(running.job, death, f"{what} {again.name}", lost_node_s)
        records.observer.submitted(again, now_s)
        records.queue.add_again(again)
        records.pool.go_on(running.job, again)
        records.counted.goes_on(running.job.id, again.id)
        return True

    def _tell(self, job: Job, death: Death, what: str, lost_node_s: float) -> None:
        """Report a killed job to the observer."""
        observer, now_s = self._records.observer, self._records.now_s
        if death.by:
            observer.preempted(job, death.by, what, death.told_s, now_s, lost_node_s)
        else:
            observer.interrupted(job, what, death.reason, now_s, lost_node_s)
