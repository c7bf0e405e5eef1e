"""Nodes and storage nodes that machine events took away, in a timeline: while they are out nothing of them is free.

A job that runs on such a node goes on (Batsim's rule). What it holds there is not booked while the node is out, as
nothing is free there anyway; it is booked again when the node is back. So a job's end, early or late, changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from spillway.schedulers.model.job import Allocation
from spillway.schedulers.policykit.view import Holding
from spillway.schedulers.timeline import Resource, Timeline


class Availability:
    """Books in a timeline what is not out; ``timeline`` is the session's own.

    Attributes
    ----------
    nodes, storages
        Those that are out.
    drained
        Bytes that are drained of storage nodes, by index; those that are out too count.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.nodes: set[int] = set()
        self.storages: set[int] = set()
        self.drained: dict[int, int] = {}

    def reserve(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = Resource.ALL) -> None:
        """Book an allocation (:meth:`spillway.schedulers.timeline.Timeline.reserve`) but for what is out."""
        if not (self.nodes or self.storages):
            self._timeline.reserve(start_s, end_s, allocation, covering)
            return
        for part, kinds in self._there(allocation, covering):
            self._timeline.reserve(start_s, end_s, part, kinds)

    def release(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = Resource.ALL) -> None:
        """Give an allocation back (:meth:`spillway.schedulers.timeline.Timeline.release`) but for what is out."""
        if not (self.nodes or self.storages):
            self._timeline.release(start_s, end_s, allocation, covering)
            return
        for part, kinds in self._there(allocation, covering):
            self._timeline.release(start_s, end_s, part, kinds)

    def close(self, nodes: Collection[int], storages: Collection[int]) -> None:
        """Nodes and storage nodes are out from now on; taking one away twice changes nothing."""
        self._timeline.close(nodes, storages)
        self.nodes.update(nodes)
        self.storages.update(storages)

    def open(self, nodes: Collection[int], storages: Collection[int], held: Iterable[Holding], now_s: float) -> None:
        """Nodes and storage nodes are back.

        Parameters
        ----------
        held
            All that is booked; what lies there is booked again.
        """
        back, filled = self.nodes.intersection(nodes), self.storages.intersection(storages)
        self._timeline.reopen(back, filled)
        for storage in filled.intersection(self.drained):
            self._timeline.drain(storage, self.drained[storage])
        self.nodes -= back
        self.storages -= filled
        for holding in held:
            if holding.end_s > now_s:
                for part, kinds in _parts_on(holding, back, filled):
                    self._timeline.reserve(now_s, holding.end_s, part, kinds)

    def drain(self, storage: int, drained: int) -> None:
        """So many bytes of a storage node are drained from now on, in all; 0: none."""
        if drained:
            self.drained[storage] = drained
        else:
            self.drained.pop(storage, None)
        if storage not in self.storages:
            self._timeline.drain(storage, drained)

    def _there(self, allocation: Allocation, covering: Resource) -> list[tuple[Allocation, Resource]]:
        """The parts of an allocation that are not out, with the kinds that count of each."""
        if self.nodes.isdisjoint(allocation.nodes) and self.storages.isdisjoint(allocation.storages):
            return [(allocation, covering)]
        nodes = tuple(node for node in allocation.nodes if node not in self.nodes)
        storages = tuple(one for one in allocation.storages if one not in self.storages)
        parts = (
            (Allocation(nodes), Resource.NODES),
            (Allocation((), storages, allocation.bb_bytes), Resource.BURST_BUFFERS),
            (Allocation(allocation.nodes, io_rate=allocation.io_rate), Resource.BANDWIDTH),
        )
        return [(part, kind) for part, kind in parts if kind in covering]


def _parts_on(holding: Holding, nodes: set[int], storages: set[int]) -> list[tuple[Allocation, Resource]]:
    """What of a holding lies on these nodes and storage nodes."""
    allocation = holding.allocation
    found = []
    if Resource.NODES in holding.covering and not nodes.isdisjoint(allocation.nodes):
        found.append((Allocation(tuple(node for node in allocation.nodes if node in nodes)), Resource.NODES))
    if Resource.BURST_BUFFERS in holding.covering and not storages.isdisjoint(allocation.storages):
        there = tuple(one for one in allocation.storages if one in storages)
        found.append((Allocation((), there, allocation.bb_bytes), Resource.BURST_BUFFERS))
    return found
