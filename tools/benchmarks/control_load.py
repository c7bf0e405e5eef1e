"""Cost of a control decision with many running applications: ``python -m tools.benchmarks.control_load``."""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from spillway.schedulers.applications.application import read_application
from spillway.schedulers.controllers.control import Control, Controllers, make_controllers
from spillway.schedulers.controllers.interference import Conflict, Strategy
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import Activity, AppView
from spillway.schedulers.controllers.scene import IoEnded, Resize, Scene, WaitingRequest
from spillway.schedulers.controllers.sharing import Expansion

CONTROLS: Mapping[str, Control] = {
    "phase-shifting": Control(interference=Strategy.SHIFT),
    "period-coupling": Control(interference=Strategy.COUPLE),
    "fair": Control(expansion=Expansion.FAIR),
    "speedup": Control(expansion=Expansion.SPEEDUP),
    "io": Control(expansion=Expansion.IO),
    "shifting and fair": Control(interference=Strategy.SHIFT, expansion=Expansion.FAIR),
    "coupling and io": Control(interference=Strategy.COUPLE, expansion=Expansion.IO),
}

EVERYTHING = 1_000_000
"""Request of a waiting job that cannot be met, so that no nodes are collected for it."""


@dataclass(frozen=True)
class Situation:
    """State that the controllers read.

    Attributes
    ----------
    make
        Gives the running applications, from a seed.
    new
        Whether they are new in every round, with nothing calculated for them yet.
    all_written
        Whether all of them have just written, or only the first.
    idle, waiting
        Idle nodes, and nodes that a waiting job requests.
    """

    make: Callable[[int], list[AppView]]
    new: bool = False
    all_written: bool = False
    idle: int = 100
    waiting: int = EVERYTHING


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
        seen = Observations().io_phase(numbers.uniform(0.1, 2.0))
        for _ in range(5):
            seconds = 4 * application.model.iteration_s(nodes) * numbers.uniform(0.98, 1.02)
            seen = seen.interval(nodes, 4, seconds)
        since_s = numbers.uniform(0.0, 3000.0)
        found.append(AppView(f"w0!{index}", application, seen, Activity.COMPUTE, 20, since_s, nodes, nodes, nodes))
    return found


def pairs(seed: int, apart_s: float = 1e5) -> list[AppView]:
    """A thousand that collide in pairs, and with no other application after any shift."""
    found = views(1000, seed)
    for place, view in enumerate(found):
        phase = view.next_phase
        assert phase is not None
        wanted_s = apart_s * (1 + place // 2) + 0.3 * (place % 2)
        found[place] = replace(view, since_s=view.since_s + wanted_s - phase.start_s)
    return found


def at_once(seed: int) -> list[AppView]:
    """A thousand that all write at the same time."""
    return pairs(seed, 0.0)


def resizing(seed: int) -> list[AppView]:
    """A thousand that all have two changes of size agreed."""
    return [replace(view, steps=(Step(24, 4), Step(36, -4)), held=view.held + 4) for view in views(1000, seed)]


def resized(seed: int) -> list[AppView]:
    """A thousand that all hold twice the nodes that they were submitted with, a size that was not observed."""
    return [replace(view, nodes=2 * view.base, held=2 * view.base) for view in views(1000, seed)]


SITUATIONS: Mapping[str, Situation] = {
    "one has written": Situation(lambda seed: views(1000, seed)),
    "the same, 20,000 idle nodes": Situation(lambda seed: views(1000, seed), idle=20_000),
    "all are new": Situation(lambda seed: views(1000, seed), new=True),
    "all are new, 20,000 idle nodes": Situation(lambda seed: views(1000, seed), new=True, idle=20_000),
    "all are new and resizing": Situation(resizing, new=True),
    "all are new and extra nodes are called back": Situation(resized, new=True, waiting=30_000),
    "all are new, collide in pairs and have written": Situation(pairs, new=True, all_written=True, idle=1000),
    "all are new, collide with all and have written": Situation(at_once, new=True, all_written=True, idle=1000),
}


def scene(known: list[AppView], idle: int, waiting: int = EVERYTHING, written: int = 1) -> Scene:
    """Scene in which the first applications have just written, one with a new report; all others are unchanged.

    The facts of each were calculated with its last report, as in the execution model.
    """
    known[0] = replace(known[0], since_s=known[0].since_s + 1.0)
    report(known)
    ended = tuple(IoEnded(view.id, 0.0, 0.0, 1.0) for view in known[:written])
    return Scene(3000.0, tuple(known), ended, idle, (WaitingRequest(waiting),))


def report(known: list[AppView]) -> float:
    """Calculate the facts of applications; return the processor microseconds for each."""
    begin = time.process_time()
    for view in known:
        _ = view.facts
    return 1e6 * (time.process_time() - begin) / len(known)


def decide(control: Control, looked_at: Scene) -> list[Resize]:
    """Make one decision."""
    return list(make_controllers(control)(looked_at))


def cost_ms(controllers: Controllers, looked_at: Scene) -> float:
    """Processor milliseconds of a decision."""
    begin = time.process_time()
    for _ in controllers(looked_at):
        pass
    return 1e3 * (time.process_time() - begin)


def _rounds(situation: Situation, control: Control, rounds: int) -> tuple[list[float], str]:
    """Milliseconds of each round, ascending, and the decisions of the last one."""
    reported: list[Conflict] = []
    controllers = make_controllers(control, reported.append)
    known, times = situation.make(0), []
    cost_ms(controllers, scene(known, situation.idle, situation.waiting))
    for round_ in range(rounds):
        if situation.new:
            known = situation.make(round_ + 1)
        written = len(known) if situation.all_written else 1
        looked_at = scene(known, situation.idle, situation.waiting, written)
        reported.clear()
        gc.collect()  # garbage of other rounds does not count
        times.append(cost_ms(controllers, looked_at))
    resizes = len(list(controllers(looked_at)))
    return sorted(times), f"{len(reported) // 2} conflicts, {resizes} resizes"


def main() -> None:
    """Print processor milliseconds per decision, by control and situation."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--rounds", type=int, default=50, help="decisions for each (%(default)s)")
    rounds = parser.parse_args().rounds
    worst = 0.0
    for words, make in (("", SITUATIONS["one has written"].make), (", resizing", resizing)):
        print(f"a report{words}: {min(report(make(seed)) for seed in range(5)):.1f} microseconds")
    for name, situation in SITUATIONS.items():
        print(f"{name} ({situation.idle:,} idle nodes)")
        for control in CONTROLS:
            times, decided = _rounds(situation, CONTROLS[control], rounds)
            worst = max(worst, times[-1])
            late = times[min(len(times) - 1, int(0.99 * len(times)))]
            print(
                f"  {control:18} p50 {times[len(times) // 2]:6.2f}  p99 {late:6.2f}  max {times[-1]:6.2f} ms  {decided}"
            )
    print(f"worst of all: {worst:.2f} ms")


if __name__ == "__main__":
    main()
