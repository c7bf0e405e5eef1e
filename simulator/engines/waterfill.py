"""Constant I/O streams beside computation, under the contention model of Herbein et al. (HPDC 2016, section 4.4).

A task computes for ``max(flops / speed)`` over its hosts, and its transfer between a compute host and a storage host
is a stream of constant rate over that time. If the requests of links exceed their bandwidth, it is shared by
water-filling from the file system down, a task gets the share of its worst host, and computes at that share of its
speed (interference factor). Between two starts or ends all shares are constant. Transfers between compute hosts, and
latencies, take no time: they are not in the paper's model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from spillway.platforms.model import Platform
from spillway.simulator.engines.base import AllToAll, Comm, Engine, Matrix, NoComm, Pairs, TaskError, TaskSpec, speed_in
from spillway.simulator.engines.batch import flatten
from spillway.simulator.engines.contention.tree import IoTree


@dataclass(frozen=True, slots=True)
class Stream:
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


@dataclass(slots=True)
class _Task:
    """A running task.

    ``demand``: bytes/s by host; ``places``: these hosts by the link above them; ``factor``: share of its speed since
    ``since_s``.
    """

    host: int
    demand: dict[int, int]
    places: dict[int, list[int]]
    flops: dict[int, float]
    nominal_s: float
    start_s: float
    since_s: float
    done_s: float = 0.0
    factor: float = 1.0

    def computed_s(self, now_s: float) -> float:
        return self.done_s + self.factor * (now_s - self.since_s)

    @property
    def end_s(self) -> float:
        if self.factor == 0.0:
            return math.inf
        return self.since_s + (self.nominal_s - self.done_s) / self.factor

    def turn(self, now_s: float, factor: float) -> None:
        """Continue at another share of the speed."""
        self.done_s, self.since_s, self.factor = self.computed_s(now_s), now_s, factor


@dataclass
class WaterfillEngine(Engine):
    """See :class:`spillway.simulator.engines.base.Engine`.

    Parameters
    ----------
    platform
        Its hosts must state the links above them (``io_path``).
    whole_units
        The authors' arithmetic: bandwidth in whole MB/s.
    on_end
        Called with every task that ended or was removed.

    Attributes
    ----------
    contended_s
        Time so far during which some task got less than it requested.
    busy_s
        Time so far during which some task ran.
    """

    ends_at_once: ClassVar[bool] = True

    platform: Platform
    whole_units: bool = False
    on_end: Callable[[Stream], None] | None = None
    clock: float = 0.0
    contended_s: float = 0.0
    busy_s: float = 0.0
    _tree: IoTree = field(init=False)
    _speeds: list[float] = field(init=False)
    _stores: set[int] = field(init=False)
    _running: dict[int, _Task] = field(init=False, default_factory=dict)
    _changed: bool = field(init=False, default=False)
    _contention: bool = field(init=False, default=False)
    _next_handle: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._tree = IoTree.from_platform(self.platform, self.whole_units)
        self._speeds = self.platform.speeds.tolist()
        self._stores = {
            index for index, host in enumerate(self.platform.hosts) if host.properties.get("role") == "storage"
        }

    @property
    def active(self) -> int:
        """Number of tasks that have started and neither ended nor been cancelled."""
        return len(self._running)

    def start_many(self, tasks: Sequence[TaskSpec]) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.start_many`."""
        hosts, ends, work, *_ = flatten(tasks, len(self._speeds))
        made = []
        for spec, begin, end in zip(tasks, ends.tolist(), ends.tolist()[1:], strict=False):
            flops: dict[int, float] = {}
            for host, amount in zip(hosts[begin:end].tolist(), work[begin:end].tolist(), strict=True):
                flops[host] = max(flops.get(host, 0.0), amount)
            nominal_s = self._duration(flops)
            demand = self._demand(spec, nominal_s)
            places = self._places(demand)
            made.append(_Task(spec.hosts[0], demand, places, flops, nominal_s, self.clock, self.clock))
        return [self._begin(task) for task in made]

    def sleep(self, seconds: float) -> int:
        """See :meth:`spillway.simulator.engines.base.Engine.sleep`."""
        if not 0.0 <= seconds < math.inf:
            raise TaskError(f"a sleep must be finite and not negative, got {seconds} s")
        return self._begin(_Task(-1, {}, {}, {}, seconds, self.clock, self.clock))

    def _begin(self, task: _Task) -> int:
        handle = self._next_handle
        self._next_handle += 1
        self._running[handle] = task
        self._book(task, 1)
        return handle

    def _book(self, task: _Task, sign: int) -> None:
        self._tree.change_demand(task.demand, sign)
        self._changed = self._changed or bool(task.demand)

    def _duration(self, flops: dict[int, float]) -> float:
        times = [
            amount / self._speeds[host] if self._speeds[host] else math.inf for host, amount in flops.items() if amount
        ]
        return max(times, default=0.0)

    def _demand(self, spec: TaskSpec, nominal_s: float) -> dict[int, int]:
        """Constant rate of each compute host: its bytes to and from storage hosts, spread over the computation."""
        moved: dict[int, float] = {}
        for part in spec.comm if isinstance(spec.comm, tuple) else (spec.comm,):
            for source, target, amount in _flows(part):
                ends = (spec.hosts[source], spec.hosts[target])
                compute = [host for host in ends if host not in self._stores]
                if len(compute) == 1 and amount > 0:
                    moved[compute[0]] = moved.get(compute[0], 0.0) + amount
        if moved and not 0 < nominal_s < math.inf:
            raise TaskError(
                "the engine 'waterfill' plays streams beside computation only; this task moves bytes to or from a "
                "storage host without computing: use the engine 'fluid'"
            )
        return {host: rate for host, amount in moved.items() if (rate := round(amount / nominal_s)) > 0}

    def _places(self, demand: Iterable[int]) -> dict[int, list[int]]:
        """Hosts by the link above them; hosts without a link always get their requests."""
        found: dict[int, list[int]] = {}
        for host in demand:
            link = self._tree.above[host]
            if link >= 0:
                found.setdefault(link, []).append(host)
        return found

    def _share(self) -> None:
        """Give every task its factor, if streams came or went since the last time."""
        if not self._changed:
            return
        self._changed = False
        now = self.clock
        contended = self._tree.contended
        if not contended and not self._contention:
            return
        # tasks on one host share its bandwidth in proportion, so that the host's factor is theirs
        factors = self._tree.factors() if contended else []
        self._contention = False
        for task in self._running.values():
            factor = _least(factors, task.places) if contended else 1.0
            if factor != task.factor:
                task.turn(now, factor)
            self._contention = self._contention or factor < 1.0

    def _find(self, handle: int) -> _Task:
        task = self._running.get(handle)
        if task is None:
            raise TaskError(f"no active task has the handle {handle}: it ended, was cancelled or never started")
        return task

    def _take(self, handle: int, computed_s: float) -> None:
        task = self._running.pop(handle)
        self._book(task, -1)
        if self.on_end is not None and task.host >= 0:
            self.on_end(Stream(task.host, task.start_s, self.clock, computed_s))

    def cancel(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.cancel`."""
        progress = self.progress(handle)
        self._take(handle, progress * self._find(handle).nominal_s)
        return progress

    def progress(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.progress`."""
        task = self._find(handle)
        return min(1.0, task.computed_s(self.clock) / task.nominal_s) if task.nominal_s > 0 else 1.0

    def next_completion(self) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.next_completion`."""
        self._share()
        return min((task.end_s for task in self._running.values()), default=math.inf)

    def advance(self, until: float) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.advance`."""
        if not until >= self.clock:
            raise TaskError(f"cannot advance to {until} s: the clock shows {self.clock} s already")
        now = min(until, self.next_completion())
        if now == math.inf:
            return []
        if self._running:
            self.busy_s += now - self.clock
        if self._contention:
            self.contended_s += now - self.clock
        self.clock = now
        noise = 4 * math.ulp(now)
        ended = [handle for handle, task in self._running.items() if task.end_s <= now + noise]
        for handle in ended:
            self._take(handle, self._running[handle].nominal_s)
        return ended

    def set_pstate(self, host: int, pstate: int) -> None:
        """See :meth:`spillway.simulator.engines.base.Engine.set_pstate`; streams keep their initial rates."""
        self._speeds[host] = speed_in(self.platform, host, pstate)
        for task in self._running.values():
            if host in task.flops:
                task.turn(self.clock, task.factor)
                stretch = self._duration(task.flops) / task.nominal_s if task.nominal_s else 1.0
                task.nominal_s, task.done_s = task.nominal_s * stretch, task.done_s * stretch

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


def _least(factors: Sequence[float | dict[int, float]], places: Mapping[int, Sequence[int]]) -> float:
    """Factor of the worst host of a task."""
    least = 1.0
    for link, hosts in places.items():
        here = factors[link]
        least = min(least, min(map(here.__getitem__, hosts)) if isinstance(here, dict) else here)
    return least


def _flows(comm: Comm) -> list[tuple[int, int, float]]:
    """Transfers of a pattern as (source, destination, bytes); those of an all-to-all stay among compute hosts."""
    if isinstance(comm, Pairs):
        arrays = (np.asarray(comm.src).tolist(), np.asarray(comm.dst).tolist(), np.asarray(comm.bytes).tolist())
        return list(zip(*arrays, strict=True))
    if isinstance(comm, Matrix):
        sources, targets = np.nonzero(comm.bytes)
        return list(zip(sources.tolist(), targets.tolist(), comm.bytes[sources, targets].tolist(), strict=True))
    assert isinstance(comm, NoComm | AllToAll)
    return []
