"""Places of burst-buffer requests in the lanes of a chart: capacity has no addresses, pictures need them."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from spillway.analysis.tables.holdings import storage_spans
from spillway.analysis.tables.jobs import JobTable, MachineInfo

_NUMBERED = re.compile(r"g(\d+)")


def lane_names(machine: MachineInfo) -> list[str]:
    """Names of storage nodes: by their place, and by their group where the machine has groups."""
    groups = [_NUMBERED.sub(r"group \1", host.group) for host in machine.storages]
    return [f"storage {row} ({group})" if group else f"storage {row}" for row, group in enumerate(groups)]


def unbroken(rows: list[int]) -> list[tuple[int, int]]:
    """First and last of each unbroken run of ascending rows."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs


class _Piece(NamedTuple):
    """Part of a job's request on one storage node: bytes ``[low, high)`` of its lane.

    Attributes
    ----------
    job
        Row in the table.
    storage
        Position in the machine's storage nodes.
    low, high
        Made-up addresses in bytes.
    start_s, end_s
        Interval in which they were held (s).
    """

    job: int
    storage: int
    low: int
    high: int
    start_s: float
    end_s: float


def pieces(table: JobTable) -> list[_Piece]:
    """Place the requests of all jobs (which must have run), first fit; a request is split over gaps."""
    lanes = {host.id: (row, _Lane(host.capacity_bytes)) for row, host in enumerate(table.machine.storages)}
    found: list[_Piece] = []
    for span in sorted(storage_spans(table), key=attrgetter("start_s")):  # stable: equal starts keep their order
        row, lane = lanes[span.storage]
        taken = lane.take(span.start_s, span.end_s, span.size)
        found += [_Piece(span.job, row, low, high, span.start_s, span.end_s) for low, high in taken]
    return found


@dataclass
class _Lane:
    """Free bytes of one storage node as ranges of made-up addresses, first fit."""

    capacity: int
    _free: list[tuple[int, int]] = field(init=False)
    _held: list[tuple[float, int, list[tuple[int, int]]]] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self._free = [(0, self.capacity)] if self.capacity else []

    def take(self, start_s: float, end_s: float, size: int) -> list[tuple[int, int]]:
        """Take ``size`` bytes from ``start_s`` to ``end_s`` (starts must not go back); return the ranges."""
        free = self._free
        while self._held and self._held[0][0] <= start_s:
            free = free + heapq.heappop(self._held)[2]
        if free is not self._free:
            free = _merged(free)
        taken: list[tuple[int, int]] = []
        rest = len(free)
        for place, (low, high) in enumerate(free):
            if size <= 0:
                rest = place
                break
            part = min(size, high - low)
            taken.append((low, low + part))
            size -= part
            if low + part < high:
                free = [(low + part, high), *free[place + 1 :]]
                rest = 0
                break
        self._free = free[rest:]
        self._count += 1
        heapq.heappush(self._held, (end_s, self._count, taken))
        return taken


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and merged[-1][1] == low:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged
