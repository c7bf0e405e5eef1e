"""Random tasks on small platforms of every kind, and a script that plays them on any engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from spillway.platforms.model import Platform
from spillway.simulator.engines.by_name import Engine
from tests.kit.tasks import AllToAll, Comm, Matrix, NoComm, Pairs, TaskSpec
from tests.reference.fluid import ReferenceEngine

HEADER = "<?xml version='1.0'?><!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'><platform version='4.1'>"
CLUSTER = "<cluster id='c' prefix='n' suffix='' speed='1Gf,500Mf' bw='125MBps' lat='50us' "
PLATFORMS = {
    "dragonfly": CLUSTER
    + "radical='0-35' core='2' topology='DRAGONFLY' topo_parameters='3,2;2,1;3,2;2'"
    + " loopback_bw='1GBps' loopback_lat='1us'/>",
    "fat-tree": CLUSTER
    + "radical='0-15' core='4' topology='FAT_TREE' topo_parameters='2;4,4;1,2;1,2' sharing_policy='SHARED'/>",
    "torus": CLUSTER + "radical='0-26' core='1' topology='TORUS' topo_parameters='3,3,3'/>",
    "star": CLUSTER
    + "radical='0-11' core='3' bb_bw='500MBps' bb_lat='20us' bb_sharing_policy='FATPIPE'"
    + " loopback_bw='2GBps' loopback_lat='0'/>",
}
"""Elements of the platform files, by name; hosts with several cores and two power states, links of all kinds."""


def platform_text(name: str) -> str:
    """A whole platform file."""
    return f"{HEADER}{PLATFORMS[name]}</platform>"


@dataclass
class Script:
    """Actions by time; the tasks are numbered in the order of their starts."""

    times: list[float] = field(default_factory=list)
    starts: dict[int, TaskSpec] = field(default_factory=dict)
    cancels: dict[int, int] = field(default_factory=dict)
    pstates: dict[int, tuple[int, int]] = field(default_factory=dict)


@dataclass
class Outcome:
    """Begin and end of each task, and the progress of cancelled ones."""

    begins: dict[int, float] = field(default_factory=dict)
    ends: dict[int, float] = field(default_factory=dict)
    cancelled: dict[int, float] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)


def random_comm(rng: np.random.Generator, n: int) -> Comm | tuple[Comm, ...]:
    """One of the patterns; about a third of a matrix is empty, its diagonal is not."""
    amount = 10 ** rng.uniform(2, 9)
    pairs = int(rng.integers(1, 6))
    some = Pairs(rng.integers(0, n, pairs), rng.integers(0, n, pairs), amount * rng.random(pairs))
    every = AllToAll(amount)
    matrix = Matrix(amount * rng.random((n, n)) * (rng.random((n, n)) < 0.7))
    patterns: list[Comm | tuple[Comm, ...]] = [NoComm(), every, matrix, some, (every, some)]
    return patterns[int(rng.integers(len(patterns)))]


def random_task(rng: np.random.Generator, hosts: int) -> TaskSpec:
    """Up to 12 positions, hosts may repeat; equal, different or no work."""
    n = int(rng.integers(1, 13))
    places = tuple(rng.integers(0, hosts, n).tolist())
    flop = 10 ** rng.uniform(6, 11)
    work: list[object] = [flop, 0.0, flop * rng.random(n) * (rng.random(n) < 0.7)]
    return TaskSpec(places, work[int(rng.choice(3, p=[0.5, 0.2, 0.3]))], random_comm(rng, n))  # type: ignore[arg-type]


def random_script(seed: int, tasks: int, platform: Platform) -> Script:
    """Tasks that start at random instants, some at the same; cancellations and changes of speed between them."""
    rng = np.random.default_rng(seed)
    script = Script()
    now = 0.0
    started = 0
    while started < tasks:
        now += rng.exponential(1.0) if rng.random() < 0.7 else 0.0
        event = len(script.times)
        script.times.append(now)
        kind = rng.random()
        if kind < 0.85:
            script.starts[event] = random_task(rng, len(platform.hosts))
            started += 1
        elif kind < 0.95 and started:
            script.cancels[event] = int(rng.integers(max(0, started - 15), started))
        else:
            script.pstates[event] = int(rng.integers(len(platform.hosts))), int(rng.integers(2))
    return script


def play(script: Script, engine: Engine | ReferenceEngine) -> Outcome:
    """Play a script; its instants are sleeps of the engine, so that clocks agree to the last bit."""
    outcome = Outcome()
    events = {engine.sleep(time): event for event, time in enumerate(script.times)}
    handles: dict[int, int] = {}
    numbers: dict[int, int] = {}
    while engine.active:
        ended = engine.advance(math.inf)
        if not ended:
            break
        for handle in ended:
            if handle in numbers:
                outcome.ends[numbers[handle]] = engine.clock
                outcome.order.append(numbers[handle])
        for event in (events[handle] for handle in ended if handle in events):
            if event in script.starts:
                number = len(handles)
                handles[number] = engine.start(script.starts[event])
                numbers[handles[number]] = number
                outcome.begins[number] = engine.clock
            elif event in script.pstates:
                engine.set_pstate(*script.pstates[event])
            elif script.cancels[event] in _running(handles, outcome):
                number = script.cancels[event]
                outcome.cancelled[number] = engine.cancel(handles[number])
    return outcome


def _running(handles: dict[int, int], outcome: Outcome) -> Iterator[int]:
    return (number for number in handles if number not in outcome.ends and number not in outcome.cancelled)
