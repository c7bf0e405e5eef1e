"""Entry of jobs into the queue: at their submission, or when their dependencies no longer hold them."""

from __future__ import annotations

import math

from spillway.protocol.limits import LATEST_S
from spillway.protocol.messages import CallMeLater, JobSubmitted
from spillway.schedulers.core.consequences import Consequences
from spillway.schedulers.core.dependents import Settled
from spillway.schedulers.core.records import Records
from spillway.schedulers.model.job import replaced
from spillway.schedulers.policykit.view import CACHE


class Submissions:
    """Lets jobs into the queue of one conversation, or rejects them."""

    def __init__(self, records: Records, consequences: Consequences) -> None:
        self._records = records
        self._consequences = consequences
        self._call_s = -1.0

    def submitted(self, event: JobSubmitted) -> None:
        """Process the submission of a job of a user's workload.

        Raises
        ------
        RemoteProtocolError
            A field has the wrong type or is out of range; the error names its place.
        """
        records = self._records
        job, reason = records.admission.read(event)
        records.wire.submitted(job.id, job.profile_name)
        records.observer.submitted(job, records.now_s)
        if reason is None:
            job, reason = records.admission.admitted(job, records.pool)
        if reason is not None:
            self._consequences.reject(job, reason)
            return
        if len(records.counted.pools) > len(records.book.machine.pools):
            records.book.widen(records.counted.pools)
            records.notebook.pop(CACHE, None)  # timelines without the new pools
        settled = records.dependents.submitted(job, records.arrivals.knows, records.now_s)
        if settled is not None and settled.reason:
            self._consequences.reject(job, settled.reason)
        elif settled is not None:
            records.queue.add(job)
            records.dirty = True

    def release(self) -> bool:
        """Queue or reject jobs that dependencies no longer hold; return whether there were any."""
        records, dependents = self._records, self._records.dependents
        any_settled = False
        while dependents.changed or dependents.held:
            settled = list(dependents.settled(records.now_s))
            idle = records.static_done and not records.queue.jobs and not records.book.running
            if not settled and idle and dependents.held and dependents.due_s == math.inf:
                settled.append(dependents.circle())
            for one in settled:
                self._free(one)
            any_settled = any_settled or bool(settled)
            if not settled and not dependents.changed:
                break
        return any_settled

    def no_more(self) -> None:
        """Reject held jobs that depend on unknown jobs, as no further jobs come."""
        records = self._records
        for settled in records.dependents.unknown(records.arrivals.knows):
            self._free(settled)

    def call(self) -> None:
        """Request a call at the end of the next delay after another job's start or end."""
        records = self._records
        due_s = records.dependents.due_s
        if due_s <= LATEST_S and not records.now_s < self._call_s <= due_s:
            self._call_s = due_s
            records.send((CallMeLater(records.now_s, due_s),))

    def _free(self, settled: Settled) -> None:
        records, job = self._records, settled.job
        if settled.reason:
            self._consequences.reject(job, settled.reason)
            return
        held_s = records.now_s - job.submit_time_s
        number = records.admission.next_number()
        job = replaced(job, number=number, submit_time_s=records.now_s, held_s=held_s)
        records.queue.add(job)
        records.observer.released(job, records.now_s)
        records.dirty = True
