"""What is allocated now, and whether a job can ever run: accounts that refuse what does not add up, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from operator import lt
from typing import NamedTuple

import numpy as np

from spillway.base.errors import shown
from spillway.schedulers.core.allocation import only, together, without
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.timeline.placement import (
    Placement,
    Resource,
    StorageOrder,
    links_above,
    own_storages,
    whole_requests,
)


class Held(NamedTuple):
    """What a job holds, kind by kind: one and the same allocation until it gives back a part of one kind alone.

    Attributes
    ----------
    nodes, storage, links
        Of each only its own kind counts. The nodes of ``storage`` and ``links`` are those that the requests and the
        bandwidth were granted for; they may have been given back.
    """

    nodes: Allocation
    storage: Allocation
    links: Allocation

    def as_one(self) -> Allocation:
        """All of it; where the kinds differ, the storages need not stand for the nodes in turn."""
        if self.nodes is self.storage is self.links:
            return self.nodes
        storages = self.storage.storages
        bb_bytes = self.storage.bb_bytes if storages else 0
        io_rate = self.links.io_rate if self.links.nodes else 0
        return Allocation(self.nodes.nodes, storages, bb_bytes, io_rate, striped=self.storage.striped)


NOTHING = Allocation(())
_WITHOUT_STORAGES = Resource.NODES | Resource.BANDWIDTH
_NODES, _STORAGES = Resource.NODES._value_, Resource.BURST_BUFFERS._value_
"""As whole numbers: a test whether a flag is in another takes a tenth of a start."""


class Limits:
    """What the empty machine offers: separates jobs that can never run from those that only have to wait."""

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
        for index in range(len(self._links) - 1, -1, -1):  # every link stands after its parent
            if self._links[index].parent >= 0:
                self._below[self._links[index].parent] += self._below[index]

    def infeasible_reason(self, job: Job, covering: Resource = Resource.ALL) -> str | None:
        """Return the inequality that cannot hold even in the empty machine; ``None`` for a job that can run.

        Parameters
        ----------
        covering
            The resources that the scheduler cares for; the others are not looked at.
        """
        if job.nodes > self._nodes:
            return f"{job.nodes} nodes > {self._nodes}"
        if job.nodes < 1:
            return f"{job.nodes} nodes < 1"
        reason = None
        if job.bb_bytes and Resource.BURST_BUFFERS in covering:
            reason = self._storage_reason(job)
        if reason is None and job.io_rate and Resource.BANDWIDTH in covering:
            if self._unknown_bandwidth:
                reason = f"{job.nodes} nodes x {_gb(job.io_rate)}/s: {self._unknown_bandwidth}"
            elif self._links:
                reason = self._bandwidth_reason(job.nodes, job.io_rate)
        return reason

    def _storage_reason(self, job: Job) -> str | None:
        bb_bytes = job.bb_bytes
        if not self._free_bytes:
            return f"bb {_gb(bb_bytes)}: the machine has no burst buffers"
        if bb_bytes > self._largest:
            return f"bb {_gb(bb_bytes)} > {_gb(self._largest)} of the largest storage node"
        if not self._racks and not job.stripes and self._smallest // bb_bytes * len(self._free_bytes) >= job.requests:
            return None  # with less than there is
        fitting = whole_requests(self._free_bytes, bb_bytes, each_apart=job.stripes > 0)
        if fitting >= job.requests:
            return self._rack_reason(job) if self._racks and not job.stripes else None
        if job.stripes:
            return f"{job.stripes} stripes x {_gb(bb_bytes)}: only {fitting} storage nodes are so large"
        return f"{job.nodes} nodes x {_gb(bb_bytes)}: only {fitting} whole requests fit"

    def _rack_reason(self, job: Job) -> str | None:
        """Why the storage of the nodes' own racks does not do: nodes are tried one after the other."""
        left, served = list(self._free_bytes), 0
        for node in range(self._nodes):
            storage = next((one for one in own_storages(self._machine, node) if left[one] >= job.bb_bytes), None)
            if storage is not None:
                left[storage] -= job.bb_bytes
                served += 1
        if served >= job.nodes:
            return None
        return f"{job.nodes} nodes x {_gb(job.bb_bytes)}: the storage of their own racks serves only {served}"

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
        size, most = _gb(link.capacity_bytes_per_s), link.capacity_bytes_per_s // io_rate
        where = f"{link.name} ({size}/s) carries {most} of its {below}"
        return f"{nodes} nodes x {_gb(io_rate)}/s: the links carry only {carried}; {where}"

    def _carry(self, io_rate: int) -> tuple[int, int]:
        """How many nodes the empty tree carries, and the link that holds back most, the outermost of equals."""
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


