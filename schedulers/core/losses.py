"""Outages of nodes and storage nodes, drains of storage nodes, and the jobs that lose resources by them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from spillway.base.errors import RemoteProtocolError
from spillway.protocol.drains import read_drain
from spillway.protocol.messages import JsonObject, Notify
from spillway.schedulers.core.deaths import Kills
from spillway.schedulers.core.outages import JobLoss, KillReason, OnOutage, lost_by
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine


class Losses:
    """Outages and drains of one conversation."""

    def __init__(self, session: Any, deaths: Kills) -> None:
        self._session = session
        self._deaths = deaths

    def machines_changed(self, machine: Machine, resources: Collection[int], *, available: bool) -> None:
        """Close or open nodes and storage nodes.

        Waiting jobs lose burst buffers and malleable jobs shrink at once; others that are affected are killed at the
        end of the message, unless ``on_outage`` lets them continue.
        """
        session, now_s = self._session, self._session.now_s
        hosts = session.open_hosts([*resources]) if available else session.close_hosts([*resources])
        nodes, storages = machine.places_of(hosts)
        (session.book.open if available else session.book.close)(nodes, storages, now_s)
        session.report_outage()
        session.dirty = True
        if not available:
            self._find_struck(machine, frozenset(nodes), frozenset(storages))

    def storage_drained(self, machine: Machine, event: Notify) -> None:
        """Drain a part of storage nodes, or give it back; jobs keep their bytes there."""
        session = self._session
        for storage, drained_bytes in drained_by(machine, event.data).items():
            session.book.drain(storage, drained_bytes, session.now_s)
            left_bytes = session.book.left_bytes(storage)
            session.observer.drained(machine.storages[storage].name, drained_bytes, left_bytes, session.now_s)
        session.dirty = True

    def kill_affected(self) -> None:
        """Kill the running jobs that lost resources in this message and have not ended in it."""
        outages = self._session.outages
        affected, outages.affected = outages.affected, {}
        for job_id, lost in affected.items():
            self._deaths.kill(job_id, KillReason(lost.reason, outages.rule.requeues))

    def _find_struck(self, machine: Machine, nodes: frozenset[int], storages: frozenset[int]) -> None:
        """Evict waiting jobs from burst buffers that are out; shrink running jobs on lost resources, or note them."""
        session, held = self._session, self._session.book.held
        for job_id in [name for name in held if not storages.isdisjoint(held[name].allocation.storages)]:
            session.evict(session.jobs[job_id])
        if session.outages.rule is OnOutage.CONTINUE:
            return
        for job_id, running in list(session.book.running.items()):
            lost = lost_by(machine, running, nodes, storages, session.pool)
            if lost is not None and not self._shrinks(running.job, lost):
                session.outages.affect(job_id, lost)

    def _shrinks(self, job: Job, lost: JobLoss) -> bool:
        """Shrink a running job where the setting allows it; return whether it continues without the lost nodes."""
        session = self._session
        if not session.outages.rule.shrinks or session.outages.is_being_killed(job.id):
            return False
        if not session.give_up_nodes(job, sorted(lost.nodes)):
            return False
        session.observer.interrupted(job, "shrinks", lost.reason, session.now_s)
        return True


def drained_by(machine: Machine, data: JsonObject) -> dict[int, int]:
    """Bytes that are drained from now on, by storage index.

    Raises
    ------
    RemoteProtocolError
        A field is wrong, a resource is no storage node with burst buffers, or it has less than is drained.
    """
    try:
        drain = read_drain(data)
    except ValueError as error:
        raise RemoteProtocolError(str(error), "$") from None
    places = {storage.resource_id: place for place, storage in enumerate(machine.storages)}
    for resource in drain.resources:
        if resource not in places:
            raise RemoteProtocolError(
                f"expected ids of storage nodes with burst buffers ({_few(sorted(places))}), got {resource}",
                "$.resources",
            )
        capacity = machine.storages[places[resource]].capacity_bytes
        if drain.drained_bytes > capacity:
            name = machine.storages[places[resource]].name
            raise RemoteProtocolError(
                f"storage node {name} has {capacity} bytes: {drain.drained_bytes} of them cannot be drained", "$.bytes"
            )
    return {places[resource]: drain.drained_bytes for resource in drain.resources}


def _few(ids: list[int]) -> str:
    shown = [str(node) for node in ids[:4]] + (["..."] if len(ids) > 4 else [])
    return ", ".join(shown) or "the machine has no such node"
