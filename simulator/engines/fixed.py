"""Given durations: a task takes as long as its slowest host needs, without contention. For teaching and for tests.

Transfers and latencies take no time; hosts, links and memory are never contended. Such schedules show the decisions of
a scheduler without the machine's influence.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import msgspec

from spillway.platforms.model import Platform
from spillway.simulator.engines.base import Engine, TaskError, TaskSpec, speed_in
from spillway.simulator.engines.batch import listed


class _Running(msgspec.Struct, eq=False):
    """A task: work per host (empty for a sleep), progress at an instant, seconds left then; its end at that speed."""

    work: dict[int, float]
    done: float
    since_s: float
    left_s: float
    end_s: float

    def progress(self, now_s: float) -> float:
        """Done share of the task."""
        if self.left_s <= 0.0:
            return 1.0
        return self.done + (1.0 - self.done) * (now_s - self.since_s) / self.left_s


@dataclass
class FixedEngine(Engine):
    """A task lasts max(flops / speed) over its hosts.

    Parameters
    ----------
    platform
        Only the speeds of its hosts count.
    """

    ends_at_once: ClassVar[bool] = True

    platform: Platform
    clock: float = 0.0
    _speeds: list[float] = field(init=False)
    _running: dict[int, _Running] = field(init=False, default_factory=dict)
    _ends: list[tuple[float, int]] = field(init=False, default_factory=list)
    _next_handle: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._speeds = self.platform.speeds.tolist()

    @property
    def active(self) -> int:
        """Number of tasks that have started and neither ended nor been cancelled."""
        return len(self._running)

    def start_many(self, tasks: Sequence[TaskSpec]) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.start_many`."""
        if len(tasks) == 1 and type(tasks[0].flops) is float and len(set(tasks[0].hosts)) == len(tasks[0].hosts):
            return [self._begin_even(tasks[0])]
        hosts, ends, work, *_ = listed(tasks, len(self._speeds))
        handles = []
        for begin, end in pairwise(ends):
            load: dict[int, float] = dict(zip(hosts[begin:end], work[begin:end], strict=True))
            if len(load) < end - begin:  # a host more than once
                load = {}
                for host, flops in zip(hosts[begin:end], work[begin:end], strict=True):
                    load[host] = max(load.get(host, 0.0), flops)
            handles.append(self._begin(load, self._duration(load)))
        return handles

    def _begin_even(self, task: TaskSpec) -> int:
        """Begin a task with the same work on all its hosts."""
        flops, speeds = task.flops, self._speeds
        assert isinstance(flops, float)
        if not (task.hosts and 0.0 <= flops < math.inf and min(task.hosts) >= 0 and max(task.hosts) < len(speeds)):
            listed((task,), len(speeds))
        load = dict.fromkeys(task.hosts, flops)
        slowest = min(map(speeds.__getitem__, load))
        left_s = 0.0 if not flops else flops / slowest if slowest else math.inf
        return self._begin(load, left_s)

    def sleep(self, seconds: float) -> int:
        """See :meth:`spillway.simulator.engines.base.Engine.sleep`."""
        if not 0.0 <= seconds < math.inf:
            raise TaskError(f"a sleep must be finite and not negative, got {seconds} s")
        return self._begin({}, seconds)

    def _duration(self, load: dict[int, float]) -> float:
        speeds = self._speeds
        return max(
            [flops / speeds[host] if speeds[host] else math.inf for host, flops in load.items() if flops], default=0.0
        )

    def _begin(self, work: dict[int, float], seconds: float) -> int:
        handle, end_s = self._next_handle, self.clock + seconds
        self._next_handle += 1
        self._running[handle] = _Running(work, 0.0, self.clock, seconds, end_s)
        heapq.heappush(self._ends, (end_s, handle))
        return handle

    def _find(self, handle: int) -> _Running:
        running = self._running.get(handle)
        if running is None:
            raise TaskError(f"no active task has the handle {handle}: it ended, was cancelled or never started")
        return running

    def cancel(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.cancel`."""
        progress = self._find(handle).progress(self.clock)
        del self._running[handle]
        return progress

    def progress(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.progress`."""
        return self._find(handle).progress(self.clock)

    def next_completion(self) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.next_completion`."""
        while self._ends:
            end, handle = self._ends[0]
            running = self._running.get(handle)
            if running is not None and running.end_s == end:
                return end
            heapq.heappop(self._ends)  # cancelled, or its speed changed
        return math.inf

    def advance(self, until: float) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.advance`."""
        if not until >= self.clock:
            raise TaskError(f"cannot advance to {until} s: the clock shows {self.clock} s already")
        ends = self._ends
        if not ends or until < ends[0][0]:  # no end is due, not even one of a cancelled or slowed task
            if until == math.inf:
                return []
            self.clock = until
            return []
        end = self.next_completion()
        now = until if until < end else end
        if now == math.inf:
            return []
        self.clock = now
        ended = []
        while end <= now:
            handle = heapq.heappop(self._ends)[1]
            del self._running[handle]
            ended.append(handle)
            end = self.next_completion()
        return ended

    def set_pstate(self, host: int, pstate: int) -> None:
        """See :meth:`spillway.simulator.engines.base.Engine.set_pstate`."""
        self._speeds[host] = speed_in(self.platform, host, pstate)
        for handle, running in self._running.items():
            if host in running.work:
                running.done = running.progress(self.clock)
                running.since_s = self.clock
                running.left_s = (1.0 - running.done) * self._duration(running.work)
                running.end_s = running.since_s + running.left_s
                heapq.heappush(self._ends, (running.end_s, handle))

    def close(self) -> None:
        """Do nothing: there are no resources to release."""
