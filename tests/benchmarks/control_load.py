"""Scenes with many running applications: what a control decision costs. ``python -m tests.benchmarks.control_load``."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import replace

from schedulers.applications.application import read_application
from schedulers.controllers.control import Control, make_controllers
from schedulers.controllers.interference import Strategy
from schedulers.controllers.observed import Observed
from schedulers.controllers.scene import Activity, AppView, IoEnded, Resize, Scene, Wish
from schedulers.controllers.sharing import Expansion

CONTROLS: Mapping[str, Control] = {
    "phase-shifting": Control(interference=Strategy.SHIFT),
    "period-coupling": Control(interference=Strategy.COUPLE),
    "fair": Control(expansion=Expansion.FAIR),
    "speedup": Control(expansion=Expansion.SPEEDUP),
    "io": Control(expansion=Expansion.IO),
    "coupling and io": Control(interference=Strategy.COUPLE, expansion=Expansion.IO),
}


def views(count: int, seed: int = 0) -> list[AppView]:
    """Applications of 1 to 64 nodes, that may grow to 256, observed over five intervals and an I/O phase."""
    numbers = random.Random(seed)
    found = []
    for index in range(count):
        nodes, period_s = numbers.randint(1, 64), numbers.uniform(300.0, 3000.0)
        work, serial = period_s / 20 * nodes * numbers.uniform(0.7, 1.0), numbers.uniform(0.0, 3.0)
        application = read_application(
            {"iterations": 400, "io_every": 20, "control_every": 4, "minimum": 1, "maximum": 256, "overhead": 2.0,
             "model": {"work": work, "serial": serial, "io_fixed": 1.0}}, nodes
        )  # fmt: skip
        seen = Observed().io_phase(numbers.uniform(0.1, 2.0))
        for _ in range(5):
            seconds = 4 * application.model.iteration_s(nodes) * numbers.uniform(0.98, 1.02)
            seen = seen.interval(nodes, 4, seconds)
        since_s = numbers.uniform(0.0, 3000.0)
        found.append(AppView(f"w0!{index}", application, seen, Activity.COMPUTE, 20, since_s, nodes, nodes, nodes))
    return found


def scene(known: list[AppView], idle: int) -> Scene:
    """The first application has just written; all others are as they were."""
    known[0] = replace(known[0], since_s=known[0].since_s + 1.0)
    return Scene(3000.0, tuple(known), (IoEnded(known[0].id, 0.0, 0.0, 1.0),), idle, (Wish(100_000),))


def decide(control: Control, looked_at: Scene) -> list[Resize]:
    """One decision."""
    return list(make_controllers(control)(looked_at))


def main() -> None:
    """Print processor milliseconds per decision: median of eleven, by control and idle nodes."""
    known = views(1000)
    for name, control in CONTROLS.items():
        for idle in (100, 1000):
            times = []
            for _ in range(12):
                looked_at = scene(known, idle)
                begin = time.process_time()
                decide(control, looked_at)
                times.append(1e3 * (time.process_time() - begin))
            print(f"{name}, {idle} idle nodes: {sorted(times[1:])[5]:.2f} ms (first {times[0]:.2f} ms)")


if __name__ == "__main__":
    main()
