"""The guard: checks each decision of a policy once, against the book, and refuses it with the reason.

Batsim answers an illegal request by aborting. The guard refuses it first, naming the job and the reason, so that a
faulty policy is found where it errs. It has no state of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from operator import lt

from spillway.base.errors import DecisionRefused, shown
from spillway.schedulers.core import layers
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.feasible import in_gigabytes
from spillway.schedulers.core.holdings import Held
from spillway.schedulers.model.decisions import Create, Destroy, Hold
from spillway.schedulers.model.job import Allocation, Job, sized_as
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import Creation, Pool, as_request
from spillway.schedulers.timeline.placement import own_storages

_SHORTEST_CALL_S = 1e-6
"""Batsim's clock may be this far past the rounded ``now`` that it prints: an earlier call may be in its past."""


def check_start(book: Book, waiting: bool, job: Job, allocation: Allocation, fewest: int | None = None) -> None:
    """Refuse to start a job that does not wait, or on an allocation that is not free, too small or too large.

    Parameters
    ----------
    fewest
        Fewest nodes that it may start on; ``None``: all that it requests.
    """
    if not waiting:
        raise DecisionRefused(job.id, "it is not waiting (unknown, already started, or rejected)")
    given = len(allocation.nodes)
    smaller = fewest is not None and fewest <= given < job.nodes
    reason = why_not(book, sized_as(job, given) if smaller else job, allocation)
    if reason is not None:
        raise DecisionRefused(job.id, reason)
    if book.machine.rows > 1:
        _check_rows(book.machine, job, allocation)
    if job.lives is not None and job.lives.storage_lead_s and job.bb_bytes and book.parts_of(job.id) is None:
        raise DecisionRefused(
            job.id,
            f"its burst buffer must be held {job.lives.storage_lead_s} s before its nodes: yield a Hold first, then "
            "start it on that buffer",
        )


def check_hold(book: Book, waiting: bool, decision: Hold, now_s: float) -> None:
    """Refuse to give a job a burst buffer unless the job waits and requests just that, and it is free."""
    job = decision.job
    if not waiting:
        raise DecisionRefused(
            job.id, "it is not waiting (unknown, already started, or rejected): no buffer can be held"
        )
    reason = _why_no_buffer(book, job, decision.allocation)
    if reason is not None:
        raise DecisionRefused(job.id, reason)
    if not decision.until_s > now_s:
        raise DecisionRefused(
            job.id, f"a burst buffer must be held beyond now ({now_s} s), not until {decision.until_s} s"
        )


def check_create(book: Book, pool: Pool, waiting: bool, decision: Create) -> Creation:
    """Refuse to create a persistent buffer unless a waiting job requests just that, and it is free."""
    job = decision.job
    creation = pool.open_creation(job.id, decision.name) if waiting else None
    if creation is None:
        raise DecisionRefused(job.id, f"it waits for no creation of a persistent buffer {shown(decision.name)}")
    reason = _why_not_kept(book, as_request(job, creation), creation.name, decision.allocation)
    if reason is not None:
        raise DecisionRefused(job.id, f"persistent buffer {creation.name}: {reason}")
    return creation


def check_destroy(pool: Pool, decision: Destroy, waiting: bool, running: Iterable[str]) -> None:
    """Refuse to destroy a persistent buffer unless a waiting job requests that, and no running job uses it."""
    job_id, name = decision.job.id, decision.name
    requests = pool.requests.get(job_id) if waiting else None
    if requests is None or name not in requests.destroys_first or (job_id, name) in pool.done:
        raise DecisionRefused(job_id, f"it waits for no end of a persistent buffer {shown(name)}")
    if name not in pool.buffers:
        raise DecisionRefused(job_id, f"the persistent buffer {shown(name)} does not exist")
    users = [one for one in running if one in pool.requests and name in pool.requests[one].uses]
    if users:
        raise DecisionRefused(job_id, f"the persistent buffer {shown(name)} is used by job {shown(users[0])}")


