"""The timeline: free resources as a step function over time of the whole resource vector."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.base.lazy_modules import late
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import CountedPool, Machine
from spillway.schedulers.timeline import layout, lives
from spillway.schedulers.timeline.drains import Change, Drained
from spillway.schedulers.timeline.fit import Fit, Overbooked
from spillway.schedulers.timeline.placement import NodeOrder, Placement, Resource, StorageOrder
from spillway.schedulers.timeline.tables import Tables, bitset

if TYPE_CHECKING:
    from spillway.schedulers.timeline import apart_kernels, instant_kernels
    from spillway.schedulers.timeline import fit_kernels as kernels
else:
    apart_kernels = late("spillway.schedulers.timeline.apart_kernels")
    kernels = late("spillway.schedulers.timeline.fit_kernels")
    instant_kernels = late("spillway.schedulers.timeline.instant_kernels")

__all__ = ["Fit", "NodeOrder", "Placement", "Resource", "Snapshot", "StorageOrder", "Timeline"]

_NEVER_FITS = (2**61, 0, 0, layout.USE_NODES, 0, 0)
"""Demand in place of that of a job which not even the empty machine can hold: more nodes than there are."""

_SPARE = 2
"""Rows that one booking may need beyond those in use."""


class Snapshot(NamedTuple):
    """A state of a timeline, to return to with :meth:`Timeline.restore`; its content is not for reading."""

    times: npt.NDArray[np.float64]
    rows: npt.NDArray[np.int64]
    drained: dict[int, Drained]


class Timeline:
    """Step function over time of free nodes (by identity), bytes per storage node and bandwidth per link.

    Segments are half-open, ``[times[k], times[k + 1])``; the last one is endless. Neighbours always differ, so that the
    timeline depends only on its bookings and every breakpoint is a real change.

    A timeline and its copies share scratch memory: use them from one thread.

    Parameters
    ----------
    machine
        The machine; everything is free at first.
    now_s
        Start of the timeline in seconds.
    placement
        Rules by which a fit chooses nodes and storages, by default those of the thesis. Only ``rack`` changes whether a
        job fits.

    Attributes
    ----------
    changes
        Number of changes other than of the time; code that changes an input of the timeline may add to it.

    Raises
    ------
    ValueError
        When the machine is so large that sums of its capacities exceed 64 bits.

    References
    ----------
    Herbein et al., HPDC 2016, section 3.4, for the bandwidth levels (DOI 10.1145/2907294.2907316); Kopanski's thesis
    (Euro-Par version DOI 10.1007/978-3-030-85665-6_8) for burst buffers as whole requests on storage nodes.
    """

    __slots__ = ("_count", "_drained", "_rows", "_tables", "_times", "changes")

    holds_nodes_longer: ClassVar[bool] = False
    """Whether nodes are held one rounding step longer than the rest
    (:mod:`spillway.schedulers.timeline.published_timeline`)."""

    def __init__(self, machine: Machine, now_s: float = 0.0, placement: Placement | None = None) -> None:
        self._tables = Tables(machine, placement or Placement())
        self._count = 1
        self._times = np.empty(32)
        self._rows = np.empty((32, len(self._tables.capacity)), np.int64)
        self._times[0] = now_s
        self._rows[0] = self._tables.capacity
        self._drained: dict[int, Drained] = {}
        self.changes = 0

    # ------------------------------------------------------------------ queries

    @property
    def machine(self) -> Machine:
        """The machine."""
        return self._tables.machine

    @property
    def placement(self) -> Placement:
        """The rules by which fits choose nodes and storages."""
        return self._tables.placement

    @property
    def steady(self) -> bool:
        """Whether the choice of a fit stays while it is possible, whatever else is taken (:attr:`Placement.steady`)."""
        return self._tables.steady and not self.holds_nodes_longer

    @property
    def now_s(self) -> float:
        """Start of the first segment."""
        return self._times.item(0)

    def __len__(self) -> int:
        """Return the number of segments."""
        return self._count

    def breakpoints(self) -> list[float]:
        """Start of every segment: ``now_s`` and the later times at which free resources change."""
        times: list[float] = self._times[: self._count].tolist()
        return times

    def next_change_s(self) -> float:
        """Time of the next change of free resources (s), infinity for never."""
        return self._times.item(1) if self._count > 1 else math.inf

    def free_nodes_now(self) -> int:
        """Return the number of nodes free at ``now_s``."""
        return self._rows.item(layout.FREE_NODES)

    def free_storage_now(self) -> list[int]:
        """Bytes free at ``now_s`` per storage node."""
        free_bytes: list[int] = self._rows[0, self._tables.storages].tolist()
        return free_bytes

    def free_bandwidth_now(self) -> list[int]:
        """Bytes per second free at ``now_s`` per link."""
        bandwidth: list[int] = self._rows[0, self._tables.links].tolist()
        return bandwidth

    def free_pools_now(self) -> list[int]:
        """Amount free at ``now_s`` per counted pool."""
        amounts: list[int] = self._rows[0, self._tables.pools].tolist()
        return amounts

    def free_bytes_now(self, storage: int) -> int:
        """Bytes free at ``now_s`` on one storage node."""
        return self._rows.item(self._tables.storages.start + storage)

    def most_free_nodes(self, until_s: float) -> int:
        """The largest number of nodes that are free at some time up to ``until_s``, which is now or later."""
        return int(self._rows[: self._times[: self._count].searchsorted(until_s, "right"), layout.FREE_NODES].max())

    def differs_until(self, other: Timeline) -> float:
        """Time from which on another timeline of the same machine and time has the same free resources (s).

        ``now_s`` if they never differ.
        """
        mine, theirs = self._times[: self._count], other._times[: other._count]
        times = np.union1d(mine, theirs)
        rows = self._rows[mine.searchsorted(times, "right") - 1]
        unlike = (rows != other._rows[theirs.searchsorted(times, "right") - 1]).any(axis=1).nonzero()[0]
        if not len(unlike):
            return self.now_s
        last = int(unlike[-1]) + 1
        return float(times[last]) if last < len(times) else math.inf

    def free_rate_now(self, link: int) -> int:
        """Bytes per second free at ``now_s`` on one link."""
        return self._rows.item(self._tables.links.start + link)

    def fit_now(self, job: Job, duration_s: float, covering: Resource = Resource.ALL) -> Allocation | None:
        """Return the job's allocation if it starts now and runs for ``duration_s``, or ``None`` if it cannot.

        See :meth:`earliest_fit`.
        """
        if job.nodes > self._rows.item(layout.FREE_NODES) and job.lives is None and covering._value_ & layout.USE_NODES:
            return None
        now_s = self._times.item(0)
        start_s = self._find(job, duration_s, now_s, now_s, covering)
        return self._chosen(job, covering) if start_s < math.inf else None

    def demand_of(self, job: Job) -> layout.Row:
        """Return a job's demand, as :meth:`first_fit_now` takes it; it stays the same, here and in copies."""
        return self._tables.demand(job, layout.USE_ALL) or _NEVER_FITS

    def first_fit_now(
        self, jobs: Sequence[Job], demands: npt.NDArray[np.int64], durations_s: npt.NDArray[np.float64]
    ) -> tuple[int, Allocation] | None:
        """Find the first of many jobs that fits now: one compiled search in place of :meth:`fit_now` for each.

        Parameters
        ----------
        jobs
            The jobs; no job has lives of its own.
        demands, durations_s
            :meth:`demand_of` each of them in a row, and its duration (s, at least 0).

        Returns
        -------
        tuple or None
            Its place and its allocation; ``None`` if no job fits.
        """
        tables = self._tables
        if self.holds_nodes_longer or tables.racks:  # their windows share nothing
            for at, job in enumerate(jobs):
                allocation = self.fit_now(job, durations_s.item(at))
                if allocation is not None:
                    return at, allocation
            return None
        if self._count > tables.segments:
            tables.make_room(self._count)
        place = instant_kernels.first_that_fits(
            self._times, self._count, self._rows, demands, durations_s, tables.for_kernels, tables.scratch
        )
        return None if place < 0 else (place, self._chosen(jobs[place], Resource.ALL))

    def earliest_fit(
        self,
        job: Job,
        duration_s: float,
        not_before_s: float | None = None,
        covering: Resource = Resource.ALL,
        latest_s: float = math.inf,
    ) -> Fit | None:
        """Find the earliest start of a job.

        Candidates are ``not_before_s`` and the later breakpoints. At a start, the nodes qualify that are free over the
        whole of ``[start, start + duration_s)``; the bytes of a storage node and the bandwidth of a link are their
        minima over it. If the duration is too short to be added to the start, the start itself counts.

        Where the job's holdings have lives of their own (:class:`spillway.schedulers.model.job.Lives`), this holds for
        each over its own interval, and ``start`` is that of the burst buffer.

        Parameters
        ----------
        duration_s
            Seconds >= 0, infinity allowed.
        not_before_s
            Earliest start of interest; ``None`` or an earlier time than now: now.
        covering
            Resources that are searched and put into the allocation; the others are ignored.
        latest_s
            Last start of interest; a search that ends there is cheaper than one without end.

        Returns
        -------
        Fit or None
            ``None`` when the job does not fit at any of these times.

        Raises
        ------
        ValueError
            For a negative duration or one that is not a number.
        """
        now_s = self._times.item(0)
        first_s = now_s if not_before_s is None or not_before_s < now_s else not_before_s
        start_s = self._find(job, duration_s, first_s, latest_s, covering) if first_s <= latest_s else math.inf
        return Fit(start_s, self._chosen(job, covering)) if start_s < math.inf else None

    # ------------------------------------------------------------------ changes

    def reserve(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = Resource.ALL) -> None:
        """Book an allocation over ``[start_s, end_s)``; an empty interval books nothing.

        Where the allocation's parts have lives of their own, it starts with the burst buffer, and the interval is as
        long as that of the nodes.

        Parameters
        ----------
        start_s, end_s
            Seconds; ``now_s <= start_s <= end_s``, and ``end_s`` may be infinite.
        covering
            Resources that are booked.

        Raises
        ------
        ValueError
            When it would over-commit (names the resource and the time), for an unknown index, a node named twice, or an
            interval that begins before now. Nothing is changed then. On a partly drained storage node the whole
            capacity can be booked, also more than is left (:meth:`drain`), so that buffers held there can be kept.
        """
        if allocation.lives is not None:
            self._book_parts(start_s, end_s, allocation, covering, 1)
        elif self._drained or self._tables.stacked or self.holds_nodes_longer:
            self._book(start_s, end_s, allocation, covering, 1)
        else:
            self._write(start_s, end_s, allocation, covering, 1)

    def reserve_from(self, not_before_s: float, duration_s: float, allocation: Allocation) -> float:
        """Book just this allocation for a duration, at the earliest start at which all of it is free.

        Parameters
        ----------
        not_before_s
            Earliest start of interest (s), now or later.
        duration_s
            Seconds >= 0, infinity allowed.

        Returns
        -------
        float
            The start (s); infinity, with nothing booked, if there is no such start.

        Raises
        ------
        ValueError
            As :meth:`reserve`, but never because a resource is not free.
        """
        start_s = not_before_s
        while start_s < math.inf:
            try:
                self.reserve(start_s, start_s + duration_s, allocation)
            except Overbooked as fault:
                start_s = fault.until_s
            else:
                break
        return start_s

    def release(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = Resource.ALL) -> None:
        """Give an allocation back over ``[start_s, end_s)``, the reverse of :meth:`reserve`.

        Raises
        ------
        ValueError
            As :meth:`reserve`, and when more would be free than the machine has. Nothing is changed then.
        """
        if allocation.lives is not None:
            self._book_parts(start_s, end_s, allocation, covering, -1)
        elif self._drained or self._tables.stacked or self.holds_nodes_longer:
            self._book(start_s, end_s, allocation, covering, -1)
        else:
            self._write(start_s, end_s, allocation, covering, -1)

    def advance(self, now_s: float) -> None:
        """Drop the time before ``now_s``; ValueError when that is earlier than :attr:`now_s`."""
        before_s = self._times.item(0)
        if now_s == before_s:
            return
        if not before_s <= now_s < math.inf:
            raise ValueError(f"cannot advance to {now_s} s: the timeline already begins at {before_s} s")
        if self._count > 1 and self._times.item(1) <= now_s:
            first = int(self._times[: self._count].searchsorted(now_s, side="right")) - 1
            self._times[: self._count - first] = self._times[first : self._count]
            self._rows[: self._count - first] = self._rows[first : self._count]
            self._count -= first
        self._times[0] = now_s
        for drained in self._drained.values():
            drained.advance(now_s)

    def close(self, nodes: Collection[int], storages: Collection[int]) -> None:
        """Take nodes and storage nodes out of service: they are free at no time, whatever was booked there.

        Until :meth:`reopen` nothing may be booked or released there.
        """
        rows, words, columns = self._of(nodes, storages)
        rows[:, self._tables.words] &= ~words
        rows[:, columns] = 0
        for storage in storages:
            self._drained.pop(storage, None)
        self._add_up()

    def take(
        self,
        start_s: float,
        end_s: float,
        nodes: Collection[int],
        bb_bytes: Sequence[int] = (),
        pools: Sequence[int] = (),
    ) -> None:
        """Take nodes over ``[start_s, end_s)``, whatever is booked there, and free bytes and amounts of pools.

        For a copy in which passes book: other bookings on these nodes at that time can no longer be released.

        Parameters
        ----------
        start_s, end_s
            Seconds; ``now_s <= start_s < end_s``.
        nodes
            Indices of the nodes.
        bb_bytes, pools
            Most bytes of each storage node, and most of each counted pool, as far as they are free; () for nothing.
        """
        if not self._times.item(0) <= start_s < end_s:
            raise ValueError(f"interval [{start_s}, {end_s}) must begin at {self.now_s} s or later, and not be empty")
        first, last = self._split(start_s), self._split(end_s) if end_s < math.inf else self._count
        self._rows[first:last, self._tables.words] &= ~bitset(sorted(nodes), self._tables.word_count)
        self._add_up()
        for storage, size in enumerate(bb_bytes):
            column = self._tables.storages.start + storage
            for begin_s, until_s, amount in self._free_of(column, start_s, end_s, size):
                self._book(begin_s, until_s, Allocation((), (storage,), amount), Resource.BURST_BUFFERS, 1)
        for pool, size in enumerate(pools):
            column = self._tables.pools.start + pool
            for begin_s, until_s, amount in self._free_of(column, start_s, end_s, size):
                amounts = (0,) * pool + (amount,)
                self._book(begin_s, until_s, Allocation((), pools=amounts), Resource.POOLS, 1)

    def _free_of(self, column: int, start_s: float, end_s: float, most: int) -> list[tuple[float, float, int]]:
        """Free amounts of a column over the parts of an interval, up to ``most``; parts with nothing are left out."""
        first, last = self._split(start_s), self._split(end_s) if end_s < math.inf else self._count
        times = [*self._times[first:last].tolist(), end_s]
        free = np.minimum(self._rows[first:last, column], most).tolist()
        self._add_up()
        return [
            (begin_s, until_s, amount)
            for begin_s, until_s, amount in zip(times, times[1:], free, strict=False)
            if amount > 0
        ]

    def _split(self, time_s: float) -> int:
        """Make a row begin at a time, unless one does; return its index."""
        place = int(self._times[: self._count].searchsorted(time_s))
        if place < self._count and self._times[place] == time_s:
            return place
        self._make_room(self._count)
        self._times[place + 1 : self._count + 1] = self._times[place : self._count].copy()
        self._rows[place + 1 : self._count + 1] = self._rows[place : self._count].copy()
        self._times[place] = time_s
        self._rows[place] = self._rows[place - 1]
        self._count += 1
        return place

    def reopen(self, nodes: Collection[int], storages: Collection[int]) -> None:
        """Put nodes and storage nodes back into service: they are free at all times, and can be booked again.

        No bytes of them are drained (:meth:`drain`).
        """
        rows, words, columns = self._of(nodes, storages)
        rows[:, self._tables.words] |= words
        rows[:, columns] = self._tables.capacity[columns]
        self._add_up()

    def drain(self, storage: int, drained: int) -> None:
        """Drain ``drained`` bytes of a storage node in all; 0 gives all of them back.

        Bookings stay. While they exceed the bytes left, nothing is free, and a release frees bytes only once less is
        booked than is left. The storage node must not be closed (:meth:`close`).
        """
        node = self._drained.get(storage)
        if node is None:
            capacity = self.machine.storages[storage].capacity_bytes
            free_bytes = self._rows[: self._count, self._tables.storages.start + storage].tolist()
            node = Drained(capacity, self.breakpoints(), [capacity - free for free in free_bytes])
        self.changes += 1
        self._write_changes(storage, node.drain(drained))
        if drained:
            self._drained[storage] = node
        else:
            self._drained.pop(storage, None)

    def widen(self, pools: tuple[CountedPool, ...]) -> None:
        """Append counted pools: ``pools`` are the present and the new ones, all free.

        Copies that were made before become invalid.
        """
        before = self._rows.shape[1]
        self._tables.widen(pools)
        rows = np.empty((len(self._rows), len(self._tables.capacity)), np.int64)
        rows[:, :before], rows[:, before:] = self._rows, self._tables.capacity[before:]
        self._rows = rows
        self.changes += 1

    def copy(self) -> Timeline:
        """Return an independent timeline of the same state; costs two array copies."""
        other = object.__new__(type(self))
        other._tables = self._tables
        other._count = self._count
        other.changes = self.changes
        capacity = self._count + max(16, self._count >> 2)
        other._times = np.empty(capacity)
        other._rows = np.empty((capacity, self._rows.shape[1]), np.int64)
        other._times[: self._count] = self._times[: self._count]
        other._rows[: self._count] = self._rows[: self._count]
        other._drained = {storage: node.copy() for storage, node in self._drained.items()} if self._drained else {}
        return other

    def snapshot(self) -> Snapshot:
        """Keep the present state for :meth:`restore`, any number of times, here or in a copy."""
        drained = {storage: node.copy() for storage, node in self._drained.items()}
        return Snapshot(self._times[: self._count].copy(), self._rows[: self._count].copy(), drained)

    def restore(self, snapshot: Snapshot) -> None:
        """Return to the state of a snapshot of this timeline or of a copy of it."""
        count = len(snapshot.times)
        self._make_room(count)
        self._times[:count] = snapshot.times
        self._rows[:count] = snapshot.rows
        self._count = count
        self.changes += 1
        self._drained = {storage: node.copy() for storage, node in snapshot.drained.items()}

    def check(self) -> None:
        """Prove the invariants: ascending times, totals that add up, nothing over-committed, neighbours that differ."""
        times, rows, tables = self._times[: self._count], self._rows[: self._count], self._tables
        assert self._count >= 1, "no segment"
        assert (np.diff(times) > 0).all(), f"times do not ascend: {times}"
        assert (rows[1:] != rows[:-1]).any(axis=1).all(), "equal neighbours"
        words = rows[:, tables.words]
        assert not (words & ~tables.capacity[tables.words]).any(), "a node is free that does not exist"
        free = np.bitwise_count(words.view(np.uint64)).sum(axis=1)
        assert (free == rows[:, layout.FREE_NODES]).all(), "free nodes do not add up"
        assert (rows[:, tables.storages].sum(axis=1) == rows[:, layout.FREE_BYTES]).all(), "free bytes do not add up"
        sizes = rows[:, layout.HEAD + tables.word_count :]
        assert (sizes >= 0).all(), "a storage node or a link is over-committed"
        assert (sizes <= tables.capacity[layout.HEAD + tables.word_count :]).all(), "more is free than there is"
        for storage, node in self._drained.items():
            assert node.drained > 0, "nothing of it is drained"
            for time_s in {*times.tolist(), *node.breakpoints()}:
                row = rows[int(np.searchsorted(times, time_s, side="right")) - 1]
                assert row[tables.storages.start + storage] == node.free_at(time_s), "drained bytes do not add up"

    @property
    def arrays(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], Tables]:
        """Segment starts, rows and tables, read-only, for other kernels (:mod:`spillway.schedulers.timeline.layout`).

        The tables' scratch memory is shared with this timeline and serves ``tables.make_room(segments)`` segments.
        """
        return self._times[: self._count], self._rows[: self._count], self._tables

    # ------------------------------------------------------------------ steps

    def _find(self, job: Job, duration_s: float, first_s: float, latest_s: float, covering: Resource) -> float:
        """Start of the job, or infinity; the kernel leaves its choice in the shared scratch memory."""
        if not duration_s >= 0:
            raise ValueError(f"job {job.id!r}: duration must be >= 0 s, got {duration_s}")
        tables, uses = self._tables, covering._value_
        demand = tables.known.get(job) if uses == layout.USE_ALL else None
        if demand is None:
            demand = tables.demand(job, uses)
            if demand is None:
                return math.inf
        if self._count > tables.segments:
            tables.make_room(self._count)
        found: float
        if job.lives is None:
            found = kernels.find_fit(
                self._times, self._count, self._rows, demand, duration_s, first_s, latest_s, tables.for_kernels,
                tables.scratch,
            )  # fmt: skip
            return found
        held = job.lives
        span = (duration_s, held.storage_lead_s, held.storage_tail_s, held.bandwidth_tail_s)
        found = apart_kernels.find_apart(
            self._times, self._count, self._rows, demand, span, first_s, latest_s, tables.for_kernels, tables.scratch
        )
        return found

    def _chosen(self, job: Job, covering: Resource) -> Allocation:
        chosen, uses = self._tables.chosen, covering._value_
        bb_bytes = job.bb_bytes if uses & layout.USE_STORAGES else 0
        nodes, storages = chosen[0, : job.nodes].copy(), chosen[1, : job.requests if bb_bytes else 0].copy()
        allocation = Allocation(
            tuple(nodes.tolist()),
            tuple(storages.tolist()),
            bb_bytes,
            job.io_rate if uses & layout.USE_LINKS else 0,
            job.lives,
            striped=bb_bytes > 0 and job.stripes > 0,
            pools=self._held_pools(job) if job.pools and uses & layout.USE_POOLS else (),
        )
        self._tables.last, self._tables.indices = allocation, (nodes, storages)
        return allocation

    def _held_pools(self, job: Job) -> tuple[int, ...]:
        """Amounts of the pools in the allocation just found for a job."""
        if not self._tables.layered:
            return job.pools
        return tuple(self._tables.usage[self._tables.pools].tolist())

    def _book(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource, sign: int) -> None:
        """Book an allocation that may need more than :meth:`_write`: for replicas, or on drained storage nodes."""
        if (
            self._tables.stacked
            and 0 < len(allocation.storages) < len(allocation.nodes)
            and not allocation.striped
            and Resource.NODES in covering
        ):
            # replicas of a job in further rows share its buffer: one storage for each node of its first row
            first = allocation.nodes[: len(allocation.storages)]
            buffers = Allocation(first, allocation.storages, allocation.bb_bytes)
            self._book(start_s, end_s, buffers, covering & Resource.BURST_BUFFERS, sign)
            covering &= ~Resource.BURST_BUFFERS
        if (
            self._drained
            and allocation.bb_bytes
            and Resource.BURST_BUFFERS in covering
            and not self._drained.keys().isdisjoint(allocation.storages)
        ):
            self._book_drained(start_s, end_s, allocation, covering, sign)
        else:
            self._write(start_s, end_s, allocation, covering, sign)

    def _book_drained(
        self, start_s: float, end_s: float, allocation: Allocation, covering: Resource, sign: int
    ) -> None:
        """Book an allocation with storage nodes that are partly drained, all or nothing."""
        if self._is_empty(start_s, end_s):
            return
        size = sign * allocation.bb_bytes
        sizes = {one: size * times for one, times in Counter(allocation.storages).items() if one in self._drained}
        for storage, bytes_there in sizes.items():
            fault = self._drained[storage].fault(start_s, end_s, bytes_there)
            if fault is not None:
                words, until_s = fault
                raise Overbooked(f"storage {self.machine.storages[storage].name}: {words}", until_s)
        others = tuple(one for one in allocation.storages if one not in self._drained)
        elsewhere = Allocation((), others, allocation.bb_bytes)
        self._write(start_s, end_s, elsewhere, Resource.BURST_BUFFERS, sign)
        try:
            self._write(start_s, end_s, allocation, covering & ~Resource.BURST_BUFFERS, sign)
        except ValueError:
            self._write(start_s, end_s, elsewhere, Resource.BURST_BUFFERS, -sign)
            raise
        for storage, bytes_there in sizes.items():
            self._write_changes(storage, self._drained[storage].book(start_s, end_s, bytes_there))

    def _write_changes(self, storage: int, changes: Iterable[Change]) -> None:
        """Write changes of the free bytes of a drained storage node to the rows."""
        for start_s, end_s, taken in changes:
            part = Allocation((), (storage,), abs(taken))
            self._write(start_s, end_s, part, Resource.BURST_BUFFERS, 1 if taken > 0 else -1)

    def _write(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource, sign: int) -> None:
        """Book an allocation in the rows, or release it; ValueError where free amounts would leave their bounds."""
        if not self._times.item(0) <= start_s < end_s and self._is_empty(start_s, end_s):
            return
        tables, uses = self._tables, covering._value_ | (layout.STRIPED if allocation.striped else 0)
        bb_bytes = allocation.bb_bytes if allocation.storages and uses & layout.USE_STORAGES else 0
        io_rate = allocation.io_rate if uses & layout.USE_LINKS else 0
        if not 0 <= bb_bytes * len(allocation.storages) <= tables.total_bytes or io_rate < 0:
            raise ValueError(f"sizes must be >= 0, and fit all storage ({tables.total_bytes} bytes): {allocation}")
        if self._count + _SPARE > len(self._times):
            self._make_room(self._count)
        if allocation is not tables.last:
            tables.keep(allocation)
        nodes, storages = tables.indices
        if tables.pooled:
            tables.booked[: len(allocation.pools)] = allocation.pools
            tables.booked[len(allocation.pools) :] = 0
        count = kernels.book_checked(
            self._times, self._count, self._rows, start_s, end_s, sign,
            (nodes, storages, bb_bytes, min(io_rate, tables.widest_rate + 1), uses), tables.for_booking,
            tables.usage,
        )  # fmt: skip
        if count < 0:
            words = self._tables.explain(count, start_s, self._times, self._rows, allocation, sign)
            if sign < 0 or count <= layout.BAD_NODE:
                raise ValueError(words)
            raise Overbooked(words, self._room_after(-1 - count, end_s - start_s))
        self._count = count
        self.changes += 1

    def _is_empty(self, start_s: float, end_s: float) -> bool:
        """Whether an interval is empty; ValueError where it begins before now or ends before it begins."""
        if not self._times.item(0) <= start_s <= end_s:
            raise ValueError(f"interval [{start_s}, {end_s}) must begin at {self.now_s} s or later, and not end before")
        return start_s == end_s

    def _room_after(self, segment: int, duration_s: float) -> float:
        """Earliest start of the booking just refused for this segment (s); its usage is in the scratch memory."""
        found: float = kernels.room_after(
            self._times, self._count, self._rows, segment, duration_s, self._tables.usage, self._tables.for_booking
        )
        return found

    def _book_parts(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource, sign: int) -> None:
        """Book each part of an allocation over its own interval, all or nothing."""
        if not allocation.storages:
            covering &= ~Resource.BURST_BUFFERS  # nothing to hold before the nodes
        done: list[lives.Part] = []
        for part in lives.parts(allocation.lives, start_s, end_s, covering):
            try:
                self._book(part.start_s, part.end_s, allocation, part.covering, sign)
            except ValueError as fault:
                for before in reversed(done):
                    self._book(before.start_s, before.end_s, allocation, before.covering, -sign)
                if isinstance(fault, Overbooked):
                    fault.until_s = lives.start_before(allocation.lives, part, start_s, fault.until_s)
                raise
            done.append(part)

    def _of(
        self, nodes: Collection[int], storages: Collection[int]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[int]]:
        """Return the rows in use, these nodes as words, and the columns of these storages."""
        tables = self._tables
        columns = [tables.storages.start + storage for storage in sorted(storages)]
        return self._rows[: self._count], bitset(sorted(nodes), tables.word_count), columns

    def _add_up(self) -> None:
        """Compute the totals again, and join neighbours that have become equal."""
        rows, tables = self._rows[: self._count], self._tables
        rows[:, layout.FREE_NODES] = np.bitwise_count(rows[:, tables.words].view(np.uint64)).sum(axis=1)
        rows[:, layout.FREE_BYTES] = rows[:, tables.storages].sum(axis=1)
        kept = np.concatenate(([True], (rows[1:] != rows[:-1]).any(axis=1)))
        count = int(kept.sum())
        self._times[:count], self._rows[:count] = self._times[: self._count][kept], rows[kept]
        self._count = count
        self.changes += 1

    def _make_room(self, count: int) -> None:
        """Ensure ``count`` rows and some spare ones; the rows in use stay."""
        if count + _SPARE <= len(self._times):
            return
        times = np.empty(2 * count + 16)
        rows = np.empty((2 * count + 16, self._rows.shape[1]), np.int64)
        times[: self._count] = self._times[: self._count]
        rows[: self._count] = self._rows[: self._count]
        self._times, self._rows = times, rows
