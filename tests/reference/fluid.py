"""The fluid engine in plain Python: every event visits everything. Property tests compare the core's with it.

Written only from the model's description: the same sums in the same order, but objects instead of arrays, all tasks
instead of the part of the machine that changed, all pairs instead of groups.
"""

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spillway.platforms.model import Platform
from tests.kit.tasks import BatchArrays, TaskError, TaskSpec, flatten

RATE_PRECISION = 1e-5
"""Free capacity below this counts as 0 (SimGrid's ``maxmin/precision``)."""
TIME_PRECISION = 1e-9
"""Latency below this counts as 0 (SimGrid's ``surf/precision``), in s."""
WORK_PRECISION = RATE_PRECISION * TIME_PRECISION
"""Remaining work below this counts as 0."""
TCP_WINDOW = 4194304.0
"""Bytes (SimGrid's ``network/TCP-gamma``): no transfer is faster than this per two latencies."""


@dataclass(slots=True)
class _Resource:
    capacity: float
    shared: bool
    unused: float = 0.0
    offer: float = 0.0
    in_play: bool = False


class _Demand(NamedTuple):
    resource: _Resource
    weight: float


@dataclass(slots=True, eq=False)
class _Task:
    demands: list[_Demand]
    latency_s: float
    window_bound: float
    work: list[tuple[int, float]]
    sleeps: bool = False
    remaining: float = 1.0
    rate: float = 0.0
    step: float = 0.0
    bound: float = 0.0


