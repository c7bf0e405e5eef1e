"""Decisions about many applications are unchanged: recorded from the compiled form that the plain one replaced.

``python -m tests.schedulers.controllers.test_recorded_decisions`` records them anew; that is a change of results.
"""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spillway.schedulers.controllers.expansion import Expand
from spillway.schedulers.controllers.interference import Conflict, Interference, Strategy
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import IoEnded, Resize, Scene
from spillway.schedulers.controllers.sharing import Expansion
from tools.benchmarks.control_load import views

RECORDED = Path(__file__).parents[2] / "data" / "controllers" / "decisions.json"
SCENES = 150


def make_scene(seed: int) -> Scene:
    """A dozen applications with next I/O phases at few distinct times, so that many collide."""
    numbers = random.Random(seed)
    running = [_moved(view, numbers) for view in views(12, seed)]
    ended = tuple(IoEnded(view.id, 0.0, 0.0, 1.0) for view in running if numbers.random() < 0.6)
    return Scene(3000.0, tuple(running), ended, numbers.choice([0, 4, 30, 200, 2000]))


def _moved(view: AppView, numbers: random.Random) -> AppView:
    steps: tuple[Step, ...] = ()
    if numbers.random() < 0.15:
        steps = (Step(24, 4), Step(36, -4))[: numbers.randint(1, 2)]
    if numbers.random() < 0.3:
        view = replace(view, nodes=view.base + numbers.randint(1, 20))
    application = replace(view.application, overhead_s=numbers.choice([2.0, 2.0, 2.0, 0.0, 60.0, 200.0, 600.0]))
    view = replace(view, application=application)
    view = replace(view, iteration=numbers.choice([20, 20, 20, 24, 36]), steps=steps, held=view.nodes + 4)
    assert view.next_phase is not None
    start_s = 5000.0 + numbers.choice([0.0, 0.5, 1.0, 3.5, 60.0, 400.0])
    return replace(view, since_s=view.since_s + start_s - view.next_phase.start_s)


def decisions(seed: int) -> dict[str, Any]:
    """Decisions about a scene by an interference controller and a rule of expansion, drawn from the seed."""
    numbers, scene = random.Random(-seed - 1), make_scene(seed)
    strategy = numbers.choice([Strategy.WATCH, Strategy.SHIFT, Strategy.SHIFT, Strategy.COUPLE, Strategy.COUPLE])
    margins = numbers.choice([0.0, 0.5, 2.0]), numbers.choice([0.0, 1.5])
    conflicts: list[Conflict] = []
    interference = Interference(strategy, *margins, tolerance=numbers.choice([0.0, 0.1]), tell=conflicts.append)
    resizes = list(interference(scene))
    expansion = numbers.choice([Expansion.FAIR, Expansion.SPEEDUP, Expansion.IO, Expansion.IO])
    expand = Expand(expansion, numbers.choice([0.5, 1.0, 2.0]), numbers.choice([0.0, 1.0, 20.0]))
    taken = sum(resize.growth for resize in resizes)
    return {
        "resizes": [_row(resize) for resize in resizes],
        "conflicts": [
            [
                conflict.first, conflict.second, conflict.start_s, conflict.other_s, conflict.outcome, conflict.chosen,
                conflict.extra, conflict.shift_s,
            ]
            for conflict in conflicts
        ],
        "expansions": [_row(resize) for resize in expand(scene, taken, {resize.id for resize in resizes})],
    }  # fmt: skip


def _row(resize: Resize) -> list[Any]:
    steps = [[step.iteration, step.change] for step in resize.steps]
    return [resize.id, steps, resize.reason.value, resize.until_s]


@pytest.mark.parametrize("first", range(0, SCENES, 50))
def test_decisions_are_those_that_were_recorded(first: int) -> None:
    """To the last bit: resizes with times and amounts, the outcome of every conflict, the use of idle nodes."""
    recorded = json.loads(RECORDED.read_text())
    assert len(recorded) == SCENES
    for seed in range(first, first + 50):
        assert decisions(seed) == recorded[seed], f"scene {seed}"


def test_the_recorded_decisions_show_every_outcome() -> None:
    """Shifts, couplings and every reason for doing neither are among them."""
    outcomes = {conflict[4] for entry in json.loads(RECORDED.read_text()) for conflict in entry["conflicts"]}
    assert len(outcomes) == 9, sorted(outcomes)


if __name__ == "__main__":
    RECORDED.write_text("[\n" + ",\n".join(json.dumps(decisions(seed)) for seed in range(SCENES)) + "\n]\n")
