"""What runs, on what, until when: running jobs, and cluster, timeline and extra nodes, which agree with them.

What a job holds (nodes, bytes on storage nodes, bandwidth) is booked until its expected end; what outlives that is
booked on, a little at a time. All share the job's interval unless the job has lives of its own
(:class:`spillway.schedulers.model.job.Lives`), was given its burst buffer before its nodes, or gave one back before
the other: then each kind is booked over its own interval. Nodes that a job was expanded by are booked by themselves
(:mod:`spillway.schedulers.core.extra_nodes`).
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from spillway.base.errors import shown
from spillway.schedulers.core.accounts import Accounts
from spillway.schedulers.core.allocation import only, without
from spillway.schedulers.core.availability import Availability
from spillway.schedulers.core.cluster import Cluster
from spillway.schedulers.core.extra_nodes import ExtraNodes
from spillway.schedulers.model.job import Allocation, Job, once_staged
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.estimates import Estimator
from spillway.schedulers.policykit.history import FinishedJobs, Usage
from spillway.schedulers.policykit.view import Holding, Running
from spillway.schedulers.timeline import Resource, Timeline
from spillway.schedulers.timeline.lives import parts
from spillway.schedulers.timeline.placement import links_above

OVERDUE_S = 1e-3
"""How long a job that has outlived its estimate is expected to go on (s). Batsim reports a walltime kill one network
latency after it; until then the nodes are not free."""


@dataclass(slots=True, eq=False)
class _Booking:
    """Kinds of resources that a job holds over one interval.

    ``tail_s`` is how much later than the nodes they are expected back; ``extension_s`` how much longer they are booked
    each time that they outlive that.
    """

    job: Job
    covering: Resource
    allocation: Allocation
    start_s: float
    end_s: float
    tail_s: float = 0.0
    extension_s: float = OVERDUE_S

    def as_holding(self) -> Holding:
        return Holding(self.covering, self.allocation, self.start_s, self.end_s)


class Ledger:
    """The ledger of one conversation. Everything must have been checked before it is entered.

    Parameters
    ----------
    machine
        What there is.
    timeline
        When it is free.
    estimator
        Corrects the expected ends of jobs that outlive them.

    Attributes
    ----------
    cluster, timeline, extra
        What is allocated now, what is booked, nodes that jobs were expanded by.
    running
        Running jobs by id.
    held
        Burst buffers of waiting jobs by id.
    kept
        Persistent buffers by name.
    accounts
        What jobs have held until now, and which have ended.
    """

    def __init__(self, machine: Machine, timeline: Timeline, estimator: Estimator) -> None:
        self.cluster = Cluster(machine, timeline.placement)
        self.timeline = timeline
        self.running: dict[str, Running] = {}
        self.held: dict[str, Holding] = {}
        self.kept: dict[str, PersistentBuffer] = {}
        self.accounts = Accounts()
        self._estimator = estimator
        self._availability = Availability(timeline)
        self.extra = ExtraNodes(self._availability)
        self._bookings: dict[str, list[_Booking]] = {}
        self._ends: list[tuple[float, int, int, _Booking]] = []
        self._pushed = 0

    def jobs(self) -> Sequence[Running]:
        """Running jobs in order of their starts."""
        return _Lazy(self.running)

    def finished(self) -> FinishedJobs:
        """Jobs that have ended, for a view."""
        return self.accounts.finished()

    def usage(self, queue: Sequence[Job], now_s: float) -> Mapping[str, Usage]:
        """What each user's jobs have held until now, for a view; ``queue``: the waiting jobs."""
        return self.accounts.usage(self.running.values(), self.held, queue, now_s)

    def hold(self, job: Job, allocation: Allocation, now_s: float, until_s: float) -> None:
        """A waiting job is given its burst buffer, expected to be held until ``until_s``."""
        self.cluster.hold(job, allocation)
        self._availability.reserve(now_s, until_s, allocation, Resource.BURST_BUFFERS)
        extension_s = max(until_s - now_s, OVERDUE_S)
        self._book([_Booking(job, Resource.BURST_BUFFERS, allocation, now_s, until_s, extension_s=extension_s)])
        self._refresh(job.id, now_s)

    def evict(self, job_id: str, now_s: float) -> Holding:
        """A waiting job loses its burst buffer; return what it was."""
        self.cluster.free(job_id)
        self.advance(now_s, job_id)
        bookings = self._bookings.pop(job_id)
        for booking in bookings:
            self._release(booking, booking.allocation, booking.covering, now_s)
        holding = _until(self.held.pop(job_id), now_s)
        self.accounts.evicted(bookings[0].job, holding, now_s)
        return holding

    def keep(self, buffer: PersistentBuffer) -> None:
        """A persistent buffer is created: booked without end."""
        self.cluster.keep(buffer.name, buffer.allocation)
        self.kept[buffer.name] = buffer
        self._availability.reserve(buffer.since_s, math.inf, buffer.allocation, Resource.BURST_BUFFERS)

    def discard(self, name: str, now_s: float) -> PersistentBuffer:
        """A persistent buffer is destroyed; return what it was."""
        self.cluster.discard(name)
        self.advance(now_s)
        buffer = self.kept.pop(name)
        self._availability.release(now_s, math.inf, buffer.allocation, Resource.BURST_BUFFERS)
        return buffer

    def start(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """A job starts, on the burst buffer that it holds if it holds one."""
        end_s = now_s + self._estimator.estimate_s(job)
        if job.lives is None and job.id not in self.held:
            self.cluster.enter(job.id, allocation)
            self._availability.reserve(now_s, end_s, allocation)
            self.running[job.id] = Running(job, now_s, end_s, allocation)
            booking = _Booking(job, Resource.ALL, allocation, now_s, end_s)
            self._bookings[job.id] = [booking]
            self._watch(booking)
            return
        if allocation.lives is not None:
            allocation = msgspec.structs.replace(allocation, lives=None)  # each part is booked by itself here
        self.cluster.enter(job.id, allocation)
        early = self._bookings.get(job.id, ())
        bookings = []
        for part in parts(once_staged(job.lives), now_s, end_s):
            until_s = max(part.end_s, now_s)  # what is back before the nodes is held at their start all the same
            covering, tail_s = part.covering, until_s - end_s if until_s < math.inf else 0.0
            if early and Resource.BURST_BUFFERS in covering:
                # Held since before; from now on for these nodes, and until the end that is expected now.
                early[0].allocation, early[0].tail_s = allocation, tail_s
                early[0].extension_s = max(tail_s, OVERDUE_S)
                self._move_end(early[0], until_s, now_s)
                covering &= ~Resource.BURST_BUFFERS
            if covering:
                self._availability.reserve(now_s, until_s, allocation, covering)
                extension_s = max(tail_s, OVERDUE_S)
                bookings.append(_Booking(job, covering, allocation, now_s, until_s, tail_s, extension_s))
        held = self.held.pop(job.id, None)
        if held is not None:
            self.accounts.staged(job.id, held, now_s)
        self.running[job.id] = Running(job, now_s, end_s, allocation)
        self._book(bookings)
        if len(self._bookings[job.id]) > 1:
            self._refresh(job.id, now_s)

    def end(self, job_id: str, now_s: float) -> Running:
        """A running job is through and has given everything back; return what it was, held until now."""
        running = self.running.pop(job_id)
        self.cluster.free(job_id)
        self.advance(now_s, job_id)
        for booking in self._bookings.pop(job_id):
            self._release(booking, booking.allocation, booking.covering, now_s)
        self.timeline.changes += 1  # also where it ends just when that was expected
        self.extra.end(job_id, now_s)
        self._estimator.observe(running.job, now_s - running.start_s)
        if running.apart:
            held = tuple(_until(holding, now_s) for holding in running.apart)
            running = msgspec.structs.replace(running, apart=held)
        return running

    def lift(self, job_id: str, now_s: float) -> None:
        """Take a running job off its nodes; :meth:`place` puts it onto others. The ledger must have been advanced.

        Raises
        ------
        ValueError
            When its holdings have lives of their own: such a job cannot be moved.
        """
        if len(self._bookings[job_id]) > 1:
            raise ValueError(f"job {shown(job_id)} cannot be moved: its holdings have lives of their own")
        (booking,) = self._bookings[job_id]
        self.cluster.lift(job_id)
        self._release(booking, booking.allocation, booking.covering, now_s)

    def place(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Put a job that was lifted onto these nodes."""
        (booking,) = self._bookings[job.id]
        self.cluster.allocate(job, allocation)
        self._availability.reserve(now_s, booking.end_s, allocation)
        booking.allocation = allocation
        running = self.running[job.id]
        self.running[job.id] = Running(job, running.start_s, running.end_s, allocation)

    def expand(self, job_id: str, gained: Allocation, now_s: float, until_s: float) -> Running:
        """Give a running job more, expected back by ``until_s``; returns what it is now."""
        self.advance(now_s)
        self.extra.book(job_id, gained, now_s, until_s)
        self.cluster.grow(job_id, gained)
        return self._refresh(job_id, now_s)

    def give_up(self, job_id: str, nodes: Collection[int], now_s: float, until_s: float) -> None:
        """A running job will leave these nodes of its own by ``until_s``: booked until then, as extra ones are."""
        self.advance(now_s)
        bookings: list[_Booking] = []
        for booking in self._bookings[job_id]:
            gone = only(booking.allocation, nodes)
            if booking.covering is not Resource.ALL or not gone.nodes or not now_s < until_s < booking.end_s:
                bookings.append(booking)
                continue
            self._release(booking, gone, booking.covering, now_s)
            self.extra.book(job_id, gone, now_s, until_s)
            bookings += _left_of(booking, Resource.ALL, nodes)
        self._bookings[job_id] = []
        self._book(bookings)
        self._refresh(job_id, now_s)

    def give_back(
        self, job_id: str, now_s: float, nodes: Collection[int] | None = None, covering: Resource = Resource.ALL
    ) -> Running:
        """A running job has given back nodes, or what it was granted for them; returns what it is now.

        Parameters
        ----------
        nodes
            Its nodes, extra ones or its own; ``None`` for all. A burst buffer and bandwidth are named by the nodes that
            they were granted for, also after these were given back.
        covering
            What it gave back: the nodes with all that belongs to them, or some kinds alone.

        Raises
        ------
        ValueError
            For a node for which it holds nothing of the kinds, and for an extra one unless it is given back
            with all that came with it. Nothing is changed then.
        """
        extra = self.extra.nodes_of(job_id)
        if extra and covering is not Resource.ALL and (nodes is None or not extra.isdisjoint(nodes)):
            raise ValueError(f"job {shown(job_id)} was expanded by node {min(extra)}: it can only be given back whole")
        self.cluster.give_back(job_id, covering, nodes)
        self.advance(now_s)
        bookings: list[_Booking] = []
        past: list[Holding] = []
        for booking in self._bookings[job_id]:
            kinds = booking.covering & covering
            gone = booking.allocation if nodes is None else only(booking.allocation, nodes)
            if not kinds or not (gone.nodes or gone.storages):
                bookings.append(booking)
                continue
            self._release(booking, gone, kinds, now_s)
            if kinds is not Resource.ALL:
                past.append(Holding(kinds, gone, booking.start_s, now_s))
            bookings += _left_of(booking, kinds, nodes)
        self.extra.give_back(job_id, extra if nodes is None else nodes, now_s)
        self._bookings[job_id] = []
        self._book(bookings)
        return self._refresh(job_id, now_s, past)

    def expect(self, job_id: str, until_s: float, now_s: float, covering: Resource = Resource.ALL) -> Running:
        """A running job's holdings of these kinds are expected to end at another time; returns what it is now."""
        self.advance(now_s)
        bookings: list[_Booking] = []
        for booking in self._bookings[job_id]:
            kinds = booking.covering & covering
            if booking.covering & ~kinds:
                bookings.append(dataclasses.replace(booking, covering=booking.covering & ~kinds))
            if kinds:
                moved = dataclasses.replace(booking, covering=kinds)
                self._move_end(moved, max(until_s, now_s + OVERDUE_S), now_s)
                bookings.append(moved)
        self._bookings[job_id] = []
        self._book(bookings)
        return self._refresh(job_id, now_s)

    def advance(self, now_s: float, ending: str = "") -> None:
        """Move the timeline on; what outlived its booking is booked a little longer.

        The job ``ending`` just now is left alone.
        """
        self.timeline.advance(now_s)
        self.extra.advance(now_s, ending)
        ends = self._ends
        while ends and ends[0][0] <= now_s:
            end_s, _, _, booking = heapq.heappop(ends)
            job = booking.job
            if job.id == ending or booking.end_s != end_s or booking not in self._bookings.get(job.id, ()):
                continue
            self._extend(booking, now_s)
            if job.id in self.held or self.running[job.id].apart:
                self._refresh(job.id, now_s)

    def close(self, nodes: Collection[int], storages: Collection[int], now_s: float) -> None:
        """Nodes and storage nodes may not be used from now on; jobs keep what they hold there."""
        self.advance(now_s)
        self.cluster.close(nodes, storages)
        self._availability.close(nodes, storages)

    def open(self, nodes: Collection[int], storages: Collection[int], now_s: float) -> None:
        """Nodes and storage nodes have come back."""
        self.advance(now_s)
        self.cluster.open(nodes, storages)
        self._availability.open(nodes, storages, self._booked(), now_s)

    def drain(self, storage: int, drained: int, now_s: float) -> None:
        """So many bytes of a storage node are drained from now on, in all; jobs keep what they hold there."""
        self.advance(now_s)
        self.cluster.drain(storage, drained)
        self._availability.drain(storage, drained)

    def check(self) -> None:
        """Prove that cluster, bookings, extra nodes and timeline agree with each other, kind by kind."""
        self.cluster.check()
        self.timeline.check()
        assert self.running.keys().isdisjoint(self.held), "a job runs and holds a burst buffer for later"
        assert self.running.keys() | self.held.keys() == self._bookings.keys(), "a job holds something unbooked"
        self.extra.check({job_id: running.allocation for job_id, running in self.running.items()})
        for job_id, bookings in self._bookings.items():
            self._check_job(job_id, bookings)
        if not self.timeline.holds_nodes_longer:
            for time_s in (self.timeline.now_s, math.inf):
                self._check_timeline(time_s)

    def _check_job(self, job_id: str, bookings: list[_Booking]) -> None:
        """Prove that a job's bookings and extra nodes agree with the cluster, and the published state with both."""
        held = self.cluster.parts_of(job_id)
        assert held is not None, f"{job_id!r} is booked and holds nothing"
        booked = [(booking.covering, booking.allocation) for booking in bookings]
        booked += [(part.covering, part.allocation) for part in self.extra.holdings(job_id)]
        nodes = sorted(node for kinds, part in booked if Resource.NODES in kinds for node in part.nodes)
        assert nodes == list(held.nodes.nodes), f"{job_id!r} holds {held.nodes}, booked are nodes {nodes}"
        requests = sorted(
            (storage, part.bb_bytes)
            for kinds, part in booked
            if Resource.BURST_BUFFERS in kinds
            for storage in part.storages
        )
        storage = held.storage
        assert requests == sorted((one, storage.bb_bytes) for one in storage.storages), f"{job_id!r}: {requests}"
        flows = sorted(
            (node, part.io_rate)
            for kinds, part in booked
            if Resource.BANDWIDTH in kinds and part.io_rate
            for node in part.nodes
        )
        links = held.links
        assert flows == sorted((node, links.io_rate) for node in links.nodes if links.io_rate), f"{job_id!r}: {flows}"
        if job_id in self.running:
            assert self.running[job_id].allocation == held.as_one(), f"{job_id!r} is published with something else"
        for booking in bookings:
            assert booking.start_s <= booking.end_s, f"{job_id!r} is booked backwards"
            assert any(entry[3] is booking and entry[0] == booking.end_s for entry in self._ends) or (
                booking.end_s == math.inf
            ), f"the end of a booking of {job_id!r} is not watched"

    def _check_timeline(self, time_s: float) -> None:
        """Prove that the timeline has at a time just what is booked then: nothing over-committed, nothing leaked."""
        machine, (_, rows, tables) = self.timeline.machine, self.timeline.arrays
        row = rows[0] if time_s < math.inf else rows[-1]
        gone, lost = self._availability.nodes, self._availability.storages
        free = set(range(len(machine.nodes))) - gone
        storage = [storage.capacity_bytes for storage in machine.storages]
        links = [link.capacity_bytes_per_s for link in machine.links]
        for holding in self._booked():
            if not (holding.start_s <= time_s and (time_s < holding.end_s or holding.end_s == math.inf)):
                continue
            part, kinds = holding.allocation, holding.covering
            if Resource.NODES in kinds:
                assert gone.union(free).issuperset(part.nodes), f"{part.nodes} are booked twice at {time_s} s"
                free.difference_update(part.nodes)
            for one in part.storages if Resource.BURST_BUFFERS in kinds else ():
                storage[one] -= part.bb_bytes
            for node in part.nodes if Resource.BANDWIDTH in kinds and part.io_rate else ():
                for link in links_above(machine, node):
                    links[link] -= part.io_rate
        assert self._availability.drained == self.cluster.drained, "other bytes are drained than the cluster has"
        for one, drained in self.cluster.drained.items():
            storage[one] = max(0, storage[one] - drained)
        storage = [0 if one in lost else free_bytes for one, free_bytes in enumerate(storage)]
        bits = np.unpackbits(row[tables.words].view(np.uint8), bitorder="little")
        assert set(np.flatnonzero(bits).tolist()) == free, f"at {time_s} s other nodes are free than {sorted(free)}"
        assert row[tables.storages].tolist() == storage, f"at {time_s} s other bytes are free than {storage}"
        assert row[tables.links].tolist() == links, f"at {time_s} s other bandwidth is free than {links}"

    # ------------------------------------------------------------------ steps

    def _booked(self) -> list[Holding]:
        """All that is booked."""
        held = [booking.as_holding() for bookings in self._bookings.values() for booking in bookings]
        held += [Holding(Resource.BURST_BUFFERS, one.allocation, one.since_s, math.inf) for one in self.kept.values()]
        return held + [part for job_id in self.running for part in self.extra.holdings(job_id)]

    def _book(self, bookings: list[_Booking]) -> None:
        """Keep a job's further bookings and watch their ends."""
        if bookings:
            self._bookings.setdefault(bookings[0].job.id, []).extend(bookings)
        for booking in bookings:
            self._watch(booking)

    def _watch(self, booking: _Booking) -> None:
        if booking.end_s < math.inf:
            self._pushed += 1
            heapq.heappush(self._ends, (booking.end_s, booking.job.number, self._pushed, booking))

    def _release(self, booking: _Booking, allocation: Allocation, covering: Resource, now_s: float) -> None:
        """Give a part of a booking back from now on."""
        if booking.end_s > now_s:
            self._availability.release(now_s, booking.end_s, allocation, covering)

    def _extend(self, booking: _Booking, now_s: float) -> None:
        """Book on what has outlived its booking: nodes by the estimator, all else ``extension_s`` at a time."""
        until_s = now_s + booking.extension_s
        running = self.running.get(booking.job.id)
        if running is not None and Resource.NODES in booking.covering:
            elapsed_s = now_s - running.start_s
            until_s = max(running.start_s + self._estimator.correct_s(running.job, elapsed_s), now_s + OVERDUE_S)
        self._availability.reserve(now_s, until_s, booking.allocation, booking.covering)
        booking.end_s = until_s
        self._watch(booking)
        if Resource.NODES in booking.covering:
            for other in self._bookings[booking.job.id]:
                if other is not booking and until_s + other.tail_s > max(other.end_s, now_s):
                    self._move_end(other, until_s + other.tail_s, now_s)  # its tail begins later, too

    def _move_end(self, booking: _Booking, end_s: float, now_s: float) -> None:
        """Book a booking on, or less far; it is watched at its new end."""
        if end_s > booking.end_s:
            self._availability.reserve(max(booking.end_s, now_s), end_s, booking.allocation, booking.covering)
        elif end_s < booking.end_s:
            self._availability.release(max(end_s, now_s), booking.end_s, booking.allocation, booking.covering)
        booking.end_s = end_s
        self._watch(booking)

    def _refresh(self, job_id: str, now_s: float, past: Sequence[Holding] = ()) -> Running:
        """Update a job's entry in :attr:`running` (or :attr:`held`) to what it holds now, and return it."""
        bookings = self._bookings[job_id]
        if job_id not in self.running:
            self.held[job_id] = bookings[0].as_holding()
            return Running(bookings[0].job, bookings[0].start_s, bookings[0].end_s, bookings[0].allocation)
        running = self.running[job_id]
        self.accounts.changes(running, now_s)
        allocation = self.cluster.held_by(job_id)
        assert allocation is not None, "a running job holds something"
        apart = (*(booking.as_holding() for booking in bookings), *self.extra.holdings(job_id))
        whole = len(apart) == 1 and apart[0].covering is Resource.ALL
        changed = Running(
            running.job,
            running.start_s,
            running.end_s,
            allocation,
            () if whole else apart,
            (*running.past, *past),
        )
        self.running[job_id] = changed
        return changed


def _left_of(booking: _Booking, kinds: Resource, nodes: Collection[int] | None) -> list[_Booking]:
    """What is left of a booking of which some kinds were given back, for all or for some nodes."""
    left = []
    if booking.covering & ~kinds:
        left.append(dataclasses.replace(booking, covering=booking.covering & ~kinds))
    if nodes is not None:
        kept = without(booking.allocation, nodes)
        if kept.nodes:
            left.append(dataclasses.replace(booking, covering=kinds, allocation=kept))
    return left


def _until(holding: Holding, end_s: float) -> Holding:
    return msgspec.structs.replace(holding, end_s=end_s)


class _Lazy(Sequence[Running]):
    """Running jobs as a sequence that is only built when a policy looks at it."""

    __slots__ = ("_items", "_source")

    def __init__(self, source: dict[str, Running]) -> None:
        self._source = source
        self._items: tuple[Running, ...] | None = None

    def _get(self) -> tuple[Running, ...]:
        if self._items is None:
            self._items = tuple(self._source.values())
        return self._items

    def __len__(self) -> int:
        return len(self._source)

    def __iter__(self) -> Iterator[Running]:
        return iter(self._get())

    def __getitem__(self, index: Any) -> Any:
        return self._get()[index]
