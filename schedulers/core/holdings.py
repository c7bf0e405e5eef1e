"""Holdings of jobs, part by part: kinds of resources over an interval, and the parts that remain after a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from spillway.schedulers.core.allocation import without
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Holding, Running
from spillway.schedulers.timeline import Resource

OVERDUE_S = 1e-3
"""Expected remaining time of a job that has outlived its estimate (s). Batsim reports a walltime kill one network
latency after the walltime; until then the nodes are not free."""


class Part(msgspec.Struct, eq=False):
    """Kinds of resources that a job holds over one interval.

    ``tail_s``: time from the expected end of the nodes to that of this part; ``extension_s``: extension of its booking
    whenever the job outlives it; ``extra``: nodes by which the job was expanded, or which it will leave before its end.
    """

    job: Job
    covering: Resource
    allocation: Allocation
    start_s: float
    end_s: float
    tail_s: float = 0.0
    extension_s: float = OVERDUE_S
    extra: bool = False

    def as_holding(self) -> Holding:
        """The part as policies see it."""
        return Holding(self.covering, self.allocation, self.start_s, self.end_s)


class Held(NamedTuple):
    """Resources of a job, kind by kind: one and the same allocation while no kind was given back without the others.

    Attributes
    ----------
    nodes, storage, links
        Each counts for its own kind only. The nodes of ``storage`` and ``links`` are those for which the requests and
        the bandwidth were granted; they may have been given back.
    """

    nodes: Allocation
    storage: Allocation
    links: Allocation

    def as_one(self) -> Allocation:
        """All kinds together; where they differ, the storages need not correspond to the nodes one by one."""
        if self.nodes is self.storage is self.links:
            return self.nodes
        storages = self.storage.storages
        bb_bytes = self.storage.bb_bytes if storages else 0
        io_rate = self.links.io_rate if self.links.nodes else 0
        pools = self.nodes.pools
        return Allocation(self.nodes.nodes, storages, bb_bytes, io_rate, striped=self.storage.striped, pools=pools)


def bare(allocation: Allocation, *, counted: bool = True) -> Allocation:
    """An allocation without its storages, and without its pools where these are not held any more."""
    return Allocation(allocation.nodes, (), 0, allocation.io_rate, pools=allocation.pools if counted else ())


def left_of(part: Part, kinds: Resource, nodes: Collection[int] | None) -> list[Part]:
    """Parts that remain of one after some of its kinds were given back, for all or for some nodes."""
    left = []
    if part.covering & ~kinds:
        left.append(msgspec.structs.replace(part, covering=part.covering & ~kinds))
    if nodes is not None:
        kept = without(part.allocation, nodes)
        if kept.nodes:
            left.append(msgspec.structs.replace(part, covering=kinds, allocation=kept))
    return left


def parts_on(holding: Holding, nodes: set[int], storages: set[int]) -> list[tuple[Allocation, Resource]]:
    """Parts of a holding on these nodes and storage nodes."""
    allocation = holding.allocation
    found = []
    if Resource.NODES in holding.covering and not nodes.isdisjoint(allocation.nodes):
        found.append((Allocation(tuple(node for node in allocation.nodes if node in nodes)), Resource.NODES))
    if Resource.BURST_BUFFERS in holding.covering and not storages.isdisjoint(allocation.storages):
        there = tuple(one for one in allocation.storages if one in storages)
        found.append((Allocation((), there, allocation.bb_bytes), Resource.BURST_BUFFERS))
    return found


def until(holding: Holding, end_s: float) -> Holding:
    """A holding with its end at ``end_s``."""
    return msgspec.structs.replace(holding, end_s=end_s)


class RunningJobs(Sequence[Running]):
    """Running jobs in order of their starts, as a sequence that is built only when a policy reads it."""

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
