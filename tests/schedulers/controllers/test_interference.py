"""The I/O interference controller on scenes made by hand: the applications that it resizes, the times, and cases
without a resize."""

from dataclasses import replace

from spillway.schedulers.applications.application import read_application
from spillway.schedulers.controllers.interference import Conflict, Interference, Strategy
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import Activity, AppView
from spillway.schedulers.controllers.scene import IoEnded, Reason, Resize, Scene


def view(name: str, start_s: float, period_s: float = 200.0, nodes: int = 10, io_s: float = 20.0) -> AppView:
    """An application with its next phase predicted for ``start_s``: 20 iterations, control points every 4."""
    work = (period_s - io_s) / 20 * nodes
    application = read_application(
        {"iterations": 400, "io_every": 20, "control_every": 4, "minimum": 1, "maximum": 100, "overhead": 1.0,
         "model": {"work": work, "io_fixed": io_s}}, nodes
    )  # fmt: skip
    since_s = start_s - (period_s - io_s)
    return AppView(name, application, Observations(), Activity.COMPUTE, 20, since_s, nodes, nodes, nodes)


def decide(controller: Interference, *views: AppView, idle: int = 50) -> list[Resize]:
    """Resizes requested after the first application's I/O phase."""
    ended = (IoEnded(views[0].id, 0.0, 0.0, 20.0),)
    return list(controller(Scene(20.0, views, ended, idle)))


def test_a_shift_by_hand() -> None:
    """Predicted [200, 220 + 2) and [210, 230 + 2): equal periods, the first phase gives way.

    12 s of overlap, 2 s uncertainty, 2 x 1 s overhead: 16 s of the 3 x 36 s between the control points at iterations
    24 and 36 are to be saved: speed-up 108/92, 11.74 of 10 nodes.
    """
    found = decide(Interference(), view("a", 200.0), view("b", 210.0))
    assert found == [Resize("a", (Step(24, 2), Step(36, -2)), Reason.SHIFT, 200.0)]


def test_refusals_are_told() -> None:
    """Too few idle nodes; an application that is being resized already; one with a single size."""
    reported: list[Conflict] = []
    controller = Interference(tell=reported.append)
    first, second = view("a", 200.0), view("b", 210.0)
    assert decide(controller, first, second, idle=1) == []
    assert decide(controller, replace(first, steps=(Step(28, 1),)), second) == []
    assert [conflict.outcome for conflict in reported] == [
        "too few nodes are idle", "it is being resized already, or has one size only"
    ]  # fmt: skip
    assert (reported[0].first, reported[0].second, reported[0].start_s) == ("a", "b", 200.0)


def test_watching_tells_and_does_nothing() -> None:
    """The predictor without the controller (use case A)."""
    reported: list[Conflict] = []
    assert decide(Interference(Strategy.WATCH, tell=reported.append), view("a", 200.0), view("b", 210.0)) == []
    assert [(conflict.start_s, conflict.other_s) for conflict in reported] == [(200.0, 210.0)]


def test_coupling_by_hand() -> None:
    """Periods 200 and 230 s: b is to get 200: 180 s of computation in place of 210, 12 nodes in place of 10."""
    found = decide(Interference(Strategy.COUPLE), view("a", 200.0), view("b", 210.0, 230.0))
    assert [(resize.id, resize.steps, resize.reason) for resize in found] == [("b", (Step(24, 2),), Reason.COUPLE)]


def test_more_uncertain_predictions_get_more_room() -> None:
    """Intervals of 36 s that vary by 4 s: two standard errors of five of them are more than the gap of 8 s."""
    seen = Observations()
    for seconds in (32.0, 40.0, 32.0, 40.0):
        seen = seen.interval(10, 4, seconds)
    first, second = replace(view("a", 200.0), observed=seen), replace(view("b", 230.0), observed=seen)
    assert decide(Interference(), first, second) == []
    assert decide(Interference(sigmas=2.0), first, second) != []
