"""Constant I/O streams beside computation, under the contention model of Herbein et al. (HPDC 2016, section 4.4).

A task computes for ``max(flops / speed)`` over its hosts, and its transfer between a compute host and a storage host
is a stream of constant rate over that time. If the requests of links exceed their bandwidth, it is shared by
water-filling from the file system down, a task gets the share of its worst host, and computes at that share of its
speed (interference factor). Transfers between compute hosts, and latencies, take no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

import spillway.core as core
from spillway.platforms.model import Platform
from spillway.simulator.engines.base import AllToAll, Comm, Matrix, NoComm, Pairs, TaskError, TaskSpec
from spillway.simulator.engines.batch import listed
from spillway.simulator.engines.io_links import io_tree
from spillway.simulator.engines.native import NativeEngine


class Stream(NamedTuple):
    """Record of one task that has ended.

    Attributes
    ----------
    host
        Its first host: identifies the job, together with the start.
    start_s, end_s
        Its start, and its end or removal.
    computing_s
        Time spent computing; in the remaining time it was blocked on I/O.
    """

    host: int
    start_s: float
    end_s: float
    computing_s: float


class WaterfillEngine(NativeEngine):
    """See :class:`spillway.simulator.engines.base.Engine`; streams keep their rates when the speed of a host changes.

    Parameters
    ----------
    platform
        Its hosts must state the links above them (``io_path``).
    whole_units
        The authors' arithmetic: bandwidth in whole MB/s.
    keep_streams
        Whether to record every task that ended or was removed.
    """

    ends_at_once: ClassVar[bool] = True
    _native: core.WaterfillEngine

    def __init__(self, platform: Platform, whole_units: bool = False, keep_streams: bool = False) -> None:
        stores = [host.properties.get("role") == "storage" for host in platform.hosts]
        tree = io_tree(platform, whole_units)
        super().__init__(platform, core.WaterfillEngine(platform.speeds.tolist(), stores, tree, keep_streams))

    def _batch(self, tasks: Sequence[TaskSpec]) -> core.Batch:
        """The tasks with their transfers in the given order, in which bytes are added up."""
        hosts, ends, work, each, *_ = listed(tasks, self._hosts)
        flows = [list(_flows(task)) for task in tasks]
        pair_ends = np.cumsum([0, *map(len, flows)]).tolist()
        columns = [list(column) for column in zip(*(flow for part in flows for flow in part), strict=True)]
        batch = core.Batch(hosts, ends, work, each, pair_ends, *(columns or ([], [], [])))
        if not self._native.plays(batch):
            raise TaskError(
                "the engine 'waterfill' plays streams beside computation only; this task moves bytes to or from a "
                "storage host without computing: use the engine 'fluid'"
            )
        return batch

    @property
    def contended_s(self) -> float:
        """Time so far during which some task got less than it requested."""
        return self._native.contended_s

    @property
    def busy_s(self) -> float:
        """Time so far during which some task ran."""
        return self._native.busy_s

    @property
    def streams(self) -> list[Stream]:
        """Records of the tasks that ended or were removed, if they are kept."""
        return [Stream(*one) for one in self._native.streams]


def _flows(task: TaskSpec) -> Iterator[tuple[int, int, float]]:
    """Transfers of a task as (source host, destination host, bytes); all-to-alls stay among compute hosts."""
    for part in task.comm if isinstance(task.comm, tuple) else (task.comm,):
        for source, target, amount in _pairs(part):
            yield task.hosts[source], task.hosts[target], amount


def _pairs(comm: Comm) -> Iterator[tuple[int, int, float]]:
    if isinstance(comm, Pairs):
        yield from zip(*(np.asarray(part).tolist() for part in (comm.src, comm.dst, comm.bytes)), strict=True)
    elif isinstance(comm, Matrix):
        sources, targets = np.nonzero(comm.bytes)
        yield from zip(sources.tolist(), targets.tolist(), comm.bytes[sources, targets].tolist(), strict=True)
    else:
        assert isinstance(comm, NoComm | AllToAll)
