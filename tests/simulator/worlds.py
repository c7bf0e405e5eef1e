"""Small worlds for the simulator's tests: a platform, an engine without contention, and scripted schedulers."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import (
    CallMeLater,
    Event,
    ExecuteJob,
    JobSubmitted,
    KillJob,
    Message,
    NotifyRegistration,
    Reply,
    Request,
)
from spillway.simulator.options import BATSIM_4, SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation, SimulationResult

LATENCY = 0.5
"""Latency of the route from every host to the master in the small world (s); big, so that it shows."""

BYTE_S = 2 * LATENCY / 4194304
"""Time of a byte there (s): in SimGrid no transfer is faster than its window per two latencies."""

XML = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="root" routing="Full">
{hosts}
<host id="master" speed="1f"><prop id="role" value="master"/>{master}</host>
<link id="up" bandwidth="1e9Bps" latency="500ms" sharing_policy="FATPIPE"/>
<link id="net" bandwidth="1e9Bps" latency="0s" sharing_policy="FATPIPE"/>
<link id="loop" bandwidth="1e10Bps" latency="0s" sharing_policy="FATPIPE"/>
{routes}
</zone>
</platform>
"""

COMPUTE = ("node_1", "node_10", "node_2", "node_3")
STORAGE = ("disk", "pfs")
NO_WATTS = '<prop id="wattage_per_state" value="0:0"/>'
POWER = (
    '<prop id="sleep_pstates" value="1:2:3"/><prop id="wattage_per_state" value="90:100:200, 10:10:10, 125:125:125, '
    '101:101:101"/>'
)


def small_platform(
    storage: Sequence[str] = STORAGE, power: bool = False, loop: tuple[str, str] = ("1e10Bps", "0s")
) -> Platform:
    """Four compute hosts of 1 Gflop/s, storage hosts, a master half a second away; optionally power states.

    ``loop`` is the link of every host to itself: a message of the master to itself takes 1e-10 s, as in SimGrid if a
    platform states no such link.
    """
    hosts, routes = [], []
    for name in COMPUTE:
        speed, more = ("1Gf,1f,0.1f,0.05f", POWER) if power else ("1Gf", "")
        hosts.append(f'<host id="{name}" speed="{speed}">{more}</host>')
    none = NO_WATTS if power else ""
    hosts += [f'<host id="{name}" speed="0f"><prop id="role" value="storage"/>{none}</host>' for name in storage]
    names = (*COMPUTE, *storage)
    for position, name in enumerate(names):
        routes.append(f'<route src="{name}" dst="master"><link_ctn id="up"/></route>')
        routes.append(f'<route src="{name}" dst="{name}"><link_ctn id="loop"/></route>')
        routes += [f'<route src="{name}" dst="{other}"><link_ctn id="net"/></route>' for other in names[position + 1 :]]
    routes.append('<route src="master" dst="master"><link_ctn id="loop"/></route>')
    text = XML.format(hosts="\n".join(hosts), routes="\n".join(routes), master=none)
    text = text.replace('bandwidth="1e10Bps" latency="0s"', f'bandwidth="{loop[0]}" latency="{loop[1]}"')
    return parse_platform(text, "small.xml")


class GivenDurations:
    """An engine without contention: a task takes its largest flops / 1e9 plus its largest transfer / 1e9 (s).

    With a platform a host in another power state computes at the speed of that.
    """

    ends_at_once = True
    clock: float = 0.0

    def __init__(self, platform: Platform | None = None) -> None:
        self._next = -1
        self._given = platform
        self._speeds: dict[int, float] = {}
        self._tasks: dict[int, tuple[float, float]] = {}

    @property
    def active(self) -> int:
        """Tasks under way."""
        return len(self._tasks)

    def start(
        self, hosts: Sequence[int], flops: Sequence[float], each: float,
        sources: Sequence[int], destinations: Sequence[int], amounts: Sequence[float],
    ) -> int:  # fmt: skip
        """Start one task."""
        seconds = max(flops, default=0.0) / self._speeds.get(hosts[0], 1e9)
        if len(hosts) > 1:
            seconds += max(each, *amounts, 0.0) / 1e9
        self._next += 1
        self._tasks[self._next] = (self.clock, self.clock + seconds)
        return self._next

    def progress(self, handle: int) -> float:
        """Share of the time that has passed."""
        if handle not in self._tasks:
            return -1.0
        if handle not in self._tasks:
            return -1.0
        start, end = self._tasks[handle]
        return (self.clock - start) / (end - start) if end > start else 1.0

    def cancel(self, handle: int) -> float:
        """Take a task away."""
        done = self.progress(handle)
        self._tasks.pop(handle, None)
        return done

    def next_completion(self) -> float:
        """Time of the next end."""
        return min((end for _, end in self._tasks.values()), default=math.inf)

    def advance(self, until: float) -> list[int]:
        """Move the clock."""
        assert until >= self.clock
        target = min(until, self.next_completion())
        if target == math.inf:
            return []
        self.clock = target
        ended = [handle for handle, (_, end) in self._tasks.items() if end <= target]
        for handle in ended:
            del self._tasks[handle]
        return ended

    def change_speed(self, host: int, speed: float) -> None:
        """Note the change."""
        if self._given is not None:
            self._speeds[host] = speed


