"""Who held how much of which burst buffer when."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from matplotlib.axes import Axes

from analysis.plots.rectangles import Rectangle, draw_rectangles
from analysis.plots.style import FAINT, PALETTE, new_axes, set_title, time_unit
from analysis.tables import JobTable, parse_storages


def storage_gantt(
    table: JobTable,
    ax: Axes | None = None,
    *,
    begin_s: float = 0.0,
    end_s: float | None = None,
    title: str = "Burst buffers",
) -> Axes:
    """Draw one lane per storage node, as high as its capacity, and in it the bytes that each job held over time.

    Where a request lies within its lane has no meaning (capacity has no addresses); it may be split when the free
    room is. Lanes need ``machine.json`` and ``allocations.csv`` beside ``jobs.csv``.

    Parameters
    ----------
    table
        A run.
    ax
        Where to draw; a new figure by default.
    begin_s, end_s
        Part of the simulated time to show; default: all of it.
    title
        Above the chart.
    """
    ax = new_axes(ax, 11.0, 4.6)
    ran = table.ran()
    end_s = float(ran.finish_s.max(initial=begin_s + 1)) if end_s is None else end_s
    ran = ran.only((ran.finish_s > begin_s) & (ran.start_s < end_s))
    scale, unit = time_unit(end_s - begin_s)
    storages = table.machine.storages
    lanes = {storage.id: _Lane(storage.capacity_bytes) for storage in storages}
    row_of = {storage.id: row for row, storage in enumerate(storages)}
    rectangles: list[Rectangle] = []
    faces: list[str] = []
    for job in ran.start_s.argsort(kind="stable"):
        left, right = max(ran.start_s[job], begin_s) / scale, min(ran.finish_s[job], end_s) / scale
        for storage, count in parse_storages(ran.storages[job]).items():
            lane = lanes[storage]
            for low, high in lane.take(ran.start_s[job], ran.finish_s[job], int(count * ran.bb_bytes[job])):
                bottom = row_of[storage] + 0.94
                height = 0.88 / lane.capacity
                rectangles.append((left, right, bottom - high * height, bottom - low * height))
                faces.append(PALETTE[job % len(PALETTE)])
    for row in range(len(storages)):
        ax.axhspan(row + 0.06, row + 0.94, color="#F4F4F4", zorder=0, linewidth=0)
        ax.axhline(row + 0.94, color=FAINT, linewidth=0.6, zorder=0)
    draw_rectangles(ax, rectangles, faces)
    ax.set_xlim(begin_s / scale, end_s / scale)
    ax.set_ylim(len(storages), 0)
    ax.set_yticks([row + 0.5 for row in range(len(storages))], [storage.name for storage in storages])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"simulated time ({unit}); full height of a lane: the storage node's capacity")
    set_title(ax, title)
    return ax


@dataclass
class _Lane:
    """Free room of one storage node as ranges of made-up addresses, first fit."""

    capacity: int
    _free: list[tuple[int, int]] = field(init=False)
    _held: list[tuple[float, int, list[tuple[int, int]]]] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self._free = [(0, self.capacity)]

    def take(self, start_s: float, end_s: float, size: int) -> list[tuple[int, int]]:
        """Take ``size`` bytes from ``start_s`` to ``end_s`` (starts must not go back); return the ranges."""
        while self._held and self._held[0][0] <= start_s:
            self._free = _merged(self._free + heapq.heappop(self._held)[2])
        taken: list[tuple[int, int]] = []
        rest: list[tuple[int, int]] = []
        for low, high in self._free:
            part = min(size, high - low)
            if part > 0:
                taken.append((low, low + part))
                size -= part
            if low + part < high:
                rest.append((low + part, high))
        self._free = rest
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