class ReferenceEngine:
    """The part of :class:`spillway.core.Engine` that the model is about.

    Parameters
    ----------
    platform
        Hosts, links and routes.
    """

    ends_at_once = False

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._speeds: list[float] = platform.speeds.tolist()
        self._links = [
            _Resource(bandwidth, not fat)
            for bandwidth, fat in zip(platform.bandwidths.tolist(), platform.fatpipe.tolist(), strict=True)
        ]
        self._processors = [
            _Resource(cores * speed, True) for cores, speed in zip(platform.cores.tolist(), self._speeds, strict=True)
        ]
        self.clock = 0.0
        self._next_handle = 0
        self._tasks: dict[int, _Task] = {}
        self._working: list[_Task] = []  # newest first

    @property
    def active(self) -> int:
        """Number of tasks that have started and neither ended nor been cancelled."""
        return len(self._tasks)

    def start_many(self, tasks: Sequence[TaskSpec]) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.start_many`."""
        batch = flatten(tasks)
        handles = []
        for position in range(len(tasks)):
            task = self._build(position, batch)
            handles.append(self._enter(task))
            if task.latency_s <= 0.0:
                self._working.insert(0, task)
        return handles

    def start(self, task: TaskSpec) -> int:
        """See :meth:`spillway.simulator.engines.base.Engine.start`."""
        return self.start_many((task,))[0]

    def sleep(self, seconds: float) -> int:
        """See :meth:`spillway.simulator.engines.base.Engine.sleep`."""
        return self._enter(_Task([], seconds, math.inf, [], sleeps=True))

    def _enter(self, task: _Task) -> int:
        self._tasks[self._next_handle] = task
        self._next_handle += 1
        return self._next_handle - 1

    def _build(self, position: int, batch: BatchArrays) -> _Task:
        hosts, ends, flops, _, _, _, _, _ = batch
        part = slice(ends[position], ends[position + 1])
        work = [
            (host, amount) for host, amount in zip(hosts[part].tolist(), flops[part].tolist(), strict=True) if amount
        ]
        latency, window = 0.0, 0.0
        links: dict[int, float] = {}
        for src, dst, amount in _pairs(position, batch):
            route = self._platform.route(src, dst)
            latency = max(latency, route.latency)
            window = max(window, route.latency * amount)
            for link in route.links:
                before = links.get(link, 0.0)
                links[link] = before + amount if self._links[link].shared else max(before, amount)
        demands = [_Demand(self._processors[host], amount) for host, amount in work]
        demands += [_Demand(self._links[link], amount) for link, amount in links.items()]
        task = _Task(demands, latency, TCP_WINDOW / (2.0 * window) if window else math.inf, work)
        self._set_bound(task)
        if not demands:
            task.remaining, task.rate = 0.0, 1.0
        return task

    def _set_bound(self, task: _Task) -> None:
        task.bound = min([task.window_bound, *(self._speeds[host] / flops for host, flops in task.work)])

    def cancel(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.cancel`."""
        task = self._tasks.pop(handle)
        self._working = [other for other in self._working if other is not task]
        return 1.0 - task.remaining

    def progress(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.progress`."""
        return 1.0 - self._tasks[handle].remaining

    def set_pstate(self, host: int, pstate: int) -> None:
        """See :meth:`spillway.simulator.engines.base.Engine.set_pstate`."""
        self._speeds[host] = self._platform.hosts[host].speeds[pstate]
        self._processors[host].capacity = int(self._platform.cores[host]) * self._speeds[host]
        for task in self._tasks.values():
            self._set_bound(task)

    def advance(self, until: float) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.advance`."""
        if not until >= self.clock:
            raise TaskError(f"cannot advance to {until} s: the clock shows {self.clock} s already")
        while True:
            self._solve()
            delta = min((_time_left(task) for task in self._tasks.values()), default=math.inf)
            last = until - self.clock <= delta
            if last and until == math.inf:
                return []
            delta = min(delta, until - self.clock)
            self.clock = until if last else min(self.clock + delta, until)
            ended = [handle for handle, task in self._tasks.items() if self._pass(task, delta)]
            for handle in ended:
                self.cancel(handle)
            if ended or last:
                return ended

    def _pass(self, task: _Task, delta: float) -> bool:
        """Let time pass for a task; whether it ended."""
        if task.latency_s > 0.0 or task.sleeps:
            task.latency_s -= delta
            if task.latency_s >= TIME_PRECISION:
                return False
            task.latency_s = 0.0
            if not task.sleeps:
                self._working.insert(0, task)
            return task.sleeps
        task.remaining -= task.rate * delta
        if task.remaining < WORK_PRECISION:
            task.remaining = 0.0
        return task.remaining == 0.0

    def _solve(self) -> None:
        """Fair bottleneck, in rounds; see ``core/engines/fluid_sharing.cpp``."""
        open_tasks = [task for task in self._working if task.demands]
        resources = {id(demand.resource): demand.resource for task in open_tasks for demand in task.demands}
        for resource in resources.values():
            resource.unused, resource.in_play = resource.capacity, True
        for task in open_tasks:
            task.rate = 0.0
        while open_tasks:
            self._offer(open_tasks, list(resources.values()))
            for task in open_tasks:
                task.step = min(demand.resource.offer / demand.weight for demand in task.demands)
                if 0.0 < task.bound < sys.float_info.max:
                    task.step = min(task.step, task.bound - task.rate)
                task.rate += task.step
            for task in self._working:
                for resource, weight in reversed(task.demands):
                    if resource.in_play and resource.shared:
                        resource.unused = _left(resource.unused, weight * task.step)
                    elif resource.in_play:
                        resource.offer = min(resource.offer, weight * task.step)
            for resource in resources.values():
                if resource.in_play and not resource.shared:
                    resource.unused = _left(resource.unused, resource.offer)
                resource.in_play &= resource.unused > 0.0
            open_tasks = [
                task
                for task in open_tasks
                if task.rate != task.bound and all(demand.resource.in_play for demand in task.demands)
            ]

    def _offer(self, open_tasks: list[_Task], resources: list[_Resource]) -> None:
        users: dict[int, int] = {}
        for demand in itertools.chain.from_iterable(task.demands for task in open_tasks):
            users[id(demand.resource)] = users.get(id(demand.resource), 0) + 1
        for resource in resources:
            number = users.get(id(resource), 0)
            resource.in_play &= number > 0
            if resource.in_play:
                resource.offer = resource.unused / (number if resource.shared else 1)


def _left(unused: float, taken: float) -> float:
    return 0.0 if unused - taken < RATE_PRECISION else unused - taken


def _time_left(task: _Task) -> float:
    if task.latency_s > 0.0 or task.sleeps:
        return task.latency_s
    if task.rate <= 0.0:
        return math.inf
    return task.remaining / task.rate if task.remaining > 0.0 else 0.0


def _pairs(position: int, batch: BatchArrays) -> Iterator[tuple[int, int, float]]:
    """Source host, destination host and bytes of every transfer of a task, in the order of a matrix's rows."""
    hosts, ends, _, each, pair_ends, sources, destinations, amounts = batch
    for k in range(pair_ends[position], pair_ends[position + 1]):
        if amounts[k] > 0.0:
            yield int(sources[k]), int(destinations[k]), float(amounts[k])
    if each[position] > 0.0:
        places = hosts[ends[position] : ends[position + 1]].tolist()
        for i, j in itertools.permutations(range(len(places)), 2):
            yield places[i], places[j], float(each[position])