def infeasible_reason(
    machine: Machine, job: Job, covering: Resource = Resource.ALL, placement: Placement | None = None
) -> str | None:
    """Same as :meth:`Limits.infeasible_reason`, for a single question; keep a :class:`Limits` for many."""
    return Limits(machine, placement).infeasible_reason(job, covering)


class Cluster:
    """Nodes, storage bytes and link bandwidth held now, by job id.

    Parameters
    ----------
    machine
        The machine; everything is free and available at first.
    placement
        The rules of placement: under ``rack`` nodes may only use the storage of their own racks.
    """

    def __init__(self, machine: Machine, placement: Placement | None = None) -> None:
        self._machine = machine
        self._limits = Limits(machine, placement)
        self._racks = (placement or Placement()).storage_order is StorageOrder.RACK
        self._holder: list[str | None] = [None] * len(machine.nodes)
        self._free_bytes = [storage.capacity_bytes for storage in machine.storages]
        self._free_bandwidth = [link.capacity_bytes_per_s for link in machine.links]
        self._innermost: list[int] = machine.node_link.tolist() if machine.links else []
        self._parents = [link.parent for link in machine.links]
        self._flowing: tuple[Allocation, dict[int, int]] = (NOTHING, {})
        self._held: dict[str, Held] = {}
        self._kept: dict[str, Allocation] = {}
        self._held_nodes = 0
        self._unavailable: set[int] = set()
        self._closed_storages: set[int] = set()
        self._drained: dict[int, int] = {}

    # ------------------------------------------------------------------ questions

    @property
    def free_nodes(self) -> int:
        """Number of nodes that no job holds and that are available."""
        gone = sum(self._holder[node] is None for node in self._unavailable)
        return len(self._holder) - self._held_nodes - gone

    def free_node_indices(self) -> list[int]:
        """Nodes that no job holds and that are available, ascending."""
        return [node for node, holder in enumerate(self._holder) if holder is None and node not in self._unavailable]

    @property
    def free_storage(self) -> list[int]:
        """Bytes free per storage node; nothing where it is out, or where more is held than is left of it."""
        return [max(0, size) for size in self.storage_left] if self._drained else self.storage_left

    @property
    def storage_left(self) -> list[int]:
        """The same, below zero by what has to be given back before anything of a drained storage node is free."""
        left = list(self._free_bytes)
        for storage, size in self._drained.items():
            left[storage] -= size
        for storage in self._closed_storages:
            left[storage] = 0
        return left

    @property
    def drained(self) -> dict[int, int]:
        """Bytes that are drained of storage nodes, by index."""
        return dict(self._drained)

    @property
    def free_bandwidth(self) -> list[int]:
        """Bytes per second free per link."""
        return list(self._free_bandwidth)

    @property
    def unavailable(self) -> frozenset[int]:
        """Nodes that machine events took away."""
        return frozenset(self._unavailable)

    @property
    def closed_storages(self) -> frozenset[int]:
        """Storage nodes that machine events took away."""
        return frozenset(self._closed_storages)

    def there(self, allocation: Allocation) -> Allocation:
        """What of an allocation is not out; its storages need not stand for the nodes in turn."""
        nodes = tuple(node for node in allocation.nodes if node not in self._unavailable)
        storages = tuple(one for one in allocation.storages if one not in self._closed_storages)
        return Allocation(nodes, storages, allocation.bb_bytes, allocation.io_rate, striped=allocation.striped)

    def held_by(self, job_id: str) -> Allocation | None:
        """What a job holds; ``None`` for nothing."""
        held = self._held.get(job_id)
        return None if held is None else held.as_one()

    def parts_of(self, job_id: str) -> Held | None:
        """What a job holds, kind by kind; ``None`` for nothing."""
        return self._held.get(job_id)

    def is_free(self, nodes: Collection[int]) -> bool:
        """Whether none of these nodes is held by a job or unavailable."""
        return all(self._holder[node] is None for node in nodes) and self._unavailable.isdisjoint(nodes)

    def infeasible_reason(self, job: Job, covering: Resource = Resource.ALL) -> str | None:
        """See :meth:`Limits.infeasible_reason`."""
        return self._limits.infeasible_reason(job, covering)

    def why_not(self, job: Job, allocation: Allocation) -> str | None:
        """Return the reason why a job cannot be given an allocation now; ``None`` when it can.

        The allocation must have the job's number of nodes and its burst buffer. Its I/O rate may be the job's or 0: a
        scheduler that ignores bandwidth books none. A job that holds its burst buffer already must be started on it.
        """
        held = self._held.get(job.id)
        if held is not None and held.nodes.nodes:
            return f"the job already holds {len(held.nodes.nodes)} nodes"
        return (
            self._nodes_reason(job, allocation.nodes)
            or (self._storage_reason(job, allocation) if held is None else self._buffer_reason(held, allocation))
            or self._bandwidth_reason(job, allocation)
        )

    def why_no_buffer(self, job: Job, allocation: Allocation) -> str | None:
        """Return the reason why a job cannot be given these storages before its nodes; ``None`` when it can."""
        if job.id in self._held:
            return "the job already holds its burst buffer, or runs"
        if not job.bb_bytes:
            return "it requests no burst buffer that could be held"
        if allocation.nodes or allocation.io_rate:
            return f"a buffer that is held before the nodes has neither nodes nor bandwidth, got {allocation}"
        return self._storage_reason(job, allocation)

    # ------------------------------------------------------------------ changes

    def allocate(self, job: Job, allocation: Allocation) -> None:
        """Give a job an allocation; ValueError with the reason of :meth:`why_not` where that forbids it."""
        reason = self.why_not(job, allocation)
        if reason is not None:
            raise ValueError(f"job {shown(job.id)}: {reason}")
        self.enter(job.id, allocation)

    def enter(self, job_id: str, allocation: Allocation) -> None:
        """The same for an allocation that has been checked (:meth:`why_not`)."""
        covering = Resource.ALL if job_id not in self._held else _WITHOUT_STORAGES
        self._held[job_id] = Held(allocation, allocation, allocation)
        self._take(job_id, allocation, covering)

    def hold(self, job: Job, allocation: Allocation) -> None:
        """Give a job its storages before its nodes; ValueError with the reason of :meth:`why_no_buffer`."""
        reason = self.why_no_buffer(job, allocation)
        if reason is not None:
            raise ValueError(f"job {shown(job.id)}: {reason}")
        self._held[job.id] = Held(NOTHING, allocation, NOTHING)
        self._take(job.id, allocation, Resource.BURST_BUFFERS)

    def why_not_kept(self, request: Job, name: str, allocation: Allocation) -> str | None:
        """Return the reason why a persistent buffer of this name cannot be created there; ``None`` when it can."""
        if name in self._kept:
            return f"the persistent buffer {shown(name)} exists already"
        if allocation.nodes or allocation.io_rate:
            return f"a persistent buffer has neither nodes nor bandwidth, got {allocation}"
        return self._storage_reason(request, allocation)

    def keep(self, name: str, allocation: Allocation) -> None:
        """Create a persistent buffer; the allocation must have been checked (:meth:`why_not_kept`)."""
        self._kept[name] = allocation
        self._change(allocation, Resource.BURST_BUFFERS, 1)

    def discard(self, name: str) -> None:
        """Destroy a persistent buffer."""
        self._change(self._kept.pop(name), Resource.BURST_BUFFERS, -1)

    def free(self, job_id: str) -> Allocation:
        """Take back and return all that a job holds; ValueError when it holds nothing."""
        held = self._held.pop(job_id, None)
        if held is None:
            raise ValueError(f"job {shown(job_id)} holds nothing that could be freed")
        if held.nodes is held.storage is held.links:
            self._give(held.nodes, Resource.ALL)
            return held.nodes
        self._give(held.nodes, Resource.NODES)
        self._give(held.storage, Resource.BURST_BUFFERS)
        self._give(held.links, Resource.BANDWIDTH)
        return held.as_one()

    def lift(self, job_id: str) -> None:
        """Take a running job off its nodes, to be given others by :meth:`allocate`; its burst buffer stays."""
        held = self._held[job_id]
        self._give(held.nodes, Resource.NODES)
        self._give(held.links, Resource.BANDWIDTH)
        self._held[job_id] = Held(NOTHING, held.storage, NOTHING)

    def give_back(self, job_id: str, covering: Resource, nodes: Collection[int] | None = None) -> Held:
        """Take back some kinds of resources that a job holds, all or those of some nodes; return what is left.

        ValueError where the job holds nothing of the kinds for one of the nodes; nothing is changed then.
        """
        held = self._held.get(job_id)
        if held is None:
            raise ValueError(f"job {shown(job_id)} holds nothing that could be given back")
        wanted = dict(zip((Resource.NODES, Resource.BURST_BUFFERS, Resource.BANDWIDTH), held, strict=True))
        if nodes is not None:
            unknown = set(nodes).difference(*(wanted[kind].nodes for kind in covering))
            if unknown:
                raise ValueError(f"job {shown(job_id)} cannot give back what it does not hold for node {min(unknown)}")
        left: dict[int, Allocation] = {}
        for kind in covering:
            allocation = wanted[kind]
            self._give(allocation if nodes is None else only(allocation, nodes), kind)
            if id(allocation) not in left:  # kinds that were one stay one
                left[id(allocation)] = NOTHING if nodes is None else without(allocation, nodes)
            wanted[kind] = left[id(allocation)]
        self._held[job_id] = Held(*wanted.values())
        return self._held[job_id]

    def grow(self, job_id: str, gained: Allocation) -> None:
        """Give a job more of each kind; ValueError with the reason where that is not free. Nothing is changed then."""
        held = self._held[job_id]
        reason = (
            self._free_reason(gained.nodes)
            or self._space_reason(gained.storages, gained.bb_bytes)
            or self._flow_reason(gained)
        )
        if reason is not None:
            raise ValueError(f"job {shown(job_id)}: {reason}")
        if held.nodes is held.storage is held.links:
            allocation = together(held.nodes, gained)
            self._held[job_id] = Held(allocation, allocation, allocation)
        else:
            self._held[job_id] = Held(
                together(_without_storages(held.nodes), _without_storages(gained)),
                together(held.storage, gained) if gained.storages else held.storage,
                together(_without_storages(held.links), _without_storages(gained)) if gained.io_rate else held.links,
            )
        self._take(job_id, gained, Resource.ALL)

    def close(self, nodes: Iterable[int], storages: Iterable[int] = ()) -> None:
        """Nodes and storage nodes are gone for new jobs; a job that holds some of them goes on (Batsim's rule)."""
        self._unavailable.update(self._known(nodes))
        self._closed_storages.update(storages)

    def open(self, nodes: Iterable[int], storages: Iterable[int] = ()) -> None:
        """Nodes and storage nodes are back."""
        self._unavailable.difference_update(self._known(nodes))
        self._closed_storages.difference_update(storages)

    def drain(self, storage: int, drained: int) -> None:
        """So many bytes of a storage node are given to no job any more, in all; what is held there stays.

        ValueError for more than it has, with the inequality.
        """
        node = self._machine.storages[storage]
        if not 0 <= drained <= node.capacity_bytes:
            raise ValueError(
                f"storage {node.name} has {_gb(node.capacity_bytes)}: between 0 and so much of it can be drained, "
                f"not {_gb(drained)}"
            )
        if drained:
            self._drained[storage] = drained
        else:
            self._drained.pop(storage, None)

    def check(self) -> None:
        """Prove that holders, free bytes and bandwidths follow from what the jobs hold."""
        holder: list[str | None] = [None] * len(self._holder)
        free_bytes = [storage.capacity_bytes for storage in self._machine.storages]
        bandwidth = [link.capacity_bytes_per_s for link in self._machine.links]
        for job_id, held in self._held.items():
            for node in held.nodes.nodes:
                assert holder[node] is None, f"node {node} is held by {holder[node]!r} and {job_id!r}"
                holder[node] = job_id
            for node in held.links.nodes if held.links.io_rate else ():
                for link in links_above(self._machine, node):
                    bandwidth[link] -= held.links.io_rate
            for storage in held.storage.storages:
                free_bytes[storage] -= held.storage.bb_bytes
        for kept in self._kept.values():
            for storage in kept.storages:
                free_bytes[storage] -= kept.bb_bytes
        assert holder == self._holder, "holders do not follow from the allocations"
        assert self._held_nodes == len(holder) - holder.count(None), "the number of held nodes is wrong"
        assert free_bytes == self._free_bytes, f"free bytes {self._free_bytes} should be {free_bytes}"
        assert bandwidth == self._free_bandwidth, f"bandwidth {self._free_bandwidth} should be {bandwidth}"
        assert min(free_bytes, default=0) >= 0, f"a storage node is over-committed: {free_bytes}"
        assert min(bandwidth, default=0) >= 0, f"a link is over-committed: {bandwidth}"

    # ------------------------------------------------------------------ steps

    def _nodes_reason(self, job: Job, nodes: tuple[int, ...]) -> str | None:
        if len(nodes) != job.nodes and (self._machine.rows == 1 or not nodes or len(nodes) % job.nodes):
            return f"it requests {job.nodes} nodes, the allocation has {len(nodes)}"
        return self._free_reason(nodes)

    def _free_reason(self, nodes: tuple[int, ...]) -> str | None:
        holder = self._holder
        ascend = not nodes or (nodes[0] >= 0 and nodes[-1] < len(holder) and all(map(lt, nodes, nodes[1:])))
        if not ascend or any(map(holder.__getitem__, nodes)):
            return self._node_reason(nodes)
        if self._unavailable:
            gone = sorted(self._unavailable.intersection(nodes))
            if gone:
                return f"node {self._machine.nodes[gone[0]].name} is unavailable"
        return None

    def _node_reason(self, nodes: tuple[int, ...]) -> str | None:
        """The first thing that is wrong with nodes which do not ascend, are unknown, or held."""
        holder, last = self._holder, -1
        for node in nodes:
            if not last < node < len(holder):
                return self._index_reason(nodes)
            if holder[node] is not None:
                return f"node {self._machine.nodes[node].name} is held by job {shown(holder[node])}"
            last = node
        return None

    def _index_reason(self, nodes: tuple[int, ...]) -> str:
        unknown = [node for node in nodes if not 0 <= node < len(self._holder)]
        if unknown:
            return f"unknown node index {unknown[0]}: the machine has nodes 0 to {len(self._holder) - 1}"
        twice = [node for node in nodes if nodes.count(node) > 1]
        if twice:
            return f"node {self._machine.nodes[twice[0]].name} is listed twice"
        return "the allocation's nodes must ascend"

    def _storage_reason(self, job: Job, allocation: Allocation) -> str | None:
        bb_bytes, storages = allocation.bb_bytes, allocation.storages
        if not bb_bytes and not storages and not job.bb_bytes:
            return None
        what, per = ("stripe", "stripe") if job.stripes else ("node", "node with a burst buffer")
        if bb_bytes != job.bb_bytes:
            return f"it requests {_gb(job.bb_bytes)} of burst buffer per {what}, the allocation has {_gb(bb_bytes)}"
        wanted = job.requests if job.bb_bytes else 0
        if len(storages) != wanted:
            return f"it needs {wanted} storages (one per {per}), the allocation has {len(storages)}"
        if allocation.striped != (job.stripes > 0):
            return f"its burst buffer is one per {what}: the allocation must have striped={job.stripes > 0}"
        if job.stripes and len(set(storages)) < wanted:
            return f"its {wanted} stripes must lie on storages that all differ, got {sorted(storages)}"
        return self._away_reason(allocation) or self._space_reason(storages, bb_bytes)

    def _away_reason(self, allocation: Allocation) -> str | None:
        """Under ``rack``, why a request is not in its node's own rack; a buffer without nodes is not looked at."""
        if not self._racks or allocation.striped or not allocation.nodes:
            return None
        for node, storage in zip(allocation.nodes, allocation.storages, strict=False):
            if storage not in own_storages(self._machine, node):
                names = (
                    self._machine.storages[storage].name if 0 <= storage < len(self._free_bytes) else str(storage),
                    self._machine.nodes[node].name,
                )
                return "storage {} is not in the rack of node {}, which storage_order=rack demands".format(*names)
        return None

    def _buffer_reason(self, held: Held, allocation: Allocation) -> str | None:
        """Why a job that holds its burst buffer cannot be started on these storages."""
        size, storages = held.storage.bb_bytes, held.storage.storages
        if allocation.bb_bytes == size and sorted(allocation.storages) == sorted(storages):
            return None
        return (
            f"it holds {_gb(size)} on each of the storages {sorted(storages)} and must be started on just these, "
            f"the allocation has {_gb(allocation.bb_bytes)} on {sorted(allocation.storages)}"
        )

    def _space_reason(self, storages: tuple[int, ...], bb_bytes: int) -> str | None:
        requests = dict.fromkeys(storages, 0)
        for storage in storages:
            requests[storage] += 1
        for storage in requests:
            if not 0 <= storage < len(self._free_bytes):
                return f"unknown storage index {storage}: the machine has {len(self._free_bytes)} storage nodes"
            if storage in self._closed_storages:
                return f"storage {self._machine.storages[storage].name} is unavailable"
        for storage, number in requests.items():
            size, drained = number * bb_bytes, self._drained.get(storage, 0)
            left = max(0, self._free_bytes[storage] - drained)
            if size > left:
                name, gone = self._machine.storages[storage].name, f" ({_gb(drained)} are drained)" if drained else ""
                return f"storage {name} has {_gb(left)} left{gone}, the allocation takes {_gb(size)}"
        return None

    def _bandwidth_reason(self, job: Job, allocation: Allocation) -> str | None:
        io_rate = allocation.io_rate
        if not io_rate:
            return None
        if io_rate != job.io_rate:
            return f"its I/O rate is {_gb(job.io_rate)}/s per node, the allocation books {_gb(io_rate)}/s"
        return self._flow_reason(allocation)

    def _flow_reason(self, allocation: Allocation) -> str | None:
        if not allocation.io_rate or not self._innermost:
            return None
        for link, size in self._flow(allocation).items():
            if size > self._free_bandwidth[link]:
                name = self._machine.links[link].name
                return f"link {name} has {_gb(self._free_bandwidth[link])}/s left, the allocation takes {_gb(size)}/s"
        return None

    def _flow(self, allocation: Allocation) -> dict[int, int]:
        """Bytes per second that an allocation takes, per link; the last one is kept: it is checked, then taken."""
        if allocation is not self._flowing[0]:
            flow: dict[int, int] = {}
            for link, nodes in Counter(map(self._innermost.__getitem__, allocation.nodes)).items():
                while link >= 0:
                    flow[link] = flow.get(link, 0) + nodes * allocation.io_rate
                    link = self._parents[link]
            self._flowing = allocation, flow
        return self._flowing[1]

    def _take(self, job_id: str, allocation: Allocation, covering: Resource) -> None:
        if covering._value_ & _NODES:
            self._held_nodes += len(allocation.nodes)
            for node in allocation.nodes:
                self._holder[node] = job_id
        self._change(allocation, covering, 1)

    def _give(self, allocation: Allocation, covering: Resource) -> None:
        if covering._value_ & _NODES:
            self._held_nodes -= len(allocation.nodes)
            for node in allocation.nodes:
                self._holder[node] = None
        self._change(allocation, covering, -1)

    def _change(self, allocation: Allocation, covering: Resource, sign: int) -> None:
        if covering._value_ & _STORAGES:
            size = sign * allocation.bb_bytes
            for storage in allocation.storages:
                self._free_bytes[storage] -= size
        if allocation.io_rate and self._innermost and Resource.BANDWIDTH in covering:
            for link, flow in self._flow(allocation).items():
                self._free_bandwidth[link] -= sign * flow

    def _known(self, nodes: Iterable[int]) -> list[int]:
        known = list(nodes)
        for node in known:
            if not 0 <= node < len(self._holder):
                raise ValueError(f"unknown node index {node}: the machine has nodes 0 to {len(self._holder) - 1}")
        return known


def _without_storages(allocation: Allocation) -> Allocation:
    return Allocation(allocation.nodes, (), 0, allocation.io_rate)


def _gb(size: int) -> str:
    """A size in decimal gigabytes, exact enough that unequal sizes differ in a message."""
    return f"{size / 1e9:.10g} GB"
