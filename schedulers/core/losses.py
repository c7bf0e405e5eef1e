"""Outages of nodes and storage nodes, drains of storage nodes, and the jobs that lose resources by them."""

from __future__ import annotations

from collections.abc import Collection

from spillway.protocol.messages import Notify
from spillway.schedulers.core.consequences import Consequences
from spillway.schedulers.core.drains import drained_by
from spillway.schedulers.core.outages import Death, Lost, OnOutage, lost_by
from spillway.schedulers.core.records import Records
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine


class Losses:
    """Outages and drains of one conversation."""

    def __init__(self, records: Records, consequences: Consequences) -> None:
        self._records = records
        self._consequences = consequences

    def machines_changed(self, machine: Machine, resources: Collection[int], *, available: bool) -> None:
        """Close or open nodes and storage nodes.

        Waiting jobs lose burst buffers and malleable jobs shrink at once; others that are affected are killed at the
        end of the message, unless ``on_outage`` lets them continue.
        """
        records, now_s = self._records, self._records.now_s
        hosts = records.wire.open(resources) if available else records.wire.close(resources)
        nodes, storages = machine.places_of(hosts)
        (records.book.open if available else records.book.close)(nodes, storages, now_s)
        self._consequences.enact(records.runtime.outage(records.wire.closed, now_s))
        records.dirty = True
        if not available:
            self._find_struck(machine, frozenset(nodes), frozenset(storages))

    def storage_drained(self, machine: Machine, event: Notify) -> None:
        """Drain a part of storage nodes, or give it back; jobs keep their bytes there."""
        records = self._records
        for storage, drained_bytes in drained_by(machine, event.data).items():
            records.book.drain(storage, drained_bytes, records.now_s)
            left_bytes = records.book.left_bytes(storage)
            records.observer.drained(machine.storages[storage].name, drained_bytes, left_bytes, records.now_s)
        records.dirty = True

    def kill_affected(self) -> None:
        """Kill the running jobs that lost resources in this message and have not ended in it."""
        outages = self._records.outages
        affected, outages.affected = outages.affected, {}
        for job_id, lost in affected.items():
            self._consequences.kill(job_id, Death(lost.reason, outages.rule.requeues))

    def _find_struck(self, machine: Machine, nodes: frozenset[int], storages: frozenset[int]) -> None:
        """Evict waiting jobs from burst buffers that are out; shrink running jobs on lost resources, or note them."""
        records, held = self._records, self._records.book.held
        for job_id in [one for one in held if not storages.isdisjoint(held[one].allocation.storages)]:
            self._consequences.evict(records.queue.jobs[job_id])
        if records.outages.rule is OnOutage.CONTINUE:
            return
        for job_id, running in list(records.book.running.items()):
            lost = lost_by(machine, running, nodes, storages, records.pool)
            if lost is not None and not self._shrinks(running.job, lost):
                records.outages.affect(job_id, lost)

    def _shrinks(self, job: Job, lost: Lost) -> bool:
        """Shrink a running job where the setting allows it; return whether it continues without the lost nodes."""
        records = self._records
        if not records.outages.rule.shrinks or records.outages.is_being_killed(job.id):
            return False
        step = records.runtime.give_up(job, lost.nodes, records.now_s)
        if step is None:
            return False
        records.observer.interrupted(job, "shrinks", lost.reason, records.now_s)
        self._consequences.enact(step)
        return True
