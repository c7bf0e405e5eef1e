"""Feasibility of jobs in the empty machine; for a job that can never run, the inequality that cannot hold."""

from __future__ import annotations

import numpy as np

from spillway.core import Placement, Resource, StorageOrder
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine, common_length


class Limits:
    """Resources of the empty machine: separates jobs that can never run from those that only have to wait."""

    def __init__(self, machine: Machine, placement: Placement | None = None) -> None:
        self._machine = machine
        self._racks = (placement or Placement()).storage_order is StorageOrder.RACK
        self._nodes = machine.width
        self._free_bytes = [storage.capacity_bytes for storage in machine.storages]
        self._largest, self._smallest = max(self._free_bytes, default=0), min(self._free_bytes, default=0)
        self._links = links = machine.links[: len(machine.links) // machine.rows]
        self._unknown_bandwidth = machine.unknown_bandwidth
        self._narrowest = min((link.capacity_bytes_per_s for link in links), default=0)
        node_link = machine.node_link[: machine.width]
        below = np.bincount(node_link + 1, minlength=len(links) + 1).tolist() if links else [0]
        self._without_link: int = below[0]
        self._directly_below: list[int] = below[1:]
        self._below = list(self._directly_below)
        for index in range(len(self._links) - 1, -1, -1):  # every link comes after its parent
            if self._links[index].parent >= 0:
                self._below[self._links[index].parent] += self._below[index]

    def infeasible_reason(self, job: Job, covering: Resource = Resource.ALL) -> str | None:
        """Return the inequality that cannot hold even in the empty machine; ``None`` for a job that can run.

        Parameters
        ----------
        covering
            Resources that the scheduler considers; the others are ignored.
        """
        if job.nodes > self._nodes:
            return f"{job.nodes} nodes > {self._nodes}"
        if job.nodes < 1:
            return f"{job.nodes} nodes < 1"
        reason = None
        if job.bb_bytes and covering._value_ & Resource.BURST_BUFFERS._value_:
            reason = self._storage_reason(job)
        if reason is None and job.io_rate and covering._value_ & Resource.BANDWIDTH._value_:
            if self._unknown_bandwidth:
                reason = f"{job.nodes} nodes x {in_gigabytes(job.io_rate)}/s: {self._unknown_bandwidth}"
            elif self._links:
                reason = self._bandwidth_reason(job.nodes, job.io_rate)
        return reason

    def _storage_reason(self, job: Job) -> str | None:
        bb_bytes = job.bb_bytes
        if not self._free_bytes:
            return f"bb {in_gigabytes(bb_bytes)}: the machine has no burst buffers"
        if bb_bytes > self._largest:
            return f"bb {in_gigabytes(bb_bytes)} > {in_gigabytes(self._largest)} of the largest storage node"
        if not self._racks and not job.stripes and self._smallest // bb_bytes * len(self._free_bytes) >= job.requests:
            return None  # even if all were as small as the smallest
        whole = [size // bb_bytes for size in self._free_bytes]  # each request on one storage node
        fitting = sum(min(count, 1) for count in whole) if job.stripes else sum(whole)
        if fitting >= job.requests:
            return self._rack_reason(job) if self._racks and not job.stripes else None
        if job.stripes:
            return f"{job.stripes} stripes x {in_gigabytes(bb_bytes)}: only {fitting} storage nodes are so large"
        return f"{job.nodes} nodes x {in_gigabytes(bb_bytes)}: only {fitting} whole requests fit"

    def _rack_reason(self, job: Job) -> str | None:
        """The reason why the storage of the nodes' own racks does not suffice; nodes are tried one after the other."""
        left, served = list(self._free_bytes), 0
        for node in range(self._nodes):
            storage = next(
                (storage for storage in own_storages(self._machine, node) if left[storage] >= job.bb_bytes), None
            )
            if storage is not None:
                left[storage] -= job.bb_bytes
                served += 1
        if served >= job.nodes:
            return None
        return f"{job.nodes} nodes x {in_gigabytes(job.bb_bytes)}: the storage of their own racks serves only {served}"

    def _bandwidth_reason(self, nodes: int, io_rate: int) -> str | None:
        if nodes * io_rate <= self._narrowest:
            return None
        carried, tightest = self._carry(io_rate)
        if carried >= nodes:
            return None
        for index, below in enumerate(self._below):  # from the outside in: a level that is too small on its own?
            if self._nodes - max(0, below - self._links[index].capacity_bytes_per_s // io_rate) < nodes:
                tightest = index
                break
        link, below = self._links[tightest], self._below[tightest]
        size, most = in_gigabytes(link.capacity_bytes_per_s), link.capacity_bytes_per_s // io_rate
        where = f"{link.name} ({size}/s) carries {most} of its {below}"
        return f"{nodes} nodes x {in_gigabytes(io_rate)}/s: the links carry only {carried}; {where}"

    def _carry(self, io_rate: int) -> tuple[int, int]:
        """Number of nodes that the empty tree carries, and the link that excludes most (the outermost of equals)."""
        total, below = self._without_link, list(self._directly_below)
        most_lost, tightest = 0, 0
        for index in range(len(self._links) - 1, -1, -1):
            link, brought = self._links[index], below[index]
            carried = min(link.capacity_bytes_per_s // io_rate, brought)
            if brought - carried >= most_lost:
                most_lost, tightest = brought - carried, index
            if link.parent >= 0:
                below[link.parent] += carried
            else:
                total += carried
        return total, tightest


def own_storages(machine: Machine, node: int) -> tuple[int, ...]:
    """Storage nodes of a node's own rack, nearest first: those of the smallest place around it that has some.

    On a machine without places that is the whole machine; elsewhere the result is empty for a node that shares no place
    with a storage node.
    """
    place, nearest = machine.nodes[node].location, machine.nearest_storages[node].tolist()
    shared = [common_length(place, machine.storages[storage].location) for storage in nearest]
    if place and shared and not shared[0]:
        return ()
    return tuple(storage for storage, length in zip(nearest, shared, strict=True) if length == shared[0])


def infeasible_reason(
    machine: Machine, job: Job, covering: Resource = Resource.ALL, placement: Placement | None = None
) -> str | None:
    """Same as :meth:`Limits.infeasible_reason`, for a single job; keep a :class:`Limits` for many."""
    return Limits(machine, placement).infeasible_reason(job, covering)


def in_gigabytes(size: int) -> str:
    """A size in decimal gigabytes, exact enough that unequal sizes differ in a message."""
    return f"{size / 1e9:.10g} GB"
