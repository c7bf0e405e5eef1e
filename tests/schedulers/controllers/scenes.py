"""Random scenes for properties of the controllers: few distinct times, so that collisions and ties are frequent."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from spillway.schedulers.applications.application import Application, read_application
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.overlaps import Fleet
from spillway.schedulers.controllers.prediction import Phase, Step
from spillway.schedulers.controllers.running_application import Activity, AppView
from spillway.schedulers.controllers.scene import IoEnded, Scene, WaitingRequest


def fleet_of(phases: Sequence[Phase]) -> Fleet:
    """Arrays of these phases."""
    table = np.array([(phase.start_s, phase.duration_s, phase.period_s) for phase in phases], np.float64)
    return Fleet(*table.reshape(-1, 3).T)


@st.composite
def _applications(draw: st.DrawFn) -> tuple[Application, int]:
    nodes = draw(st.integers(1, 12))
    control_every = draw(st.sampled_from([2, 5, 5]))
    io_every = control_every * draw(st.sampled_from([4, 4, 4, 4, 8, 1, 0]))
    description = {
        "iterations": draw(st.sampled_from([40, 80, 43])),
        "io_every": io_every,
        "control_every": control_every,
        "minimum": draw(st.integers(1, nodes)),
        "maximum": draw(st.sampled_from([nodes + 20, nodes + 3, nodes])),
        "overhead": draw(st.sampled_from([0.0, 1.0])),
        "model": {
            "work": nodes * draw(st.sampled_from([4.0, 5.0, 5.25, 10.0])),
            "serial": draw(st.sampled_from([0.0, 0.5])),
            "comm_node": draw(st.sampled_from([0.0, 0.0, 0.1])),
            "io_fixed": draw(st.sampled_from([0.0, 1.0, 4.0])),
        },
    }
    return read_application(description, nodes), nodes


@st.composite
def _observed(draw: st.DrawFn, application: Application, nodes: int) -> Observations:
    seen = Observations()
    for size in draw(st.lists(st.sampled_from([nodes, nodes, application.minimum, application.maximum]), max_size=3)):
        factor = draw(st.sampled_from([1.0, 1.0, 0.9, 1.2]))
        seconds = application.control_every * application.model.iteration_s(size) * factor
        seen = seen.interval(size, application.control_every, seconds)
    for seconds in draw(st.lists(st.sampled_from([1.0, 3.0, 5.5]), max_size=2)):
        seen = seen.io_phase(seconds)
    return seen


@st.composite
def views(draw: st.DrawFn, place: int) -> AppView:
    """A running application."""
    application, base = draw(_applications())
    nodes = base if draw(st.integers(0, 2)) else draw(st.integers(base, application.maximum))
    intervals = (application.iterations - 1) // application.control_every
    passed = draw(st.sampled_from([4, 4, 0, 0, 1, 2, 7]))  # mostly an I/O phase has just ended
    iteration = application.control_every * min(passed, intervals)
    steps: tuple[Step, ...] = ()
    first = application.next_control(iteration)
    if first < application.iterations and draw(st.integers(0, 4)) == 4:
        other = draw(st.integers(base, application.maximum))
        back = application.next_control(first)
        steps = (Step(first, other - nodes),)
        if back < application.iterations and draw(st.booleans()):
            steps += (Step(back, nodes - other),)
    held = nodes + draw(st.integers(0, 2)) + max([0, *(step.change for step in steps)])
    view = AppView(
        f"w0!{place}", application, draw(_observed(application, nodes)), Activity.COMPUTE, iteration, 0.0, nodes, base,
        held, steps,
    )  # fmt: skip
    start_s = draw(st.sampled_from([300.0, 301.0, 303.5, 310.0, 340.0, 400.0]))
    return replace(view, since_s=start_s - view.next_phase.start_s) if view.next_phase else view


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Up to eight applications, some just after a write, some idle nodes, some waiting jobs."""
    running = [draw(views(place)) for place in range(draw(st.integers(0, 8)))]
    names = [view.id for view in running] + ["w0!gone"]
    ended = [IoEnded(name, 0.0, 0.0, 1.0) for name in draw(st.lists(st.sampled_from(names), max_size=9))]
    idle = draw(st.sampled_from([30, 1000, 4, 1, 0]))
    waiting = [WaitingRequest(nodes) for nodes in draw(st.lists(st.integers(1, 40), max_size=2))]
    return Scene(30.0, tuple(running), tuple(ended), idle, tuple(waiting))
