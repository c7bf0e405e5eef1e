"""Which nodes are planned for whom, as Slurm's backfill scheduler keeps it: sets of nodes over intervals.

Sets of nodes are integers with a bit for each node. What runs and what is planned are apart: running jobs are expected
to leave one after another, reservations stand over intervals.

References
----------
Slurm 22.05, ``sched/backfill`` (reservations, next candidates) and ``select/linear`` (expected ends, choice of nodes).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline import Resource


class Plan(NamedTuple):
    """When a job is expected to start (s), and on which nodes."""

    start_s: float
    nodes: int


class NodeSpace:
    """What is idle, when the rest is expected to be left, and what is reserved.

    Parameters
    ----------
    now_s
        Current time, s.
    idle
        Nodes that are free now.
    leaving
        Nodes that running jobs hold, with the times at which they are expected to leave (s).
    """

    __slots__ = ("_free", "_leaving", "_times", "idle", "now_s")

    def __init__(self, now_s: float, idle: int, leaving: Iterable[tuple[float, int]]) -> None:
        self.now_s = now_s
        self.idle = idle
        self._leaving = sorted(leaving)
        usable = idle
        for _, nodes in self._leaving:
            usable |= nodes
        self._times = [now_s]
        """Begins of segments; the last one is endless."""
        self._free = [usable]
        """Nodes without a reservation, in each segment."""

    @classmethod
    def of(cls, view: View) -> NodeSpace:
        """Build one from what a policy sees, without reservations; nodes that are out are in no set."""
        usable = (1 << len(view.machine.nodes)) - 1 & ~mask_of(view.unavailable)
        idle, leaving = usable, []
        for running in view.running:
            for holding in running.holdings:
                if Resource.NODES in holding.covering:
                    held = mask_of(holding.allocation.nodes)
                    idle &= ~held
                    leaving.append((holding.end_s, held & usable))
        space = cls(view.now_s, idle, leaving)
        for taken in view.taken:
            space.reserve(taken.start_s, taken.end_s, mask_of(taken.nodes))
        return space

    def reserve(self, begin_s: float, end_s: float, nodes: int) -> None:
        """Keep nodes over an interval; an empty one keeps nothing, and nothing is kept before now."""
        begin_s = max(begin_s, self.now_s)
        if begin_s < end_s:
            first, last = self._split(begin_s), self._split(end_s)
            for segment in range(first, last):
                self._free[segment] &= ~nodes

    def _split(self, time_s: float) -> int:
        """The segment that begins at a time from now on, made if there is none; past the last one for infinity."""
        segment = bisect_left(self._times, time_s)
        if time_s < math.inf and (segment == len(self._times) or self._times[segment] > time_s):
            self._times.insert(segment, time_s)
            self._free.insert(segment, self._free[segment - 1])
        return segment

    def start(self, nodes: int, end_s: float) -> None:
        """Nodes are idle no more: a job was started that is expected to leave at ``end_s``."""
        self.idle &= ~nodes
        self._leaving.append((end_s, nodes))
        self._leaving.sort()

    def unreserved(self, begin_s: float, end_s: float) -> int:
        """Nodes without a reservation in ``[begin_s, end_s]``."""
        nodes = -1
        for segment in range(bisect_right(self._times, begin_s) - 1, bisect_right(self._times, end_s)):
            nodes &= self._free[segment]
        return nodes

    def overlaps(self, begin_s: float, end_s: float, nodes: int) -> bool:
        """Whether some of the nodes are reserved for a part of ``[begin_s, end_s)``, now or later."""
        first = bisect_right(self._times, max(begin_s, self.now_s)) - 1
        return any(nodes & ~self._free[segment] for segment in range(first, bisect_left(self._times, end_s)))

    def candidate_after(self, time_s: float) -> float:
        """The next time at which nodes come free that were reserved before (s); infinite if none."""
        for segment in range(bisect_right(self._times, time_s), len(self._times)):
            if self._free[segment] & ~self._free[segment - 1]:
                return self._times[segment]
        return math.inf

    def will_run(self, nodes: int, count: int) -> Plan | None:
        """When ``count`` of some nodes are idle, if running jobs leave when they are expected to, and which of them."""
        if nodes.bit_count() < count:
            return None  # most of the times that are tried, where many jobs have reservations
        found = self.idle & nodes
        if found.bit_count() >= count:
            return Plan(self.now_s, consecutive(found, count))
        for end_s, left in self._leaving:
            found |= left & nodes
            if found.bit_count() >= count:
                return Plan(max(end_s, self.now_s + 1.0), consecutive(found, count))
        return None


def consecutive(nodes: int, count: int) -> int:
    """Choose ``count`` of at least so many nodes: the shortest run of neighbours that suffices, from its first node on.

    Where none suffices the longest run is taken whole, and the rest is chosen likewise; the first of equal runs.
    """
    if nodes.bit_count() == count:
        return nodes
    chosen, runs = 0, list(_runs(nodes))
    while count > 0:
        enough = [run for run in runs if run[1] >= count]
        run = min(enough, key=lambda run: run[1]) if enough else max(runs, key=lambda run: run[1])
        runs.remove(run)
        taken = min(count, run[1])
        chosen |= ((1 << taken) - 1) << run[0]
        count -= taken
    return chosen


def _runs(nodes: int) -> Iterator[tuple[int, int]]:
    """First node and length of each run of neighbours, in order."""
    first = 0
    while nodes:
        skipped = (nodes & -nodes).bit_length() - 1
        nodes >>= skipped
        first += skipped
        length = (~nodes & (nodes + 1)).bit_length() - 1
        yield first, length
        nodes >>= length
        first += length


def mask_of(nodes: Iterable[int]) -> int:
    """The set of these nodes."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def members(mask: int) -> tuple[int, ...]:
    """The nodes of a set, ascending."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(found)
