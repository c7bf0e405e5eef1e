"""A machine as the arrays that the timeline's kernels read, their scratch memory, and their codes in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import CountedPool, Machine
from spillway.schedulers.timeline import layout
from spillway.schedulers.timeline.layers import Choice, choices, layers_by_node
from spillway.schedulers.timeline.placement import NodeOrder, Placement, StorageOrder, own_storages

_NODE_ORDERS = {
    NodeOrder.FIRST_FIT: layout.FIRST_FIT,
    NodeOrder.SPREAD: layout.SPREAD,
    NodeOrder.PACK: layout.PACK,
}
_STORAGE_ORDERS = {
    StorageOrder.NEAREST: layout.NEAREST,
    StorageOrder.BY_ID: layout.BY_ID,
    StorageOrder.RACK: layout.RACK,
    StorageOrder.FULLEST: layout.FULLEST,
    StorageOrder.FULLEST_AT_END: layout.FULLEST_AT_END,
    StorageOrder.EMPTIEST: layout.EMPTIEST,
    StorageOrder.LEAST_LOADED: layout.LEAST_LOADED,
    StorageOrder.COMPACT: layout.COMPACT,
    StorageOrder.SPREAD: layout.SPREAD_OUT,
    StorageOrder.EQUAL: layout.EQUAL,
}
_KNOWN = 32
_LARGEST_SUM = 2**62
_LARGEST_EXACT = 2**53
"""Whole numbers below this are exact in a double; the kernels divide storage sizes as doubles."""


class Tables:
    """Constant data of a timeline, shared by all its copies.

    Parameters
    ----------
    machine
        The machine.
    placement
        Rules for nodes and storages.

    Attributes
    ----------
    capacity
        ``int64[width]``: the row of the empty machine (layout: :mod:`spillway.schedulers.timeline.layout`).
    words, storages, links, pools
        Slices of a row.
    for_kernels
        A :class:`spillway.schedulers.timeline.layout.Machine`, as a plain tuple; :meth:`demand` may replace it when it
        gets a job with new partitions or new amounts of pools, :meth:`widen` always does.
    for_booking
        A :class:`spillway.schedulers.timeline.layout.Tree`, as a plain tuple; replaced together with it.
    booked
        ``int64[pools]``: part of it, to be filled before a booking where there are pools (``pooled``).
    scratch
        A :class:`spillway.schedulers.timeline.layout.Scratch`, as a plain tuple; :meth:`make_room` may replace it.
    usage, chosen
        Parts of it.
    segments
        Most segments of a timeline that it can serve.
    last, indices
        The allocation that was found or booked last, and its nodes and storages as arrays: most are booked twice in
        turn.
    known
        :meth:`demand` of all resources of recent jobs: most are searched twice in turn.
    steady, racks, stacked
        Whether choices of fits stay (:attr:`spillway.schedulers.timeline.Placement.steady`), only storages of a node's
        own rack serve it, and jobs share nodes in time.
    layered
        Whether some of the pools are layers of hierarchical resources.

    Raises
    ------
    ValueError
        For a storage node of 2^53 bytes or more, and when sums of capacities could exceed 64 bits.
    """

    def __init__(self, machine: Machine, placement: Placement) -> None:
        self.machine = machine
        self.placement = placement
        self.steady, self.racks = placement.steady, placement.storage_order is StorageOrder.RACK
        self.stacked = machine.rows > 1
        self.known: dict[Job, layout.Row] = {}
        self.last: Allocation
        self.indices: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
        self.node_count = len(machine.nodes)
        self.link_count = len(machine.links)
        self.word_count = (self.node_count + 63) // 64
        sizes = [storage.capacity_bytes for storage in machine.storages]
        bandwidth = [link.capacity_bytes_per_s for link in machine.links]
        self.total_bytes = sum(sizes)
        self.largest_bytes = max(sizes, default=0)
        self.widest_rate = max(bandwidth, default=0)
        self._check_sizes(len(sizes))
        first = layout.HEAD + self.word_count
        self.words = slice(layout.HEAD, first)
        self.storages = slice(first, first + len(sizes))
        self.links = slice(first + len(sizes), first + len(sizes) + len(bandwidth))
        counts = [pool.count for pool in machine.pools]
        self.pools = slice(self.links.stop, self.links.stop + len(counts))
        self.capacity = np.array(
            [self.node_count, self.total_bytes, *[0] * self.word_count, *sizes, *bandwidth, *counts], np.int64
        )
        self.capacity[self.words] = bitset(range(self.node_count), self.word_count)
        node_link = np.full(self.node_count, -1, np.int32)
        if machine.links:
            node_link[:] = machine.node_link
        parents = np.array([link.parent for link in machine.links], np.int32)
        nearest = np.ascontiguousarray(machine.nearest_storages, np.int32).reshape(self.node_count, len(sizes))
        self.usage = np.zeros(len(self.capacity), np.int64)
        own = np.zeros(self.node_count, np.int32)
        if self.racks:
            own[:] = [len(own_storages(machine, node)) for node in range(self.node_count)]
        self.storage_count = len(sizes)
        self.chosen = np.zeros((2, max(self.node_count, len(sizes))), np.int32)
        self._by_node = layers_by_node(machine)
        self._layers = frozenset(place for place, pool in enumerate(machine.pools) if pool.layer is not None)
        self.layered = bool(self._layers)
        self._sets: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {((), ()): 0}
        self._set_count = 1 + len(self._by_node)
        self.booked, self.pooled = np.zeros(len(counts), np.int64), bool(counts)
        self._machine_for_kernels = layout.Machine(
            words=self.word_count,
            storages=len(sizes),
            node_order=_NODE_ORDERS[placement.node_order],
            storage_order=_STORAGE_ORDERS[placement.storage_order],
            nearest=nearest,
            own=own,
            node_link=node_link,
            parents=parents,
            groups=_groups(node_link, self.link_count),
            sets=np.concatenate([self._set_row(Choice(range(self.node_count))), *map(self._layer_row, self._by_node)]),
        )
        self._for_all_kernels()
        self._below = _nodes_below(node_link, parents)
        self.keep(Allocation(()))
        self.segments = 0
        self.make_room(28)

    def _for_all_kernels(self) -> None:
        """Make the kernels' arguments about the machine again, after a part of it has changed."""
        machine = self._machine_for_kernels
        self.for_kernels = tuple(machine)
        self.for_booking = tuple(
            layout.Tree(machine.words, machine.storages, machine.node_link, machine.parents, self.capacity, self.booked)
        )

    def widen(self, pools: tuple[CountedPool, ...]) -> None:
        """Append counted pools: ``pools`` are the present and the new ones."""
        more = [pool.count for pool in pools[len(self.machine.pools) :]]
        self.machine = dataclasses.replace(self.machine, pools=pools)
        self.known.clear()
        self.capacity = np.concatenate([self.capacity, np.array(more, np.int64)])
        self.pools = slice(self.pools.start, len(self.capacity))
        self.usage = np.zeros(len(self.capacity), np.int64)
        self.booked, self.pooled = np.zeros(len(pools), np.int64), bool(pools)
        sets = self._machine_for_kernels.sets
        sets = np.concatenate([sets, np.zeros((len(sets), len(more)), np.int64)], axis=1)
        self._machine_for_kernels = self._machine_for_kernels._replace(sets=sets)
        self._for_all_kernels()
        segments, self.segments = self.segments // 2, 0
        self.make_room(segments)

    def make_room(self, segments: int) -> None:
        """Ensure scratch memory for timelines of ``segments`` segments; makes a new :attr:`scratch` if needed."""
        if segments <= self.segments:
            return
        self.segments = 2 * segments
        work = np.zeros((layout.BACK + self.segments, len(self.capacity)), np.int64)
        work[layout.FULL] = self.capacity
        work[layout.BELOW, self.links] = self._below
        self.scratch = (work, self.usage, self.chosen)

    def keep(self, allocation: Allocation) -> None:
        """Make an allocation :attr:`last`."""
        self.last = allocation
        self.indices = np.array(allocation.nodes, np.int32), np.array(allocation.storages, np.int32)

    def demand(self, job: Job, uses: int) -> layout.Row | None:
        """Return a job's demand for these resources (``USE_...``), or ``None`` if the empty machine cannot meet it.

        The result is a :class:`spillway.schedulers.timeline.layout.Demand` as a plain tuple.
        """
        row = self._demand(job, uses)
        if uses == layout.USE_ALL and row is not None:
            if len(self.known) >= _KNOWN:
                self.known.clear()
            self.known[job] = row
        return row

    def _demand(self, job: Job, uses: int) -> layout.Row | None:
        nodes, bb_bytes, io_rate, requests = job.nodes, job.bb_bytes, job.io_rate, job.requests
        if not bb_bytes or not uses & layout.USE_STORAGES:
            uses &= ~layout.USE_STORAGES
            bb_bytes = 0
        elif bb_bytes > self.largest_bytes or requests * bb_bytes > self.total_bytes:
            return None
        elif job.stripes:
            if job.stripes > self.storage_count:
                return None
            uses |= layout.STRIPED
        if not io_rate or not self.link_count or not uses & layout.USE_LINKS:
            uses &= ~layout.USE_LINKS
            io_rate = 0
        elif io_rate > self.widest_rate:
            io_rate = self.widest_rate + 1  # as impossible, but small enough to be multiplied
        if not 0 < nodes <= self.node_count:
            return None
        if not job.pools or not uses & layout.USE_POOLS:
            uses &= ~layout.USE_POOLS
            return nodes, bb_bytes, io_rate, uses, requests, self.first_set(job.partitions) if job.partitions else 0
        uses, pools = self._of_pools(job.pools, uses)
        first_set = self.first_set(job.partitions, pools)
        return None if first_set < 0 else (nodes, bb_bytes, io_rate, uses, requests, first_set)

    def _of_pools(self, pools: tuple[int, ...], uses: int) -> tuple[int, tuple[int, ...]]:
        """Return the flags of a demand for these pools, and its amounts: without nodes those of layers are 0."""
        requested = [self.machine.layer_mode(place) for place in self._layers if place < len(pools) and pools[place]]
        if uses & layout.USE_NODES or not requested:
            return uses | (layout.LAYERED if any(requested) else 0), pools
        return uses, tuple(0 if place in self._layers else amount for place, amount in enumerate(pools))

    def first_set(self, partitions: tuple[int, ...], pools: tuple[int, ...] = ()) -> int:
        """Row of the first set of nodes of these partitions with these amounts of pools; the other sets follow it.

        -1 if the empty machine cannot meet the amounts.
        """
        found = self._sets.get((partitions, pools))
        if found is None:
            nodes: list[Iterable[int]] = [self.machine.partitions[one].nodes for one in partitions]
            every = nodes or [range(self.node_count)]
            rows = [self._set_row(choice) for one in every for choice in choices(self.machine, one, pools)]
            for place, row in enumerate(rows):
                row[0, layout.FREE_BYTES] = len(rows) - 1 - place
            found = self._sets[partitions, pools] = self._set_count if rows else -1
            if rows:
                self._add_sets(rows)
        return found

    def _add_sets(self, rows: list[npt.NDArray[np.int64]]) -> None:
        """Put these rows behind the sets in use."""
        sets, count = self._machine_for_kernels.sets, self._set_count + len(rows)
        if count > len(sets):
            room = np.zeros((2 * count, sets.shape[1]), np.int64)
            room[: self._set_count] = sets[: self._set_count]
            self._machine_for_kernels = self._machine_for_kernels._replace(sets=room)
            self._for_all_kernels()
            sets = room
        sets[self._set_count : count] = np.concatenate(rows)
        self._set_count = count

    def _set_row(self, choice: Choice) -> npt.NDArray[np.int64]:
        """A set of nodes and amounts of pools, as the kernels read them: a table with one row."""
        parts = [np.zeros(layout.HEAD, np.int64), bitset(choice.nodes, self.word_count)]
        if self.layered:
            by_node = np.zeros(len(self._by_node), np.int64)
            by_node[: len(choice.by_node)] = choice.by_node
            parts += [bitset(choice.needed, self.word_count), by_node]
        amounts = np.zeros(len(self.machine.pools), np.int64)
        amounts[: len(choice.amounts)] = choice.amounts
        row = np.concatenate([*parts, amounts])
        row[layout.FREE_NODES] = len(choice.nodes)
        return row.reshape(1, -1)

    def _layer_row(self, place: int) -> npt.NDArray[np.int64]:
        """A layer, by its place among the pools, as the kernels read it: a table with one row."""
        row, layer = self._set_row(Choice(self.machine.layer_nodes(place))), self.machine.pools[place].layer
        row[0, layout.MODE], row[0, layout.POOL] = 0 if layer is None else layer.mode, place
        return row

    def explain(
        self,
        code: int,
        start_s: float,
        times: npt.NDArray[np.float64],
        rows: npt.NDArray[np.int64],
        allocation: Allocation,
        sign: int,
    ) -> str:
        """Describe a booking's fault by its code (:func:`spillway.schedulers.timeline.fit_kernels.book_checked`)."""
        if code in _BAD:
            what = _BAD[code].format(nodes=self.node_count, storages=self.storages.stop - self.storages.start)
            return f"{what}; got {allocation}"
        segment = -1 - code
        row = rows[segment]
        verb = "reserve" if sign > 0 else "release"
        return f"cannot {verb} at {max(times.item(segment), start_s)} s: {self._conflict(row, sign)}"

    def _conflict(self, row: npt.NDArray[np.int64], sign: int) -> str:
        """Name the first resource of a row that conflicts with the usage in the scratch memory."""
        words, taken = row[self.words], self.usage[self.words]
        wrong = taken & (~words if sign > 0 else words)
        if wrong.any():
            node = next(i for i in range(self.node_count) if int(wrong[i // 64]) >> (i % 64) & 1)
            return f"node {self.machine.nodes[node].name} is {'not free' if sign > 0 else 'free already'}"
        names = [f"storage {storage.name}" for storage in self.machine.storages]
        names += [f"link {link.name}" for link in self.machine.links]
        names += [pool.name for pool in self.machine.pools]
        first = self.storages.start
        for name, free, size, most in zip(names, row[first:], self.usage[first:], self.capacity[first:], strict=True):
            if sign > 0 and size > free:
                return f"{name} has {free} free of {most}, {size} requested"
            if sign < 0 and free + size > most:
                return f"{name} has {free} free of {most}, {size} more is too much"
        raise AssertionError("a conflict without a cause")

    def _check_sizes(self, storages: int) -> None:
        for what, number, largest in (
            ("storage capacity x number of storages", storages, self.largest_bytes),
            ("link capacity x number of nodes", self.node_count, self.widest_rate + 1),
        ):
            if number * largest >= _LARGEST_SUM:
                raise ValueError(f"{what} must stay below 2^62, got {number} x {largest}")
        if self.largest_bytes >= _LARGEST_EXACT:
            raise ValueError(f"a storage node must offer less than 2^53 bytes (9 PB), got {self.largest_bytes}")


_BAD = {
    layout.BAD_NODE: "node indices must lie between 0 and {nodes} - 1 and occur once",
    layout.BAD_STORAGE: "storage indices must lie between 0 and {storages} - 1",
    layout.BAD_COUNT: "with nodes there must be one storage per node, or no storage, unless the buffer is striped",
}


def bitset(nodes: Iterable[int], words: int) -> npt.NDArray[np.int64]:
    """Convert node indices to a bitset of 64-bit words: node ``i`` is bit ``i % 64`` of word ``i // 64``."""
    bits = np.zeros(words * 64, np.uint8)
    bits[list(nodes)] = 1
    return np.packbits(bits, bitorder="little").view(np.int64)


def _nodes_below(node_link: npt.NDArray[np.int32], parents: npt.NDArray[np.int32]) -> list[int]:
    """Number of nodes below each link, directly or not."""
    below: list[int] = np.bincount(node_link + 1, minlength=len(parents) + 1)[1:].tolist()
    for link in range(len(parents) - 1, -1, -1):  # every link comes after its parent
        if parents[link] >= 0:
            below[parents[link]] += below[link]
    return below


def _groups(node_link: npt.NDArray[np.int32], links: int) -> npt.NDArray[np.int64]:
    """Rows ``(link, word, bits)`` of the nodes directly under each link; nodes without link come under ``links``."""
    if not links:
        return np.zeros((0, 3), np.int64)
    members: dict[tuple[int, int], int] = {}
    for node, link in enumerate(node_link.tolist()):
        key = (link if link >= 0 else links, node // 64)
        members[key] = members.get(key, 0) | 1 << (node % 64)
    rows = [(link, word, bits) for (link, word), bits in sorted(members.items())]
    return np.array(rows, np.uint64).view(np.int64)