class Scheduler:
    """A scheduler made of one function, which keeps its messages.

    Parameters
    ----------
    answer
        Returns the requests for each message, or a whole reply.
    """

    def __init__(self, answer: Callable[[Message], Iterable[Request] | Reply]) -> None:
        self._answer = answer
        self.messages: list[Message] = []

    def exchange(self, message: Message) -> Reply:
        """Answer a message."""
        self.messages.append(message)
        answer = self._answer(message)
        return answer if isinstance(answer, Reply) else Reply(message.now, tuple(answer))

    def close(self) -> None:
        """Nothing to close."""

    def events(self, kind: type[Event] | None = None) -> list[Any]:
        """All events so far, maybe of one kind only."""
        return [e for m in self.messages for e in m.events if kind is None or isinstance(e, kind)]


def scripted(*replies: Iterable[Request]) -> Callable[[Message], Iterable[Request]]:
    """Answer with these requests in turn, then with nothing."""
    left = list(replies)
    return lambda message: left.pop(0) if left else ()


def greedy(message: Message) -> Iterable[Request]:
    """Execute every job as it comes, on the machines from 0 on."""
    for event in message.events:
        if isinstance(event, JobSubmitted):
            yield ExecuteJob(message.now, event.job_id, tuple(range(event.job["res"])))


def execute(job: str, *alloc: int, at: float = 0.0, **more: Any) -> ExecuteJob:
    """A request to execute a job."""
    return ExecuteJob(at, job, alloc, **more)


def kill(*jobs: str, at: float = 0.0) -> KillJob:
    """A request to kill jobs."""
    return KillJob(at, jobs)


def call(moment: float, at: float = 0.0) -> CallMeLater:
    """A request to be called."""
    return CallMeLater(at, moment)


FINISHED = NotifyRegistration(0.0, True)


def jobs(*rows: dict[str, Any], profiles: dict[str, Any] | None = None, nb_res: int = 4) -> dict[str, Any]:
    """A workload's object; jobs get ids 1, 2, ..., submission at 0, one host and the profile ``p`` by default."""
    made = [{"id": str(n), "subtime": 0, "res": 1, "profile": "p", **row} for n, row in enumerate(rows, 1)]
    return {"nb_res": nb_res, "jobs": made, "profiles": profiles or {"p": {"type": "delay", "delay": 10}}}


def run(
    data: dict[str, Any] | Sequence[dict[str, Any]] | None,
    answer: Callable[[Message], Iterable[Request] | Reply] | Scheduler = greedy,
    platform: Platform | None = None,
    **options: Any,
) -> tuple[SimulationResult, Scheduler]:
    """Simulate workloads in the small world."""
    scheduler = answer if isinstance(answer, Scheduler) else Scheduler(answer)
    several = [] if data is None else [data] if isinstance(data, dict) else list(data)
    rules = options.get("rules", BATSIM_4)
    workloads = [workload_from_object(item, f"w{number}", rules=rules) for number, item in enumerate(several)]
    simulation = Simulation(
        platform or small_platform(), workloads, GivenDurations(platform), scheduler, SimulationOptions(**options)
    )
    result = simulation.run()
    simulation.machines.check()
    return result, scheduler
