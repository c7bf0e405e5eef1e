"""The book: the only record of the resources that each job holds, and until when; its first row is the present.

A job's resources (nodes, bytes on storage nodes, bandwidth) are booked until its expected end; a job that outlives it
is booked further, a little at a time. All kinds of resources share the job's interval unless the job has lives of its
own (:class:`spillway.schedulers.model.job.Lives`), was given its burst buffer before its nodes, or gave one kind back
before another: then each kind is a part with an interval of its own. Nodes by which a job was expanded are parts, too:
they are booked until they are expected back, which may be long before the job's end.

A job continues on a node that a machine event made unavailable (Batsim's rule). Its resources there are not booked
while the node is out, as nothing is free there anyway; they are booked again when the node is back.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections.abc import Collection, Mapping, Sequence
from functools import reduce

import msgspec
import numpy as np

from spillway.base.errors import shown
from spillway.schedulers.core.accounts import Accounts
from spillway.schedulers.core.allocation import only, together
from spillway.schedulers.core.feasible import in_gigabytes
from spillway.schedulers.core.holdings import OVERDUE_S, Held, Part, bare, left_of, parts_on, until
from spillway.schedulers.model.job import Allocation, Job, once_staged, replaced
from spillway.schedulers.model.machine import CountedPool, Machine
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.estimates import Estimator
from spillway.schedulers.policykit.history import FinishedJobs, Usage
from spillway.schedulers.policykit.view import Holding, Running
from spillway.schedulers.timeline import Resource, Timeline
from spillway.schedulers.timeline.lives import parts
from spillway.schedulers.timeline.placement import StorageOrder, links_above

SHORTEST_S = 1.0
"""Shortest booking of extra nodes (s)."""

NOTHING = Allocation(())


class Book:
    """The book of one conversation. Entries must have been checked before.

    Parameters
    ----------
    machine
        The machine.
    timeline
        Free resources over time; its first row is the present.
    estimator
        Corrects the expected ends of jobs that outlive them.

    Attributes
    ----------
    holder
        Id of the job that holds each node, or ``None``.
    running
        Running jobs by id.
    held
        Burst buffers of waiting jobs by id.
    kept
        Persistent buffers by name.
    nodes_out, storages_out
        Nodes and storage nodes that machine events made unavailable.
    drained
        Drained bytes of storage nodes, by index.
    own_racks
        Whether nodes may only use the storage of their own racks.
    accounts
        Usage of jobs until now, and jobs that have ended.
    """

    def __init__(self, machine: Machine, timeline: Timeline, estimator: Estimator) -> None:
        self.machine = machine
        self.timeline = timeline
        self.holder: list[str | None] = [None] * len(machine.nodes)
        self.running: dict[str, Running] = {}
        self.held: dict[str, Holding] = {}
        self.kept: dict[str, PersistentBuffer] = {}
        self.nodes_out: set[int] = set()
        self.storages_out: set[int] = set()
        self.drained: dict[int, int] = {}
        self.accounts = Accounts()
        self.own_racks = timeline.placement.storage_order is StorageOrder.RACK
        self._estimator = estimator
        self._now_s = timeline.now_s
        self._parts: dict[str, list[Part]] = {}
        self._lifted: dict[str, Part] = {}
        self._leaving: set[str] = set()
        self._ends: list[tuple[float, int, int, Part]] = []
        self._pushed = 0

    # ------------------------------------------------------------------ questions

    def finished(self) -> FinishedJobs:
        """Jobs that have ended, for a view."""
        return self.accounts.finished()

    def usage(self, queue: Sequence[Job], now_s: float) -> Mapping[str, Usage]:
        """Usage of each user's jobs until now, for a view; ``queue``: the waiting jobs."""
        return self.accounts.usage(self.running.values(), self.held, queue, now_s)

    def free_nodes(self) -> list[int]:
        """Nodes that no job holds and that are available, ascending."""
        out = self.nodes_out
        return [node for node, holder in enumerate(self.holder) if holder is None and node not in out]

    def left_bytes(self, storage: int) -> int:
        """Free bytes on a storage node now; negative while a drained one holds more than the rest of its capacity."""
        if storage in self.storages_out:
            return 0
        if storage in self.drained:
            capacity = self.machine.storages[storage].capacity_bytes
            return capacity - self.drained[storage] - self._bytes_on(storage)
        return self.timeline.free_bytes_now(storage)

    def left_storage(self) -> list[int]:
        """:meth:`left_bytes` of every storage node."""
        left = self.timeline.free_storage_now()
        for storage in self.drained:
            left[storage] = self.left_bytes(storage)
        return left

    def there(self, allocation: Allocation) -> Allocation:
        """The available part of an allocation; its storages need not correspond to its nodes one by one."""
        nodes = tuple(node for node in allocation.nodes if node not in self.nodes_out)
        storages = tuple(one for one in allocation.storages if one not in self.storages_out)
        return Allocation(nodes, storages, allocation.bb_bytes, allocation.io_rate, striped=allocation.striped)

    def widen(self, pools: tuple[CountedPool, ...]) -> None:
        """Append counted pools; ``pools`` has the present ones first, then the further ones."""
        self.machine = dataclasses.replace(self.machine, pools=pools)
        self.timeline.widen(pools)

    def parts_of(self, job_id: str) -> Held | None:
        """Resources that a job holds, kind by kind; ``None`` if it holds nothing."""
        found = self._parts.get(job_id)
        if found is None:
            lifted = self._lifted.get(job_id)
            return None if lifted is None else Held(NOTHING, lifted.allocation, NOTHING)
        if len(found) == 1 and found[0].covering is Resource.ALL:
            return Held(found[0].allocation, found[0].allocation, found[0].allocation)
        if all(part.covering is Resource.ALL for part in found):
            whole = reduce(together, [part.allocation for part in found] or [NOTHING])
            return Held(whole, whole, whole)
        counted = any(Resource.POOLS in part.covering for part in found)
        nodes = [bare(part.allocation, counted=counted) for part in found if Resource.NODES in part.covering]
        buffers = [part.allocation for part in found if Resource.BURST_BUFFERS in part.covering]
        links = [bare(part.allocation) for part in found if Resource.BANDWIDTH in part.covering]
        return Held(
            reduce(together, nodes or [NOTHING]),
            reduce(together, [one for one in buffers if one.storages] or [NOTHING]),
            reduce(together, links or [NOTHING]),
        )

    def extra_nodes(self, job_id: str) -> set[int]:
        """Nodes by which a job was expanded, or which it will leave before its end."""
        return {node for part in self._parts.get(job_id, ()) if part.extra for node in part.allocation.nodes}

    # ------------------------------------------------------------------ burst buffers without nodes

    def hold(self, job: Job, allocation: Allocation, now_s: float, until_s: float) -> None:
        """Give a waiting job its burst buffer, expected to be held until ``until_s``."""
        self._reserve(now_s, until_s, allocation, Resource.BURST_BUFFERS)
        extension_s = max(until_s - now_s, OVERDUE_S)
        self._enter([Part(job, Resource.BURST_BUFFERS, allocation, now_s, until_s, extension_s=extension_s)])
        self._refresh(job.id, now_s)

    def evict(self, job_id: str, now_s: float) -> Holding:
        """Take the burst buffer of a waiting job away; return its holding, which ends now."""
        self.advance(now_s, job_id)
        found = self._parts.pop(job_id)
        for part in found:
            self._release(part, part.allocation, part.covering, now_s)
        holding = until(self.held.pop(job_id), now_s)
        self.accounts.evicted(found[0].job, holding, now_s)
        return holding

    def keep(self, buffer: PersistentBuffer) -> None:
        """Create a persistent buffer: it is booked without end."""
        self.kept[buffer.name] = buffer
        self._reserve(buffer.since_s, math.inf, buffer.allocation, Resource.BURST_BUFFERS)

    def discard(self, name: str, now_s: float) -> PersistentBuffer:
        """Destroy a persistent buffer and return it."""
        self.advance(now_s)
        buffer = self.kept.pop(name)
        self._give_back(now_s, math.inf, buffer.allocation, Resource.BURST_BUFFERS)
        return buffer

    # ------------------------------------------------------------------ jobs

    def start(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Start a job, on its burst buffer if it holds one already."""
        end_s = now_s + self._estimator.estimate_s(job)
        holder, job_id = self.holder, job.id
        for node in allocation.nodes:
            holder[node] = job_id
        if job.lives is None and job_id not in self.held:
            self._reserve(now_s, end_s, allocation)
            self.running[job_id] = Running(job, now_s, end_s, allocation)
            part = Part(job, Resource.ALL, allocation, now_s, end_s)
            self._parts[job_id] = [part]
            self._watch(part)
            return
        if allocation.lives is not None:
            allocation = replaced(allocation, lives=None)  # each part is booked separately here
        early = self._parts.get(job_id, ())
        further = []
        for life in parts(once_staged(job.lives), now_s, end_s):
            until_s = max(life.end_s, now_s)  # a kind that ends before the nodes start is still held at their start
            covering, tail_s = life.covering, until_s - end_s if until_s < math.inf else 0.0
            if early and Resource.BURST_BUFFERS in covering:
                # Held before the start; from now on for these nodes, until the end that is expected now.
                early[0].allocation, early[0].tail_s = allocation, tail_s
                early[0].extension_s = max(tail_s, OVERDUE_S)
                self._move_end(early[0], until_s, now_s)
                covering &= ~Resource.BURST_BUFFERS
            if covering:
                self._reserve(now_s, until_s, allocation, covering)
                further.append(Part(job, covering, allocation, now_s, until_s, tail_s, max(tail_s, OVERDUE_S)))
        held = self.held.pop(job_id, None)
        if held is not None:
            self.accounts.staged(job_id, held, now_s)
        self.running[job_id] = Running(job, now_s, end_s, allocation)
        self._enter(further)
        if len(self._parts[job_id]) > 1:
            self._refresh(job_id, now_s)

    def end(self, job_id: str, now_s: float) -> Running:
        """Release all resources of a job that has ended; return the job with holdings until now."""
        self.advance(now_s, job_id)
        self._leaving.discard(job_id)
        running = self.running.pop(job_id)
        for part in self._parts.pop(job_id):
            if part.covering._value_ & _NODES:
                self._free_nodes(part.allocation.nodes)
            self._release(part, part.allocation, part.covering, now_s)
        self.timeline.changes += 1  # also if it ends exactly when expected
        self._estimator.observe(running.job, now_s - running.start_s)
        if running.apart:
            held = tuple(until(holding, now_s) for holding in running.apart)
            running = msgspec.structs.replace(running, apart=held)
        return running

    def lift(self, job_id: str, now_s: float) -> None:
        """Take a running job off its nodes; :meth:`place` puts it onto others. The book must have been advanced.

        Raises
        ------
        ValueError
            Its holdings have lives of their own: such a job cannot be moved.
        """
        if len(self._parts[job_id]) > 1:
            raise ValueError(f"job {shown(job_id)} cannot be moved: its holdings have lives of their own")
        (part,) = self._parts.pop(job_id)
        self._lifted[job_id] = part
        self._free_nodes(part.allocation.nodes)
        self._release(part, part.allocation, part.covering, now_s)

    def place(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Put a job that was lifted onto these nodes."""
        running = self.running[job.id]
        for node in allocation.nodes:
            self.holder[node] = job.id
        part = self._lifted.pop(job.id)
        self._reserve(now_s, part.end_s, allocation)
        part.allocation = allocation
        self._parts[job.id] = [part]
        self.running[job.id] = Running(job, running.start_s, running.end_s, allocation)

    def expand(self, job_id: str, gained: Allocation, now_s: float, until_s: float) -> Running:
        """Give a running job more resources, expected back by ``until_s``; return the changed job."""
        self.advance(now_s)
        self._add_extra(self.running[job_id].job, gained, now_s, until_s)
        for node in gained.nodes:
            self.holder[node] = job_id
        return self._refresh(job_id, now_s)

    def give_up(self, job_id: str, nodes: Collection[int], now_s: float, until_s: float) -> None:
        """Book nodes that a running job will leave by ``until_s`` only until then, like extra ones."""
        self.advance(now_s)
        before, self._parts[job_id] = self._parts[job_id], []
        for part in before:
            gone = only(part.allocation, nodes)
            whole = part.covering is Resource.ALL and not part.extra
            if not whole or not gone.nodes or not now_s < until_s < part.end_s:
                self._parts[job_id].append(part)
                continue
            self._release(part, gone, part.covering, now_s)
            self._enter(left_of(part, Resource.ALL, nodes))
            self._add_extra(part.job, gone, now_s, until_s)
        self._refresh(job_id, now_s)

    def give_back(
        self, job_id: str, now_s: float, nodes: Collection[int] | None = None, covering: Resource = Resource.ALL
    ) -> Running:
        """Release nodes of a running job, or resources that it was granted for them; return the changed job.

        Parameters
        ----------
        nodes
            Its nodes, extra ones or its own; ``None`` for all. A burst buffer and bandwidth are named by the nodes that
            they were granted for, also after these were given back.
        covering
            Kinds of resources given back: the nodes with all that belongs to them, or only some kinds.

        Raises
        ------
        ValueError
            The job holds nothing of these kinds for a node, or an extra node is not given back with all that was
            granted with it. Nothing is changed then.
        """
        self._check_given_back(job_id, nodes, covering)
        self.advance(now_s)
        past: list[Holding] = []
        before, self._parts[job_id] = self._parts[job_id], []
        for part in before:
            kinds = part.covering & covering
            gone = part.allocation if nodes is None else only(part.allocation, nodes)
            if not kinds or not (gone.nodes or gone.storages):
                self._parts[job_id].append(part)
                continue
            if Resource.NODES in kinds:
                self._free_nodes(gone.nodes)
            self._release(part, gone, kinds, now_s)
            if kinds is not Resource.ALL:
                past.append(Holding(kinds, gone, part.start_s, now_s))
            self._enter(left_of(part, kinds, nodes))
        return self._refresh(job_id, now_s, past)

    def expect(self, job_id: str, until_s: float, now_s: float, covering: Resource = Resource.ALL) -> Running:
        """Change the expected end of a running job's holdings of these kinds; return the changed job."""
        self.advance(now_s)
        before, self._parts[job_id] = self._parts[job_id], []
        for part in before:
            kinds = Resource(0) if part.extra else part.covering & covering
            if part.covering & ~kinds:
                self._enter([msgspec.structs.replace(part, covering=part.covering & ~kinds)])
            if kinds:
                moved = msgspec.structs.replace(part, covering=kinds)
                self._move_end(moved, max(until_s, now_s + OVERDUE_S), now_s)
                self._parts[job_id].append(moved)
        return self._refresh(job_id, now_s)

    def leave(self, job_id: str, until_s: float, now_s: float) -> None:
        """Shorten a running job's bookings to its kill at ``until_s``; later extensions are by ``OVERDUE_S`` each."""
        self.advance(now_s)
        self._leaving.add(job_id)
        until_s = max(until_s, now_s + OVERDUE_S)
        for part in self._parts[job_id]:
            if until_s < part.end_s:
                self._move_end(part, until_s, now_s)
        self._refresh(job_id, now_s)

    def vacate(self, timeline: Timeline, job_id: str, from_s: float, kinds: Resource = Resource.ALL) -> None:
        """Free these kinds of a running job's resources, from a time on, in a copy of the timeline."""
        for part in self._parts[job_id]:
            if from_s < part.end_s and part.covering & kinds:
                self._give_back(from_s, part.end_s, part.allocation, part.covering & kinds, timeline)

    # ------------------------------------------------------------------ time and outages

    def advance(self, now_s: float, ending: str = "") -> None:
        """Advance the timeline; extend bookings that jobs have outlived.

        Bookings of the job ``ending`` now are not extended.
        """
        if now_s != self._now_s:
            self.timeline.advance(now_s)
            self._now_s = now_s
        ends = self._ends
        while ends and ends[0][0] <= now_s:
            end_s, _, _, part = heapq.heappop(ends)
            job = part.job
            if job.id == ending or part.end_s != end_s or part not in self._parts.get(job.id, ()):
                continue
            self._extend(part, now_s)
            if not part.extra and (job.id in self.held or self.running[job.id].apart):
                self._refresh(job.id, now_s)

    def close(self, nodes: Collection[int], storages: Collection[int], now_s: float) -> None:
        """Make nodes and storage nodes unavailable from now on; jobs keep their resources there."""
        self.advance(now_s)
        self.timeline.close(nodes, storages)
        self.nodes_out.update(nodes)
        self.storages_out.update(storages)

    def open(self, nodes: Collection[int], storages: Collection[int], now_s: float) -> None:
        """Make nodes and storage nodes available again; resources that jobs hold there are booked again."""
        self.advance(now_s)
        back, filled = self.nodes_out.intersection(nodes), self.storages_out.intersection(storages)
        self.timeline.reopen(back, filled)
        for storage in filled.intersection(self.drained):
            self.timeline.drain(storage, self.drained[storage])
        self.nodes_out -= back
        self.storages_out -= filled
        for holding in self._booked():
            if holding.end_s > now_s:
                for part, kinds in parts_on(holding, back, filled):
                    self.timeline.reserve(now_s, holding.end_s, part, kinds)

    def drain(self, storage: int, drained: int, now_s: float) -> None:
        """Withhold ``drained`` bytes of a storage node in all from now on; jobs keep the bytes that they hold.

        Raises
        ------
        ValueError
            The bytes exceed its capacity or are negative; the text has the inequality.
        """
        node = self.machine.storages[storage]
        if not 0 <= drained <= node.capacity_bytes:
            raise ValueError(
                f"storage {node.name}: the drained bytes must be from 0 to {in_gigabytes(node.capacity_bytes)}, "
                f"got {in_gigabytes(drained)}"
            )
        self.advance(now_s)
        if drained:
            self.drained[storage] = drained
        else:
            self.drained.pop(storage, None)
        if storage not in self.storages_out:
            self.timeline.drain(storage, drained)

    # ------------------------------------------------------------------ invariants

    def check(self) -> None:
        """Assert that holders, parts, published jobs and the timeline agree with each other, kind by kind."""
        self.timeline.check()
        assert self.running.keys().isdisjoint(self.held), "a job runs and holds a burst buffer for later"
        assert self.running.keys() | self.held.keys() == self._parts.keys(), "a job holds something that is not booked"
        holder: list[str | None] = [None] * len(self.holder)
        for job_id, found in self._parts.items():
            for node in [node for part in found if Resource.NODES in part.covering for node in part.allocation.nodes]:
                assert holder[node] is None, f"node {node} is held by {holder[node]!r} and {job_id!r}"
                holder[node] = job_id
            self._check_job(job_id, found)
        assert holder == self.holder, "holders do not follow from the bookings"
        assert not self._lifted, "a job was taken off its nodes and not put onto others"
        if not self.timeline.holds_nodes_longer:
            for time_s in (self.timeline.now_s, math.inf):
                self._check_timeline(time_s)

    def _check_job(self, job_id: str, found: list[Part]) -> None:
        """Assert that the published allocation of a job is the one booked, and that all ends are watched."""
        held = self.parts_of(job_id)
        assert held is not None, f"{job_id!r} is booked and holds nothing"
        if job_id in self.running:
            assert self.running[job_id].allocation == held.as_one(), f"{job_id!r} is published with something else"
        for part in found:
            assert part.start_s <= part.end_s, f"{job_id!r} is booked backwards"
            assert any(entry[3] is part and entry[0] == part.end_s for entry in self._ends) or (
                part.end_s == math.inf
            ), f"the end of a booking for {job_id!r} is not watched"

    def _check_timeline(self, time_s: float) -> None:
        """Assert that the timeline equals the bookings at a time: nothing over-committed, nothing leaked."""
        machine, row = self.machine, self.timeline.free_at(time_s)
        free = set(range(len(machine.nodes))) - self.nodes_out
        storage = [storage.capacity_bytes for storage in machine.storages]
        links = [link.capacity_bytes_per_s for link in machine.links]
        pools = np.array([pool.count for pool in machine.pools], np.int64)
        for holding in self._booked():
            if not (holding.start_s <= time_s and (time_s < holding.end_s or holding.end_s == math.inf)):
                continue
            part, kinds = holding.allocation, holding.covering
            if Resource.NODES in kinds:
                assert self.nodes_out.union(free).issuperset(part.nodes), f"{part.nodes} are booked twice at {time_s} s"
                free.difference_update(part.nodes)
            for one in part.storages if Resource.BURST_BUFFERS in kinds else ():
                storage[one] -= part.bb_bytes
            for node in part.nodes if Resource.BANDWIDTH in kinds and part.io_rate else ():
                for link in links_above(machine, node):
                    links[link] -= part.io_rate
            if part.pools and Resource.POOLS in kinds:
                pools[: len(part.pools)] -= part.pools
        assert row.pools == pools.tolist(), f"at {time_s} s other amounts of pools are free"
        assert min(storage, default=0) >= 0, f"a storage node is over-committed: {storage}"
        for one, drained in self.drained.items():
            storage[one] = max(0, storage[one] - drained)
        storage = [0 if one in self.storages_out else free_bytes for one, free_bytes in enumerate(storage)]
        assert set(row.nodes) == free, f"at {time_s} s other nodes are free than {sorted(free)}"
        assert row.free_bytes == storage, f"at {time_s} s other bytes are free than {storage}"
        assert row.bandwidths == links, f"at {time_s} s other bandwidth is free than {links}"

    # ------------------------------------------------------------------ steps

    def _booked(self) -> list[Holding]:
        """All bookings: of jobs and of persistent buffers."""
        held = [part.as_holding() for found in self._parts.values() for part in found]
        return held + [
            Holding(Resource.BURST_BUFFERS, one.allocation, one.since_s, math.inf) for one in self.kept.values()
        ]

    def _bytes_on(self, storage: int) -> int:
        """Bytes held on a storage node now; may exceed the part of its capacity that is not drained."""
        return sum(
            holding.allocation.bb_bytes * holding.allocation.storages.count(storage)
            for holding in self._booked()
            if Resource.BURST_BUFFERS in holding.covering
        )

    def _check_given_back(self, job_id: str, nodes: Collection[int] | None, covering: Resource) -> None:
        found = self._parts.get(job_id)
        if found is None:
            raise ValueError(f"job {shown(job_id)} holds nothing that could be given back")
        extra = self.extra_nodes(job_id)
        if extra and covering is not Resource.ALL and (nodes is None or not extra.isdisjoint(nodes)):
            raise ValueError(f"job {shown(job_id)} was expanded by node {min(extra)}: it can only be given back whole")
        if nodes is not None:
            known = [part.allocation.nodes for part in found if part.covering & covering]
            unknown = set(nodes).difference(*known)
            if unknown:
                raise ValueError(f"job {shown(job_id)} holds nothing to give back for node {min(unknown)}")

    def _enter(self, further: Sequence[Part]) -> None:
        """Keep a job's further parts and watch their ends."""
        if further:
            self._parts.setdefault(further[0].job.id, []).extend(further)
        for part in further:
            self._watch(part)

    def _add_extra(self, job: Job, allocation: Allocation, now_s: float, until_s: float) -> None:
        """Book extra nodes until ``until_s``; whenever they are overdue, they are booked again for as long."""
        extension_s = max(until_s - now_s, SHORTEST_S)
        self._reserve(now_s, now_s + extension_s, allocation)
        self._enter([Part(job, Resource.ALL, allocation, now_s, now_s + extension_s, 0.0, extension_s, extra=True)])

    def _watch(self, part: Part) -> None:
        if part.end_s < math.inf:
            self._pushed += 1
            heapq.heappush(self._ends, (part.end_s, part.job.number, self._pushed, part))

    def _free_nodes(self, nodes: Collection[int]) -> None:
        holder = self.holder
        for node in nodes:
            holder[node] = None

    def _reserve(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = Resource.ALL) -> None:
        """Book the available part of an allocation in the timeline."""
        if not (self.nodes_out or self.storages_out):
            self.timeline.reserve(start_s, end_s, allocation, covering)
            return
        for part, kinds in self._available(allocation, covering):
            self.timeline.reserve(start_s, end_s, part, kinds)

    def _release(self, part: Part, allocation: Allocation, covering: Resource, now_s: float) -> None:
        """Release some of a part from now on, also exactly at its end: published rules hold nodes a step longer."""
        if part.end_s >= now_s:
            self._give_back(now_s, part.end_s, allocation, covering)

    def _give_back(
        self, start_s: float, end_s: float, allocation: Allocation, covering: Resource, timeline: Timeline | None = None
    ) -> None:
        """Release the available part of an allocation in the timeline, or in a copy of it."""
        timeline = self.timeline if timeline is None else timeline
        if not (self.nodes_out or self.storages_out):
            timeline.release(start_s, end_s, allocation, covering)
            return
        for part, kinds in self._available(allocation, covering):
            timeline.release(start_s, end_s, part, kinds)

    def _available(self, allocation: Allocation, covering: Resource) -> list[tuple[Allocation, Resource]]:
        """The available parts of an allocation, with the kinds that apply to each."""
        if self.nodes_out.isdisjoint(allocation.nodes) and self.storages_out.isdisjoint(allocation.storages):
            return [(allocation, covering)]
        there = self.there(allocation)
        found = (
            (Allocation(there.nodes), Resource.NODES),
            (Allocation((), pools=allocation.pools), Resource.POOLS),
            (Allocation((), there.storages, allocation.bb_bytes), Resource.BURST_BUFFERS),
            (Allocation(allocation.nodes, io_rate=allocation.io_rate), Resource.BANDWIDTH),
        )
        return [(part, kind) for part, kind in found if kind in covering]

    def _extend(self, part: Part, now_s: float) -> None:
        """Extend a booking that a job has outlived: nodes by the estimator, all else by ``extension_s``."""
        until_s = now_s + part.extension_s
        running = self.running.get(part.job.id)
        by_nodes = running is not None and Resource.NODES in part.covering and not part.extra
        if part.job.id in self._leaving:
            until_s, by_nodes = now_s + OVERDUE_S, False
        if running is not None and by_nodes:
            elapsed_s = now_s - running.start_s
            until_s = max(running.start_s + self._estimator.correct_s(running.job, elapsed_s), now_s + OVERDUE_S)
        self._reserve(now_s, until_s, part.allocation, part.covering)
        part.end_s = until_s
        self._watch(part)
        if by_nodes:
            for other in self._parts[part.job.id]:
                if other is not part and not other.extra and until_s + other.tail_s > max(other.end_s, now_s):
                    self._move_end(other, until_s + other.tail_s, now_s)  # its tail begins later, too

    def _move_end(self, part: Part, end_s: float, now_s: float) -> None:
        """Extend or shorten the booking of a part, and watch its new end."""
        if end_s > part.end_s:
            self._reserve(max(part.end_s, now_s), end_s, part.allocation, part.covering)
        elif end_s < part.end_s:
            self._give_back(max(end_s, now_s), part.end_s, part.allocation, part.covering)
        part.end_s = end_s
        self._watch(part)

    def _refresh(self, job_id: str, now_s: float, past: Sequence[Holding] = ()) -> Running:
        """Update a job's entry in :attr:`running` (or :attr:`held`) to its present resources, and return it."""
        found = self._parts[job_id]
        if job_id not in self.running:
            self.held[job_id] = found[0].as_holding()
            return Running(found[0].job, found[0].start_s, found[0].end_s, found[0].allocation)
        running = self.running[job_id]
        self.accounts.changes(running, now_s)
        held = self.parts_of(job_id)
        assert held is not None, "a running job holds something"
        own = [part.as_holding() for part in found if not part.extra]
        apart = (*own, *(part.as_holding() for part in found if part.extra))
        whole = len(apart) == 1 and apart[0].covering is Resource.ALL
        changed = Running(
            running.job,
            running.start_s,
            running.end_s,
            held.as_one(),
            () if whole else apart,
            (*running.past, *past),
        )
        self.running[job_id] = changed
        return changed


_NODES = Resource.NODES._value_
"""As an integer: a test whether one flag contains another takes a tenth of the time of :meth:`Book.end`."""