def _check_rows(machine: Machine, job: Job, allocation: Allocation) -> None:
    """Refuse an allocation on a stacked machine unless it has the same columns, one per task, in each of its rows."""
    rows: dict[int, list[int]] = {}
    for node in allocation.nodes:
        rows.setdefault(node // machine.width, []).append(node % machine.width)
    if any(len(columns) != job.nodes for columns in rows.values()):
        raise DecisionRefused(job.id, f"all its {job.nodes} tasks must be in one row (and in each row of a replica)")
    if any(columns != rows[min(rows)] for columns in rows.values()):
        raise DecisionRefused(job.id, "its replicas must have the same columns as its home row")


def check_wake(time_s: float, now_s: float) -> None:
    """Refuse a wake-up that Batsim would find in its past."""
    if not now_s + _SHORTEST_CALL_S <= time_s < float("inf"):
        raise DecisionRefused(
            "", f"wake-up at {time_s} s must be a finite time at least {_SHORTEST_CALL_S} s after now ({now_s} s)"
        )


def why_not(book: Book, job: Job, allocation: Allocation) -> str | None:
    """Return the reason why a job cannot be given an allocation now; ``None`` when it can.

    The allocation must have the job's number of nodes and its burst buffer. Its I/O rate may be the job's or 0, as a
    scheduler that ignores bandwidth books 0. A job that holds its burst buffer already must be started on it.
    """
    held = book.parts_of(job.id)
    if held is not None and held.nodes.nodes:
        return f"the job already holds {len(held.nodes.nodes)} nodes"
    machine, nodes = book.machine, allocation.nodes
    if len(nodes) != job.nodes and (machine.rows == 1 or not nodes or len(nodes) % job.nodes):
        return f"it requests {job.nodes} nodes, the allocation has {len(nodes)}"
    reason = _nodes_reason(book, nodes)
    if reason is None and job.partitions:
        reason = _partition_reason(machine, job, nodes)
    if reason is None and (held is not None or allocation.storages or allocation.bb_bytes or job.bb_bytes):
        reason = _storage_reason(book, job, allocation) if held is None else _buffer_reason(held, allocation)
    if reason is None and allocation.io_rate:
        if allocation.io_rate != job.io_rate:
            booked = in_gigabytes(allocation.io_rate)
            return f"its I/O rate is {in_gigabytes(job.io_rate)}/s per node, the allocation books {booked}/s"
        reason = _flow_reason(book, allocation)
    if reason is None and (allocation.pools or job.pools):
        reason = _pools_reason(book, job, allocation)
    return reason


def _why_no_buffer(book: Book, job: Job, allocation: Allocation) -> str | None:
    """Return the reason why a job cannot be given these storages before its nodes; ``None`` when it can."""
    if book.parts_of(job.id) is not None:
        return "the job already holds its burst buffer, or runs"
    if not job.bb_bytes:
        return "it requests no burst buffer that could be held"
    if allocation.nodes or allocation.io_rate:
        return f"a buffer that is held before the nodes has neither nodes nor bandwidth, got {allocation}"
    return _storage_reason(book, job, allocation)


def _why_not_kept(book: Book, request: Job, name: str, allocation: Allocation) -> str | None:
    """Return the reason why a persistent buffer of this name cannot be created there; ``None`` when it can."""
    if name in book.kept:
        return f"the persistent buffer {shown(name)} exists already"
    if allocation.nodes or allocation.io_rate:
        return f"a persistent buffer has neither nodes nor bandwidth, got {allocation}"
    return _storage_reason(book, request, allocation)


def _nodes_reason(book: Book, nodes: tuple[int, ...]) -> str | None:
    """The first fault of the nodes: they do not ascend, are unknown, held or out."""
    holder = book.holder
    ascend = not nodes or (nodes[0] >= 0 and nodes[-1] < len(holder) and all(map(lt, nodes, nodes[1:])))
    if ascend and not any(map(holder.__getitem__, nodes)):
        gone = book.nodes_out.intersection(nodes) if book.nodes_out else ()
        return f"node {book.machine.nodes[min(gone)].name} is unavailable" if gone else None
    last = -1
    for node in nodes:
        if not last < node < len(holder):
            break
        if holder[node] is not None:
            return f"node {book.machine.nodes[node].name} is held by job {shown(holder[node])}"
        last = node
    unknown = [node for node in nodes if not 0 <= node < len(holder)]
    if unknown:
        return f"unknown node index {unknown[0]}: the machine has nodes 0 to {len(holder) - 1}"
    twice = [node for node in nodes if nodes.count(node) > 1]
    if twice:
        return f"node {book.machine.nodes[twice[0]].name} is listed twice"
    return "the allocation's nodes must ascend"


def _partition_reason(machine: Machine, job: Job, nodes: tuple[int, ...]) -> str | None:
    """The reason why the nodes do not all belong to one of a job's partitions; ``None`` if they do."""
    sets = [machine.partitions[place] for place in job.partitions]
    if any(one.nodes.issuperset(nodes) for one in sets):
        return None
    outside = next((node for node in nodes if not any(node in one.nodes for one in sets)), None)
    names = ", ".join(one.name for one in sets)
    if outside is None:
        return f"its nodes must all belong to one of its partitions ({names})"
    return f"node {machine.nodes[outside].name} belongs to no partition of the job ({names})"


def _storage_reason(book: Book, job: Job, allocation: Allocation) -> str | None:
    bb_bytes, storages = allocation.bb_bytes, allocation.storages
    what, per = ("stripe", "stripe") if job.stripes else ("node", "node with a burst buffer")
    if bb_bytes != job.bb_bytes:
        wanted_size, size = in_gigabytes(job.bb_bytes), in_gigabytes(bb_bytes)
        return f"it requests {wanted_size} of burst buffer per {what}, the allocation has {size}"
    wanted = job.requests if job.bb_bytes else 0
    if len(storages) != wanted:
        return f"it needs {wanted} storages (one per {per}), the allocation has {len(storages)}"
    if allocation.striped != (job.stripes > 0):
        return f"its burst buffer is one per {what}: the allocation must have striped={job.stripes > 0}"
    if job.stripes and len(set(storages)) < wanted:
        return f"its {wanted} stripes must lie on storages that all differ, got {sorted(storages)}"
    if book.own_racks:
        reason = _away_reason(book.machine, allocation)
        if reason is not None:
            return reason
    return _space_reason(book, storages, bb_bytes)


def _away_reason(machine: Machine, allocation: Allocation) -> str | None:
    """Under ``rack``, the first storage outside its node's own rack; a buffer without nodes is not checked."""
    if allocation.striped or not allocation.nodes:
        return None
    for node, storage in zip(allocation.nodes, allocation.storages, strict=False):
        if storage not in own_storages(machine, node):
            there = machine.storages[storage].name if 0 <= storage < len(machine.storages) else str(storage)
            name = machine.nodes[node].name
            return f"storage {there} is not in the rack of node {name}, which storage_order=rack demands"
    return None


def _buffer_reason(held: Held, allocation: Allocation) -> str | None:
    """The reason why a job that holds its burst buffer cannot be started on these storages."""
    size, storages = held.storage.bb_bytes, held.storage.storages
    if allocation.bb_bytes == size and sorted(allocation.storages) == sorted(storages):
        return None
    return (
        f"it holds {in_gigabytes(size)} on each of the storages {sorted(storages)} and must be started on just these, "
        f"the allocation has {in_gigabytes(allocation.bb_bytes)} on {sorted(allocation.storages)}"
    )


def _space_reason(book: Book, storages: tuple[int, ...], bb_bytes: int) -> str | None:
    requests, count = Counter(storages) if len(storages) > 1 else dict.fromkeys(storages, 1), len(book.machine.storages)
    for storage in requests:
        if not 0 <= storage < count:
            return f"unknown storage index {storage}: the machine has {count} storage nodes"
        if storage in book.storages_out:
            return f"storage {book.machine.storages[storage].name} is unavailable"
    free_bytes_now = book.timeline.free_bytes_now
    for storage, number in requests.items():
        size, left = number * bb_bytes, free_bytes_now(storage)
        if size > left:
            name, drained = book.machine.storages[storage].name, book.drained.get(storage, 0)
            gone = f" ({in_gigabytes(drained)} are drained)" if drained else ""
            return f"storage {name} has {in_gigabytes(left)} left{gone}, the allocation takes {in_gigabytes(size)}"
    return None


def _pools_reason(book: Book, job: Job, allocation: Allocation) -> str | None:
    """The first pool of which an allocation has another amount than the job needs there, or more than is free."""
    if allocation.pools != job.pools or any(pool.layer for pool in book.machine.pools):
        wrong = layers.fault(book.machine, job, allocation.nodes, allocation.pools)
        if wrong is not None:
            return wrong
    for pool, free, amount in zip(book.machine.pools, book.timeline.free_pools_now(), allocation.pools, strict=False):
        if amount > free:
            return f"{pool.name}: {free} left of {pool.count}, the allocation takes {amount}"
    return None


def _flow_reason(book: Book, allocation: Allocation) -> str | None:
    """The first link, from the nodes outwards, without enough free bandwidth."""
    machine = book.machine
    if not machine.links:
        return None
    flow: Counter[int] = Counter()
    for innermost, nodes in Counter(machine.node_link[list(allocation.nodes)].tolist()).items():
        link = innermost
        while link >= 0:
            flow[link] += nodes
            link = machine.links[link].parent
    for link, nodes in flow.items():
        left, size = book.timeline.free_rate_now(link), nodes * allocation.io_rate
        if size > left:
            name = machine.links[link].name
            return f"link {name} has {in_gigabytes(left)}/s left, the allocation takes {in_gigabytes(size)}/s"
    return None
