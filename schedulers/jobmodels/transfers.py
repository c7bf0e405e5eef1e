"""Operations in the simulator's terms: the profile of an operation, and the hosts of its sub-jobs. Pure functions.

Transfers of a burst buffer with a request per node are those of the thesis: one sub-job per node. A striped buffer
(:attr:`spillway.schedulers.model.job.Job.stripes`) belongs to the job as a whole: between the file system and the
buffer there is one sub-job per stripe; between the nodes and the buffer there is one in all, in which each node
exchanges an equal part of its bytes with each stripe.

References
----------
Kopanski, master's thesis 2020, section 2.4.2 (transfers between storage nodes and the file system, one per node).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from spillway.protocol.messages import JsonObject
from spillway.schedulers.jobmodels.base import Place, Transfer
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.machine import Machine


class Task(NamedTuple):
    """One sub-job: Batsim ids of its hosts (ascending), and the host of each storage label of its profile."""

    hosts: tuple[int, ...]
    storage: dict[str, int] | None = None


class Lowered(NamedTuple):
    """A profile, and the sub-jobs that run it side by side."""

    profile: JsonObject
    tasks: Sequence[Task]


def lower(transfer: Transfer, nodes: Sequence[int], allocation: Allocation, machine: Machine) -> Lowered:
    """Return the sub-jobs of a transfer for these nodes of an allocation (indices, ascending)."""
    return _LOWER[transfer.source, transfer.destination](transfer, nodes, allocation, machine)


def volume(transfer: Transfer, nodes: int, allocation: Allocation) -> float:
    """Bytes that a transfer moves for ``nodes`` nodes; for a striped buffer, or without nodes, on all storages."""
    whole = is_striped(transfer, allocation) or not nodes
    return float(transfer.bytes_per_node) * (len(allocation.storages) if whole else nodes)


def is_striped(transfer: Transfer, allocation: Allocation) -> bool:
    """Whether a transfer moves a buffer that belongs to the job as a whole, and so cannot be divided by nodes."""
    return allocation.striped and Place.BURST_BUFFER in (transfer.source, transfer.destination)


def _staged(transfer: Transfer, nodes: Sequence[int], allocation: Allocation, machine: Machine) -> Lowered:
    """Move bytes between the file system and burst buffers: one transfer per node, or per stripe."""
    pfs = _pfs(machine)
    inwards = transfer.source is Place.PFS
    tasks: dict[int, Task] = {}  # the same one for each node that has its bytes on a storage node
    storages = _storages(nodes, allocation, machine)
    for storage in set(storages):
        hosts = (storage, pfs) if storage < pfs else (pfs, storage)
        ends = {"source": pfs, "destination": storage} if inwards else {"source": storage, "destination": pfs}
        tasks[storage] = Task(hosts, ends)
    size = transfer.bytes_per_node
    profile = {"type": "data_staging", "nb_bytes": size, "from": "source", "to": "destination", "ret": 0}
    return Lowered(profile, [tasks[storage] for storage in storages])


def _checkpoint(transfer: Transfer, nodes: Sequence[int], allocation: Allocation, machine: Machine) -> Lowered:
    """Move bytes between each node and its burst buffer, or all nodes and the stripes."""
    if allocation.striped:
        return _to_stripes(transfer, nodes, allocation, machine)
    storages = _storages(nodes, allocation, machine)
    tasks = [
        Task((machine.nodes[node].resource_id,), {"burstbuffer": storage})
        for node, storage in zip(nodes, storages, strict=True)
    ]
    return Lowered(_node_io(transfer, "burstbuffer"), tasks)


def _to_stripes(transfer: Transfer, nodes: Sequence[int], allocation: Allocation, machine: Machine) -> Lowered:
    """Move bytes between all nodes and all stripes, in equal parts: one sub-job, with a flow for each pair."""
    ends = {machine.nodes[node].resource_id for node in nodes}
    stripes = set(_storages(nodes, allocation, machine))
    hosts = sorted(ends | stripes)
    size = float(transfer.bytes_per_node) / len(ends)  # bytes of one node on one stripe
    sources, sinks = (ends, stripes) if transfer.source is Place.NODES else (stripes, ends)
    com = [size if one in sources and other in sinks else 0.0 for one in hosts for other in hosts]
    profile = {"type": "parallel", "cpu": [0.0] * len(hosts), "com": com, "ret": 0}
    return Lowered(profile, [Task(tuple(hosts))])


def _collective(transfer: Transfer, nodes: Sequence[int], allocation: Allocation, machine: Machine) -> Lowered:
    """Move bytes between all nodes together and the file system."""
    return Lowered(_node_io(transfer, "pfs"), [Task(machine.alloc_ids(tuple(nodes)), {"pfs": _pfs(machine)})])


def _node_io(transfer: Transfer, storage: str) -> JsonObject:
    writes = transfer.source is Place.NODES
    size = transfer.bytes_per_node
    return {
        "type": "parallel_homogeneous_pfs",
        "bytes_to_read": 0 if writes else size,
        "bytes_to_write": size if writes else 0,
        "storage": storage,
        "ret": 0,
    }


def _storages(nodes: Sequence[int], allocation: Allocation, machine: Machine) -> list[int]:
    """Batsim ids of the storage nodes that hold the burst buffers of some of an allocation's nodes.

    All of them while it has no nodes yet, and where the buffer is striped.
    """
    if allocation.striped or not allocation.nodes:
        return [machine.storages[storage].resource_id for storage in allocation.storages]
    place = dict(zip(allocation.nodes, allocation.storages, strict=True))
    return [machine.storages[place[node]].resource_id for node in nodes]


def _pfs(machine: Machine) -> int:
    assert machine.pfs_id is not None, "refused before: a model that needs a file system on a platform without one"
    return machine.pfs_id


_LOWER: Mapping[tuple[Place, Place], Callable[[Transfer, Sequence[int], Allocation, Machine], Lowered]] = {
    (Place.PFS, Place.BURST_BUFFER): _staged,
    (Place.BURST_BUFFER, Place.PFS): _staged,
    (Place.NODES, Place.BURST_BUFFER): _checkpoint,
    (Place.BURST_BUFFER, Place.NODES): _checkpoint,
    (Place.NODES, Place.PFS): _collective,
    (Place.PFS, Place.NODES): _collective,
}
