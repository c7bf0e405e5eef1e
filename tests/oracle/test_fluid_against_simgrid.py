"""Oracle: random tasks end at the same instants in our fluid engine and in SimGrid 3.32 itself.

1,250 tasks with random matrices, repeated hosts, several cores, no work, cancellations and changes of speed, on four
kinds of platforms. The seeds of the star are those with which SimGrid comes to an end: with two very unequal users of
one loopback link (a fat pipe) it may calculate for hours.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from spillway.platforms import Platform, load_platform
from spillway.simulator.engines.by_name import Engine
from tests.kit.tasks import FluidEngine, SimgridEngine
from tests.oracle.tasks import Outcome, Script, platform_text, play, random_script, random_task

pytestmark = pytest.mark.usefixtures("binding")

CASES = [("dragonfly", 20), ("fat-tree", 21), ("torus", 22), ("star", 23), ("star", 25)]
TASKS = 250


def written(name: str, file: Path) -> Platform:
    """Write a platform file; the platform as we read it."""
    file.write_text(platform_text(name))
    return load_platform(file)


def worst(ours: Outcome, theirs: Outcome) -> float:
    """Largest difference of a duration, relative to it; the clock's own last bit does not count."""
    differences = [
        max(0.0, abs(ours.ends[task] - end) - 2.0 * math.ulp(end)) / max(end - theirs.begins[task], 1e-12)
        for task, end in theirs.ends.items()
    ]
    return max(differences)


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_random_scripts_agree_to_the_last_bit(name: str, seed: int, platform_file: Path) -> None:
    """Same ends, same order of simultaneous ends, same progress at cancellation."""
    platform = written(name, platform_file)
    script = random_script(seed, TASKS, platform)
    with FluidEngine(platform) as fluid, SimgridEngine(platform_file, platform) as simgrid:
        ours, theirs = play(script, fluid), play(script, simgrid)
        fluid.check()
    assert len(theirs.ends) + len(theirs.cancelled) == TASKS
    assert theirs.cancelled, "the script is meant to cancel some tasks"
    assert ours.order == theirs.order
    assert ours.ends == theirs.ends
    assert ours.cancelled == pytest.approx(theirs.cancelled, rel=1e-9, abs=1e-12)


def stopping(script: Script, engine: Engine) -> Outcome:
    """Play only the starts of a script, driving the clock only by ``advance``."""
    outcome = Outcome()
    numbers: dict[int, int] = {}
    for event, time in [*enumerate(script.times), (-1, math.inf)]:
        while True:
            ended = engine.advance(time)
            outcome.ends.update((numbers[handle], engine.clock) for handle in ended)
            if engine.clock >= time or not engine.active:
                break
        if event in script.starts:
            number = len(numbers)
            numbers[engine.start(script.starts[event])] = number
            outcome.begins[number] = engine.clock
    return outcome


@pytest.mark.parametrize("name", ["dragonfly", "fat-tree"])
def test_arbitrary_stops_agree(name: str, platform_file: Path) -> None:
    """Driven by ``advance(until)``, durations agree within 1e-9: only the rounding of the stops differs."""
    platform = written(name, platform_file)
    script = random_script(3, 150, platform)
    with FluidEngine(platform) as fluid, SimgridEngine(platform_file, platform) as simgrid:
        ours, theirs = stopping(script, fluid), stopping(script, simgrid)
    assert len(theirs.ends) == len(script.starts)
    assert worst(ours, theirs) < 1e-9


def test_tasks_without_contention_agree(platform_file: Path) -> None:
    """Every kind of task alone: latency, window bound, one host, one host twice, no work at all."""
    platform = written("star", platform_file)
    rng = np.random.default_rng(8)
    with FluidEngine(platform) as fluid, SimgridEngine(platform_file, platform) as simgrid:
        for _ in range(60):
            task = random_task(rng, len(platform.hosts))
            for engine in (fluid, simgrid):
                handle = engine.start(task)
                assert engine.advance(math.inf) == [handle]
            assert fluid.clock == pytest.approx(simgrid.clock, rel=1e-12)
