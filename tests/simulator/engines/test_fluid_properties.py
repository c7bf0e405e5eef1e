"""Properties of the fluid engine, against the engine in plain Python and against itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Network
from spillway.platforms import Platform, parse_platform
from spillway.simulator.engines.native import network_of
from tests.kit.tasks import AllToAll, FluidEngine, Matrix, TaskSpec
from tests.oracle.tasks import platform_text, play, random_script, random_task
from tests.reference.fluid import ReferenceEngine

NAMES = ("dragonfly", "fat-tree", "torus")
MACHINES = {name: parse_platform(platform_text(name)) for name in NAMES}

machines = st.sampled_from(NAMES).map(MACHINES.__getitem__)
seeds = st.integers(0, 10**6)


@settings(max_examples=12)
@given(machines, seeds)
def test_same_as_the_plain_engine(platform: Platform, seed: int) -> None:
    """Any script gives the same instants to the last bit, although only parts of the machine are solved again."""
    script = random_script(seed, 50, platform)
    fluid = FluidEngine(platform)
    ours, theirs = play(script, fluid), play(script, ReferenceEngine(platform))
    fluid.check()
    assert ours.ends == theirs.ends
    assert ours.order == theirs.order
    assert ours.cancelled == theirs.cancelled


@settings(max_examples=25)
@given(machines, seeds)
def test_looking_ahead_tells_the_next_end_and_changes_nothing(platform: Platform, seed: int) -> None:
    """``next_completion`` is the time where ``advance(inf)`` ends; an engine that never looks ahead gives the same."""
    rng = np.random.default_rng(seed)
    tasks = [random_task(rng, len(platform.hosts)) for _ in range(25)]
    curious, plain = FluidEngine(platform), FluidEngine(platform)
    for task in tasks:
        assert curious.start(task) == plain.start(task)
        until = curious.clock + rng.exponential(2.0)
        expected = curious.next_completion()
        ended = curious.advance(until)
        assert ended == plain.advance(until)
        assert curious.clock == (expected if expected < until else until)
    while plain.active:
        expected = curious.next_completion()
        assert curious.advance(math.inf) == plain.advance(math.inf)
        assert curious.clock == plain.clock == expected
    assert curious.next_completion() == math.inf
    curious.check()


@settings(max_examples=25)
@given(machines, seeds)
def test_progress_grows_until_the_end(platform: Platform, seed: int) -> None:
    """In [0, 1], never less than before, and equal to the progress that cancelling returns."""
    rng = np.random.default_rng(seed)
    engine = FluidEngine(platform)
    progress = dict.fromkeys(engine.start_many([random_task(rng, len(platform.hosts)) for _ in range(12)]), 0.0)
    while progress:
        for handle in engine.advance(engine.clock + rng.exponential(5.0)):
            del progress[handle]
        for handle, before in progress.items():
            now = engine.progress(handle)
            assert before <= now <= 1.0
            progress[handle] = now
        if progress and rng.random() < 0.2:
            handle, before = progress.popitem()
            assert engine.cancel(handle) == before


@settings(max_examples=25)
@given(st.sampled_from((*NAMES, "star")), seeds, st.integers(2, 40))
def test_counting_by_groups_is_exact(name: str, seed: int, n: int) -> None:
    """All-to-alls counted by pairs, by groups of hosts, and given as matrices take the same time to the last bit."""
    platform = parse_platform(platform_text(name))
    rng = np.random.default_rng(seed)
    n = min(n, len(platform.hosts))
    hosts = tuple(rng.permutation(len(platform.hosts))[:n].tolist())
    amount = float(10 ** rng.uniform(3, 9))
    by_pairs, by_groups, by_matrix = FluidEngine(platform), grouped(platform), FluidEngine(platform)
    for engine in (by_pairs, by_groups):
        engine.start(TaskSpec(hosts, 1e9, AllToAll(amount)))
        engine.advance(math.inf)
    by_matrix.start(TaskSpec(hosts, 1e9, Matrix(amount * (1.0 - np.eye(n)))))
    by_matrix.advance(math.inf)
    assert by_groups.clock == by_pairs.clock == by_matrix.clock


def grouped(platform: Platform) -> FluidEngine:
    """An engine that knows the groups of all hosts."""
    network = network_of(platform)
    network.group(range(len(platform.hosts)))
    return FluidEngine(platform, network)


def large(platform: Platform, alike: list[list[int]]) -> Network:
    """A machine that counts as too large for a search of groups, with these groups by construction."""
    return Network(
        platform.speeds.tolist(),
        platform.cores.tolist(),
        platform.bandwidths.tolist(),
        platform.fatpipe.tolist(),
        platform.route,
        platform.finder.find,
        lambda: alike,
        most_hosts=1,
        many=1,
    )


def test_a_host_twice_is_counted_by_pairs() -> None:
    """Also if the groups of all hosts are known; their sizes count hosts once."""
    platform = MACHINES["torus"]
    ends = []
    for engine in (FluidEngine(platform), grouped(platform)):
        engine.start(TaskSpec((0, 0, 1), 0.0, AllToAll(1e7)))
        engine.advance(math.inf)
        ends.append(engine.clock)
    assert ends[0] == ends[1] > 0.0


def lone_host() -> FluidEngine:
    """One host of two cores and two speeds, and no network."""
    host = '<host id="a" speed="1Gf,2Gf" core="2"/>'
    return FluidEngine(parse_platform(f'<platform version="4.1"><zone id="z" routing="Full">{host}</zone></platform>'))


def test_a_task_that_runs_goes_on_at_another_speed() -> None:
    """Half of 1 s of work at 1 Gflop/s, the other half at 2: the engine's first task, and one beside it."""
    engine = lone_host()
    handles = engine.start_many([TaskSpec((0,), 1e9), TaskSpec((0,), 3e9)])
    engine.advance(0.5)
    engine.set_pstate(0, 1)
    assert engine.advance(math.inf) == [handles[0]]
    assert engine.clock == pytest.approx(0.75)
    assert engine.advance(math.inf) == [handles[1]]
    assert engine.clock == pytest.approx(1.75)


def test_one_flop_takes_a_nanosecond() -> None:
    """It is work, and no window bounds it."""
    engine = lone_host()
    engine.start(TaskSpec((0,), 1.0))
    engine.advance(math.inf)
    assert engine.clock == pytest.approx(1e-9, rel=1e-6, abs=0.0)


def test_routes_that_are_not_as_said_are_not_grouped() -> None:
    """Each host's routes are checked before its group is used."""
    platform = parse_platform(platform_text("dragonfly"))
    network = large(platform, [[0, 5]])  # hosts of two routers
    engine = FluidEngine(platform, network)
    for _ in range(2):
        engine.start(TaskSpec((0, 5), 0.0, AllToAll(1e6)))
        assert set(network.groups) == {-1}
