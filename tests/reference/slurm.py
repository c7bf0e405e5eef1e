"""Slurm's plans of nodes in plain Python: sets of nodes are integers with a bit for each node."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from spillway.core import Resource, Running
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.slurm.nodespace import looked_at_after, whole_s
from spillway.schedulers.policykit.view import View


class Plan(NamedTuple):
    """Expected start of a job (s), and its nodes."""

    start_s: float
    nodes: int


def has_ended(running: Running) -> bool:
    """Whether a job has released its counted pools but still has its nodes: Slurm's state ``COMPLETING``."""
    return bool(running.apart) and not any(Resource.POOLS in part.covering for part in running.apart)


class NodeSpace:
    """Idle nodes, the expected ends of the others' use, and reserved nodes.

    Parameters
    ----------
    now_s
        Current time, s.
    idle
        Nodes that are free now.
    leaving
        Expected ends of running jobs (s), their numbers, and their nodes.
    windows
        Begins, ends and times of a next look (s) of windows of maintenance, and their nodes.
    ended
        Nodes of jobs that have ended, which are not back yet.
    """

    __slots__ = ("_free", "_leaving", "_times", "_windows", "ended", "idle", "now_s", "usable")

    def __init__(
        self,
        now_s: float,
        idle: int,
        leaving: Iterable[tuple[float, int, int]],
        windows: Iterable[tuple[float, float, float, int]] = (),
        ended: int = 0,
    ) -> None:
        self.now_s = now_s
        self.idle = idle
        self.ended = ended
        self._leaving = sorted(leaving)
        self._windows = list(windows)
        usable = idle | ended
        for _, _, nodes in self._leaving:
            usable |= nodes
        self.usable = usable
        self._times = [now_s]
        """Begins of segments; the last one is endless."""
        self._free = [usable]
        """Nodes without a reservation, in each segment."""

    @classmethod
    def of(cls, view: View, resolution_s: float, longer_s: Mapping[str, float]) -> NodeSpace:
        """Build one from a policy's view, without reservations; nodes that are out are in no set."""
        usable = (1 << len(view.machine.nodes)) - 1 & ~mask_of(view.unavailable)
        idle, leaving, ended = usable, [], 0
        for running in view.running:
            for holding in running.holdings:
                if Resource.NODES in holding.covering:
                    held = mask_of(holding.allocation.nodes)
                    idle &= ~held
                    if has_ended(running):
                        ended |= held & usable
                        continue
                    end_s = whole_s(holding.end_s + longer_s.get(running.job.name, 0.0))
                    leaving.append((end_s, running.job.number, held & usable))
        windows = [
            (window.start_s, window.end_s, looked_at_after(window, resolution_s), mask_of(window.nodes))
            for window in view.taken
        ]
        return cls(whole_s(view.now_s), idle, leaving, windows, ended)

    def reserve(self, begin_s: float, end_s: float, nodes: int) -> None:
        """Keep nodes over an interval; an empty one keeps nothing, and nothing is kept before now.

        Then the first two neighbours that are alike, among the segments of the interval, two before it and one after
        it, become one.
        """
        begin_s = max(begin_s, self.now_s)
        if begin_s < end_s:
            first, last = self._split(begin_s), self._split(end_s)
            for segment in range(first, last):
                self._free[segment] &= ~nodes
            for segment in range(max(first - 2, 0), min(last, len(self._times) - 1)):
                if self._free[segment] == self._free[segment + 1]:
                    del self._times[segment + 1], self._free[segment + 1]
                    break

    def _split(self, time_s: float) -> int:
        """Index of the segment that begins at a time from now on, made if missing; past the last one for infinity."""
        segment = bisect_left(self._times, time_s)
        if time_s < math.inf and (segment == len(self._times) or self._times[segment] > time_s):
            self._times.insert(segment, time_s)
            self._free.insert(segment, self._free[segment - 1])
        return segment

    def start(self, job: Job, nodes: int, duration_s: float) -> None:
        """Nodes are idle no more: a job was started that is expected to run for so long."""
        self.idle &= ~nodes
        self._leaving.append((whole_s(self.now_s + duration_s), job.number, nodes))
        self._leaving.sort()

    def search(self, nodes: int, begin_s: float, duration_s: float, until_s: float) -> tuple[int, float]:
        """Return ``nodes`` free over ``[begin_s, begin_s + duration_s]`` and in no window, and when to search again.

        That is the time (s) from which on a search may find more, infinite for never.

        Segments are looked at in order, up to the first that begins after the end. The first one before an increase of
        free nodes, also that after the end, gives the time of the next search.
        """
        end_s, again_s, later_s = begin_s + duration_s, math.inf, math.inf
        within = [window for window in self._windows if window[0] < end_s and window[1] > begin_s and window[3] & nodes]
        for *_, kept in within:
            nodes &= ~kept
        if within:
            again_s = min(again for _, end, again, _ in self._windows if end >= begin_s and again > begin_s)
        allowed = nodes
        for segment in range(bisect_right(self._times, begin_s) - 1, len(self._times)):
            following = self._free[segment + 1] & allowed if segment + 1 < len(self._times) else 0
            if later_s == math.inf and following & ~(self._free[segment] & nodes):
                later_s = self._times[segment + 1]
            if self._times[segment] > end_s:
                break
            nodes &= self._free[segment]
        return nodes, min(later_s, again_s) if again_s < until_s else later_s

    def overlaps(self, begin_s: float, end_s: float, nodes: int) -> bool:
        """Whether some of the nodes are reserved for a part of ``[begin_s, end_s)``, now or later."""
        first = bisect_right(self._times, max(begin_s, self.now_s)) - 1
        return any(nodes & ~self._free[segment] for segment in range(first, bisect_left(self._times, end_s)))

    def will_run_in_windows(self, nodes: int, count: int, growth_s: float, gone_s: float = -math.inf) -> Plan | None:
        """As :meth:`will_run` under ``select/cons_tres``: enough nodes are looked for at the ends of windows only.

        Jobs on some of these nodes leave in turn. After each the next running job is looked at, on whatever nodes: if
        it ends after the window, it is the window's end. Windows begin at the first whole half minute after the first
        of these jobs ends; the first is 30 s long, each further one twice as long as the one before, or longer by
        ``growth_s`` if that is not 0; windows that would bring no job are left out.
        """
        found = (self.idle | self.ended) & nodes
        for end_s, _, left in self._leaving:
            found |= left & nodes if end_s <= gone_s else 0
        if found.bit_count() >= count:
            return Plan(self.now_s, consecutive(found, count))
        leaving = [(end_s, left & nodes) for end_s, _, left in self._leaving if end_s > gone_s]
        own = [place for place, (_, left) in enumerate(leaving) if left]
        window_s, begin_s = 30.0, (leaving[own[0]][0] // 30.0 + 1.0) * 30.0 if own else 0.0
        for place in own:
            end_s, left = leaving[place]
            found |= left
            next_s = leaving[place + 1][0] if place + 1 < len(leaving) else math.inf
            if next_s <= begin_s + window_s:
                continue
            if found.bit_count() >= count:
                return Plan(max(end_s, self.now_s + 1.0), consecutive(found, count))
            while True:
                window_s = window_s + growth_s if growth_s else 2 * window_s
                if next_s == math.inf or next_s <= begin_s + window_s:
                    break
        if found.bit_count() >= count:  # the jobs after the last of these are on other nodes
            return Plan(max(leaving[own[-1]][0], self.now_s + 1.0), consecutive(found, count))
        return None

    def will_run(self, nodes: int, count: int, gone_s: float = -math.inf) -> Plan | None:
        """The time at which ``count`` of some nodes are idle if running jobs end when expected, and those nodes.

        Nodes of jobs that have ended count as idle now, and those of jobs that end up to ``gone_s``.
        """
        if nodes.bit_count() < count:
            return None  # the usual case where many jobs have reservations
        found = (self.idle | self.ended) & nodes
        for end_s, _, left in self._leaving:
            found |= left & nodes if end_s <= gone_s else 0
        if found.bit_count() >= count:
            return Plan(self.now_s, consecutive(found, count))
        leaving = [(end_s, left & nodes) for end_s, _, left in self._leaving if left & nodes and end_s > gone_s]
        for end_s, left in leaving:
            found |= left
            if found.bit_count() >= count:
                return Plan(max(end_s, self.now_s + 1.0), consecutive(found, count))
        return None


def consecutive(nodes: int, count: int, preferred: int = 0) -> int:
    """Choose ``count`` of enough nodes: the shortest sufficient run of neighbours, from its first node on.

    Where no run suffices the longest is taken whole, and the rest is chosen likewise; the first of equal runs.
    Preferred nodes are chosen first, as if the others were busy.
    """
    if nodes & preferred:
        first = nodes & preferred
        if first.bit_count() < count:
            return first | consecutive(nodes & ~preferred, count - first.bit_count())
        return consecutive(first, count)
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
