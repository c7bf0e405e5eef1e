"""Random scenes for properties of the controllers: few distinct times, so that collisions and ties are frequent."""

from __future__ import annotations

from hypothesis import strategies as st

from schedulers.applications.application import Application, read_application
from schedulers.controllers.observed import Observed
from schedulers.controllers.prediction import Step
from schedulers.controllers.running import Activity, AppView
from schedulers.controllers.scene import IoEnded, Scene, Wish


@st.composite
def _applications(draw: st.DrawFn) -> tuple[Application, int]:
    nodes = draw(st.integers(1, 12))
    control_every = draw(st.sampled_from([1, 2, 5]))
    io_every = control_every * draw(st.sampled_from([0, 1, 4, 4]))
    description = {
        "iterations": draw(st.sampled_from([20, 40, 43])),
        "io_every": io_every,
        "control_every": control_every,
        "minimum": draw(st.integers(1, nodes)),
        "maximum": draw(st.sampled_from([nodes, nodes + 3, nodes + 20])),
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
def _observed(draw: st.DrawFn, application: Application, nodes: int) -> Observed:
    seen = Observed()
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
    nodes = draw(st.integers(base, application.maximum))
    passed = application.control_every * draw(st.integers(0, application.iterations // application.control_every))
    iteration = min(passed, application.iterations - 1) // application.control_every * application.control_every
    steps: tuple[Step, ...] = ()
    first = application.next_control(iteration)
    if first < application.iterations and draw(st.integers(0, 3)) == 0:
        other = draw(st.integers(base, application.maximum))
        back = application.next_control(first)
        steps = (Step(first, other - nodes),)
        if back < application.iterations and draw(st.booleans()):
            steps += (Step(back, nodes - other),)
    held = nodes + draw(st.integers(0, 2)) + max([0, *(step.change for step in steps)])
    return AppView(
        f"w0!{place}", application, draw(_observed(application, nodes)), Activity.COMPUTE, iteration,
        float(draw(st.integers(0, 30))), nodes, base, held, steps,
    )  # fmt: skip


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Up to nine applications, some of which have just written, some idle nodes, some waiting jobs."""
    running = [draw(views(place)) for place in range(draw(st.integers(0, 9)))]
    names = [view.id for view in running] + ["w0!gone"]
    ended = [IoEnded(name, 0.0, 0.0, 1.0) for name in draw(st.lists(st.sampled_from(names), max_size=9))]
    idle = draw(st.sampled_from([0, 1, 4, 30, 1000]))
    waiting = [Wish(nodes) for nodes in draw(st.lists(st.integers(1, 40), max_size=2))]
    return Scene(30.0, tuple(running), tuple(ended), idle, tuple(waiting))
