"""The timeline in plain Python: a list of bookings, summed instant by instant. The model that the core must equal.

Slow on purpose (every question walks all bookings) and short enough to be seen to be right. Tests compare
:class:`spillway.schedulers.timeline.Timeline` with it; benchmarks measure against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.timeline import Fit
from spillway.schedulers.timeline.placement import AtEnd, Placement, Resource, StorageOrder, Wanted, choose, links_above
from tests.reference.layers import layered_nodes, only_on
from tests.reference.lives import start_before


class Free(NamedTuple):
    """Free resources at one instant: 1 or 0 per node, bytes per storage node, bytes/s per link, amounts of pools."""

    nodes: list[int]
    free_bytes: list[int]
    bandwidth: list[int]
    pools: list[int]


class Booking(NamedTuple):
    """``sign`` times an allocation over ``[start_s, end_s)``: 1 takes, -1 gives back."""

    start_s: float
    end_s: float
    allocation: Allocation
    covering: Resource
    sign: int


class ReferenceTimeline:
    """Same methods and results as :class:`spillway.schedulers.timeline.Timeline`."""

    def __init__(self, machine: Machine, now_s: float = 0.0, placement: Placement | None = None) -> None:
        self.machine = machine
        self.placement = placement or Placement()
        self.now_s = now_s
        self.bookings: list[Booking] = []
        self.drained: dict[int, int] = {}

    def copy(self) -> ReferenceTimeline:
        """An independent copy."""
        other = ReferenceTimeline(self.machine, self.now_s, self.placement)
        other.bookings, other.drained = list(self.bookings), dict(self.drained)
        return other

    def snapshot(self) -> tuple[float, list[Booking], dict[int, int]]:
        """State for :meth:`restore`."""
        return self.now_s, list(self.bookings), dict(self.drained)

    def restore(self, snapshot: tuple[float, list[Booking], dict[int, int]]) -> None:
        """Return to an earlier state."""
        self.now_s, self.bookings, self.drained = snapshot[0], list(snapshot[1]), dict(snapshot[2])

    def drain(self, storage: int, drained: int) -> None:
        """Take so many bytes of a storage node away, in all."""
        self.drained[storage] = drained

    def advance(self, now_s: float) -> None:
        """Forget the time before ``now_s``."""
        if not self.now_s <= now_s < math.inf:
            raise ValueError(f"time {now_s} lies before {self.now_s}")
        self.now_s = now_s

    def free_at(self, time_s: float) -> Free:
        """Free resources at an instant; free bytes of partly drained storage nodes are never below zero."""
        free = self._left_at(time_s)
        for storage, drained in self.drained.items():
            free.free_bytes[storage] = max(0, free.free_bytes[storage] - drained)
        return free

    def _left_at(self, time_s: float) -> Free:
        """Unbooked resources at an instant."""
        nodes = [1] * len(self.machine.nodes)
        free_bytes = [storage.capacity_bytes for storage in self.machine.storages]
        bandwidth = [link.capacity_bytes_per_s for link in self.machine.links]
        pools = [pool.count for pool in self.machine.pools]
        for booking in self.bookings:
            if booking.start_s <= time_s < booking.end_s:
                _take(self.machine, Free(nodes, free_bytes, bandwidth, pools), booking)
        return Free(nodes, free_bytes, bandwidth, pools)

    def free_nodes_now(self) -> int:
        """Number of nodes free at ``now_s``."""
        return sum(self.free_at(self.now_s).nodes)

    def free_storage_now(self) -> list[int]:
        """Bytes free at ``now_s`` per storage node."""
        return self.free_at(self.now_s).free_bytes

    def free_bandwidth_now(self) -> list[int]:
        """Bytes per second free at ``now_s`` per link."""
        return self.free_at(self.now_s).bandwidth

    def breakpoints(self) -> list[float]:
        """Start of every segment: ``now_s`` and the later times at which free resources change."""
        times = [self.now_s]
        last = self.free_at(self.now_s)
        for time_s in self._instants(self.now_s, math.inf):
            here = self.free_at(time_s)
            if here != last:
                times.append(time_s)
            last = here
        return times

    def fit_now(self, job: Job, duration_s: float, covering: Resource = Resource.ALL) -> Allocation | None:
        """The allocation of a job that starts now, or ``None``."""
        fit = self.earliest_fit(job, duration_s, self.now_s, covering, self.now_s)
        return None if fit is None else fit.allocation

    def earliest_fit(
        self,
        job: Job,
        duration_s: float,
        not_before_s: float | None = None,
        covering: Resource = Resource.ALL,
        latest_s: float = math.inf,
    ) -> Fit | None:
        """Earliest start among ``not_before_s`` and the later breakpoints, and the allocation there."""
        first = self.now_s if not_before_s is None else max(not_before_s, self.now_s)
        leads = {0.0} if job.lives is None else {0.0, job.lives.storage_lead_s}
        later = {start_before(time_s, lead_s) for time_s in self.breakpoints() for lead_s in leads}
        for start_s in [first, *sorted(time_s for time_s in later if time_s > first)]:
            if start_s > latest_s:
                break
            allocation = self._fit_at(job, start_s, duration_s, covering)
            if allocation is not None:
                return Fit(start_s, allocation)
        return None

    def reserve(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = Resource.ALL) -> None:
        """Take an allocation over ``[start_s, end_s)``; ValueError when it is not free there."""
        self._book(Booking(start_s, end_s, allocation, covering, 1))

    def release(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = Resource.ALL) -> None:
        """Give an allocation back over ``[start_s, end_s)``; ValueError when that gives more than the machine has."""
        self._book(Booking(start_s, end_s, allocation, covering, -1))

    def _book(self, booking: Booking) -> None:
        """Book an allocation kind by kind where its parts have lives of their own, all or nothing."""
        lives, before = booking.allocation.lives, list(self.bookings)
        if lives is None:
            self._book_whole(booking)
            return
        for kind in booking.covering:
            if kind is Resource.BURST_BUFFERS and not booking.allocation.storages:
                continue
            start_s, end_s = _span(lives, kind, booking.start_s, booking.end_s)
            try:
                self._book_whole(Booking(start_s, end_s, booking.allocation, kind, booking.sign))
            except ValueError:
                self.bookings = before
                raise

    def _book_whole(self, booking: Booking) -> None:
        if not self.now_s <= booking.start_s <= booking.end_s:
            raise ValueError(f"interval [{booking.start_s}, {booking.end_s}) must begin at {self.now_s} or later")
        self.bookings.append(booking)
        for time_s in [booking.start_s, *self._instants(booking.start_s, booking.end_s)]:
            if not self._possible(time_s):
                self.bookings.pop()
                raise ValueError(f"too much at {time_s}")

    def _possible(self, time_s: float) -> bool:
        """Whether bookings keep to the capacities, and no node is booked twice, also where a part is drained.

        Drained bytes are ignored here: they may be booked.
        """
        free = self._left_at(time_s)
        return (
            all(0 <= node <= 1 for node in free.nodes)
            and all(
                0 <= left <= s.capacity_bytes for left, s in zip(free.free_bytes, self.machine.storages, strict=True)
            )
            and all(
                0 <= left <= k.capacity_bytes_per_s for left, k in zip(free.bandwidth, self.machine.links, strict=True)
            )
            and all(0 <= left <= pool.count for left, pool in zip(free.pools, self.machine.pools, strict=True))
        )

    def _instants(self, after_s: float, before_s: float) -> list[float]:
        """Times at which some booking starts or ends, strictly between the two."""
        times = {time_s for booking in self.bookings for time_s in (booking.start_s, booking.end_s)}
        return sorted(time_s for time_s in times if after_s < time_s < before_s)

    def _fit_at(self, job: Job, start_s: float, duration_s: float, covering: Resource) -> Allocation | None:
        sets = [self.machine.partitions[one].nodes for one in job.partitions] or [range(len(self.machine.nodes))]
        found = (self._fit_on(sorted(one), job, start_s, duration_s, covering) for one in sets)
        return next((one for one in found if one is not None), None)

    def _fit_on(
        self, free: list[int], job: Job, start_s: float, duration_s: float, covering: Resource
    ) -> Allocation | None:
        lives, end_s = job.lives or Lives(), start_s + duration_s
        window, storage_window, links_window = (
            [self.free_at(time_s) for time_s in [begin, *self._instants(begin, end)]]
            for begin, end in (
                _span(lives, kind, start_s, end_s)
                for kind in (Resource.NODES, Resource.BURST_BUFFERS, Resource.BANDWIDTH)
            )
        )
        if Resource.NODES in covering:
            free = [node for node in free if all(instant.nodes[node] for instant in window)]
        bb_bytes = job.bb_bytes if Resource.BURST_BUFFERS in covering else 0
        io_rate = job.io_rate if Resource.BANDWIDTH in covering else 0
        bandwidth = _minima(instant.bandwidth for instant in links_window)
        free_bytes = _minima(instant.free_bytes for instant in storage_window)
        at_end = self._at_end(_span(lives, Resource.BURST_BUFFERS, start_s, end_s)[1])
        wanted = Wanted(job.nodes, bb_bytes, io_rate, job.stripes)
        striped = bb_bytes > 0 and job.stripes > 0
        layers = [place for place, pool in enumerate(self.machine.pools) if pool.layer is not None]
        pools = job.pools if Resource.POOLS in covering else ()
        if Resource.NODES in covering:
            restricted = only_on(self.machine, pools).values()
            free = [node for node in free if all(node in nodes for nodes in restricted)]
        pools = tuple(0 if self.machine.layer_mode(place) == 0 else amount for place, amount in enumerate(pools))
        plain = [0 if place in layers else amount for place, amount in enumerate(pools)]
        left = _minima(instant.pools for instant in window)
        if any(left[pool] < amount for pool, amount in enumerate(plain)):
            return None
        if plain == list(pools) or Resource.NODES not in covering:
            chosen = choose(self.machine, free, bandwidth, free_bytes, wanted, self.placement, at_end)
            held = tuple(plain) if layers else pools
            return None if chosen is None else Allocation(*chosen, bb_bytes, io_rate, job.lives, striped, held)
        racked = bb_bytes > 0 and not striped and self.placement.storage_order is StorageOrder.RACK
        own = free_bytes if racked else None
        for nodes, storages, taken in layered_nodes(self.machine, free, list(pools), left, bandwidth, wanted, own):
            chosen = (nodes, storages)
            if not racked:
                chosen = choose(self.machine, nodes, bandwidth, free_bytes, wanted, self.placement, at_end)
            if chosen is not None:
                held = tuple(max(amounts) for amounts in zip(plain, taken, strict=True))
                return Allocation(*chosen, bb_bytes, io_rate, job.lives, striped, held)
        return None

    def _at_end(self, end_s: float) -> AtEnd:
        """Free bytes of the storage nodes at a time, and since when."""
        free_bytes = self.free_at(self.now_s).free_bytes
        since_s = [self.now_s] * len(free_bytes)
        for time_s in [*self._instants(self.now_s, end_s), end_s]:
            before, free_bytes = free_bytes, self.free_at(time_s).free_bytes
            for storage, left in enumerate(free_bytes):
                if left != before[storage]:
                    since_s[storage] = time_s
        return AtEnd(free_bytes, since_s)


def _span(lives: Lives, kind: Resource, start_s: float, end_s: float) -> tuple[float, float]:
    """Interval of one kind of resource of a job that starts (to stage in) at ``start_s``; ``end_s`` is as much later
    as it has its nodes.
    """
    on_nodes_s, off_nodes_s = start_s + lives.storage_lead_s, end_s + lives.storage_lead_s
    if kind is Resource.BURST_BUFFERS:
        return start_s, max(start_s, off_nodes_s + lives.storage_tail_s)
    tail_s = lives.bandwidth_tail_s if kind is Resource.BANDWIDTH else 0.0
    return on_nodes_s, max(on_nodes_s, off_nodes_s + tail_s)


def _minima(rows: Iterable[list[int]]) -> list[int]:
    return [min(column) for column in zip(*rows, strict=True)]


def _take(machine: Machine, free: Free, booking: Booking) -> None:
    allocation, covering, sign = booking.allocation, booking.covering, booking.sign
    for node in allocation.nodes:
        if Resource.NODES in covering:
            free.nodes[node] -= sign
        if Resource.BANDWIDTH in covering:
            for link in links_above(machine, node):
                free.bandwidth[link] -= sign * allocation.io_rate
    if Resource.BURST_BUFFERS in covering:
        for storage in allocation.storages:
            free.free_bytes[storage] -= sign * allocation.bb_bytes
    if Resource.POOLS in covering:
        for pool, amount in enumerate(allocation.pools):
            free.pools[pool] -= sign * amount
