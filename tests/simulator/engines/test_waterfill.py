"""The engine of constant streams: progress, computing and blocked time; the same without contention as the others."""

import math
from typing import Any

import pytest

from spillway.platforms import Platform, platform_from
from tests.kit.tasks import FluidEngine, Pairs, TaskSpec, WaterfillEngine

MB = 1_000_000


def index(platform: Platform, name: str) -> int:
    """Position of a host."""
    return next(number for number, host in enumerate(platform.hosts) if host.name == name)


def stream(platform: Platform, names: list[str], rate_mb: float, seconds: float) -> TaskSpec:
    """A task of ``seconds`` with a constant stream of ``rate_mb`` MB/s from each node."""
    nodes = tuple(index(platform, name) for name in names)
    flops = [seconds * platform.hosts[node].speeds[0] for node in nodes]
    count = len(nodes)
    amounts = [rate_mb * MB * seconds] * count
    return TaskSpec((*nodes, index(platform, "pfs")), [*flops, 0.0], Pairs(range(count), [count] * count, amounts))


def names(platform: Platform) -> list[str]:
    """The compute hosts of the paper's small tree, node 1 first."""
    return [host.name for host in platform.hosts if host.properties.get("role", "") in ("", "compute_node")]


def ended(engine: Any) -> list[float]:
    """Instants of all ends."""
    found = []
    while engine.active:
        found += [engine.clock] * len(engine.advance(math.inf))
        found[-1:] = [engine.clock]
    return found


def test_computing_and_blocked_time_of_an_over_allocation() -> None:
    """Jobs 1 and 2 of section 3.4 at once: Job 2 gets 96 of 128 MB/s while Job 1 runs, and all of it afterwards.

    Job 1 computes 9 s. Until then Job 2 has computed 0.75 x 9 = 6.75 s of its 10, 3.25 s are left: it ends after
    12.25 s, 2.25 s of them blocked.
    """
    platform = platform_from("herbein-small")
    engine = WaterfillEngine(platform)
    one, two, three, four = names(platform)
    engine.start_many([stream(platform, [one], 64, 9), stream(platform, [two, three, four], 128, 10)])
    assert engine.advance(4.0) == []
    assert engine.progress(0) == pytest.approx(4 / 9)
    assert engine.progress(1) == pytest.approx(0.3)
    assert engine.advance(math.inf) == [0]
    assert engine.clock == pytest.approx(9.0)
    assert engine.advance(math.inf) == [1]
    assert engine.clock == pytest.approx(12.25)
    assert engine.contended_s == pytest.approx(9.0)
    assert engine.busy_s == pytest.approx(12.25)


def test_without_contention_both_models_agree() -> None:
    """Streams that fit take as long as their computation; SimGrid's model adds the route's latency."""
    platform = platform_from("herbein-small")
    one, two, three, _ = names(platform)
    tasks = [stream(platform, [one], 64, 7), stream(platform, [two, three], 128, 5)]
    for engine in (WaterfillEngine(platform), FluidEngine(platform)):
        engine.start_many(tasks)
        assert ended(engine) == pytest.approx([5.0, 7.0], abs=1e-3)


def test_the_models_differ_where_links_are_full() -> None:
    """Over-allocated, both slow Job 2 down; SimGrid's shares the network switch by task and may slow Job 1 as well."""
    platform = platform_from("herbein-small")
    one, *others = names(platform)
    tasks = [stream(platform, [one], 64, 10), stream(platform, others, 128, 10)]
    last = []
    for engine in (WaterfillEngine(platform), FluidEngine(platform)):
        engine.start_many(tasks)
        last.append(ended(engine)[-1])
    assert last[0] > 10.0
    assert last[1] > 10.0


def test_a_pure_transfer_is_refused() -> None:
    """A transfer without computation has no constant rate."""
    platform = platform_from("herbein-small")
    engine = WaterfillEngine(platform)
    hosts = (index(platform, names(platform)[0]), index(platform, "pfs"))
    assert engine.start(TaskSpec(hosts, 0.0, Pairs((0,), (1,), (5.0,)))) == -1
    assert engine.active == 0
