"""Expansion and return on scenes made by hand."""

from dataclasses import replace

from spillway.schedulers.applications.application import read_application
from spillway.schedulers.controllers.expansion import Expand, collection, give_back
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import Activity, AppView
from spillway.schedulers.controllers.scene import Reason, Resize, Scene, WaitingRequest
from spillway.schedulers.controllers.sharing import Expansion


def view(name: str, nodes: int = 4, base: int = 4, iteration: int = 0, serial: float = 0.0) -> AppView:
    """A hundred iterations of 60/n s, control points every 10, up to 12 nodes."""
    application = read_application(
        {"iterations": 100, "io_every": 20, "control_every": 10, "minimum": 2, "maximum": 12, "overhead": 3.0,
         "model": {"work": 60.0, "serial": serial, "io_fixed": 5.0}}, base
    )  # fmt: skip
    return AppView(name, application, Observations(), Activity.COMPUTE, iteration, 0.0, nodes, base, nodes)


def scene(*views: AppView, idle: int = 0, waiting: tuple[int, ...] = ()) -> Scene:
    """A look at time 0."""
    return Scene(0.0, views, (), idle, tuple(map(WaitingRequest, waiting)))


def returned(looked_at: Scene) -> list[Resize]:
    """Resizes that return extra nodes."""
    return list(give_back(collection(looked_at)))


def requested(resizes: list[Resize]) -> dict[str, int]:
    """Change by application."""
    return {resize.id: sum(step.change for step in resize.steps) for resize in resizes}


def test_idle_nodes_are_shared() -> None:
    """Five nodes fairly: 3 and 2, from the next control point on, back by the one after it."""
    found = list(Expand(Expansion.FAIR)(scene(view("a"), view("b"), idle=5)))
    assert requested(found) == {"a": 3, "b": 2}
    assert found[0] == Resize("a", (Step(10, 3),), Reason.EXPAND, 150.0 + 2 * 3.0 + 150.0)


def test_an_expansion_must_pay() -> None:
    """Near the end two reconfigurations cost more than they save: 10 iterations on 5 in place of 4 nodes save 30 s."""
    late = view("a", iteration=80)
    assert requested(list(Expand(Expansion.FAIR)(scene(late, idle=1)))) == {"a": 1}
    assert list(Expand(Expansion.FAIR, profit=5.1)(scene(late, idle=1))) == []
    assert list(Expand(Expansion.FAIR)(scene(view("a", iteration=90), idle=1))) == [], "no control point is left"


def test_nodes_are_returned_for_a_waiting_job() -> None:
    """A job waits for 6 nodes, 2 are idle: 4 of the extra ones, soonest back first, never below the own size."""
    slow, quick = replace(view("a", 9), since_s=50.0), view("b", 7)
    found = returned(scene(slow, quick, idle=2, waiting=(6,)))
    assert [(resize.id, resize.steps, resize.reason) for resize in found] == [
        ("b", (Step(10, -3),), Reason.RETURN), ("a", (Step(10, -1),), Reason.RETURN)
    ]  # fmt: skip
