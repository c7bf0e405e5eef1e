"""Oracle: 1,176 parallel tasks on the thesis's Dragonfly, with published durations in SimGrid 3.32."""

from __future__ import annotations

import json
import lzma
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from spillway.platforms import Platform, load_platform
from tests.kit.tasks import AllToAll, FluidEngine, Pairs, TaskSpec
from tests.reference.fluid import ReferenceEngine

pytestmark = pytest.mark.reference


def spec(task: dict[str, Any], platform: Platform) -> TaskSpec:
    """A published task in our terms."""
    index = platform.host_index
    if task["kind"] == "transfer":
        return TaskSpec((index[task["from"]], index[task["to"]]), 0.0, Pairs((0,), (1,), (task["bytes"],)))
    hosts = tuple(index[name] for name in task["hosts"])
    return TaskSpec(hosts, task["flop_per_host"], AllToAll(task["bytes_per_ordered_pair"]))


def durations(
    tasks: list[dict[str, Any]], engine: FluidEngine | ReferenceEngine, platform: Platform, most: int = sys.maxsize
) -> dict[int, float]:
    """Seconds from the stated start of each task to its end.

    Published were ends of actors that slept until the stated start; some tasks take less than a millisecond at 6000 s,
    so the clock must round as SimGrid's does: starts are sleeps here too.
    """
    sleeping = {engine.sleep(task["start_s"]): number for number, task in enumerate(tasks)}
    running: dict[int, int] = {}
    found: dict[int, float] = {}
    while engine.active and len(found) < most:
        for handle in engine.advance(math.inf):
            if handle in sleeping:
                number = sleeping.pop(handle)
                running[engine.start(spec(tasks[number], platform))] = number
            else:
                number = running.pop(handle)
                found[number] = engine.clock - tasks[number]["start_s"]
    return found


def load(reference: Path) -> tuple[Platform, list[dict[str, Any]]]:
    """The platform and the cases."""
    folder = reference / "simulation"
    with lzma.open(folder / "ptask-cases.json.xz") as file:
        cases = json.load(file)["cases"]
    return load_platform(folder / "dragonfly96-full-routes.xml.xz"), cases


def test_every_published_duration_is_met(reference: Path) -> None:
    """All 1,176 within 1e-9 relative; in fact to the last bit."""
    platform, cases = load(reference)
    count = 0
    for case in cases:
        engine = FluidEngine(platform)
        found = durations(case["tasks"], engine, platform)
        engine.check()
        for number, task in enumerate(case["tasks"]):
            assert found[number] == pytest.approx(task["duration_s"], rel=1e-12), f"{case['case']}, task {number}"
            count += 1
    assert count == 1176


def test_the_plain_reference_meets_them_too(reference: Path) -> None:
    """The first ends of one scenario, with the engine in plain Python."""
    platform, cases = load(reference)
    tasks = cases[0]["tasks"]
    found = durations(tasks, ReferenceEngine(platform), platform, most=40)
    assert len(found) == 40
    for number, duration in found.items():
        assert duration == pytest.approx(tasks[number]["duration_s"], rel=1e-12)
