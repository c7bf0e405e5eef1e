"""Calculations on arrays give the same as those by application and by node."""

import math
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.controllers.expansion import Expand, NodeCollection, collection
from spillway.schedulers.controllers.prediction import Phase, Step, io_duration_s
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import Reason, Resize, Scene
from spillway.schedulers.controllers.sharing import Candidate, Expansion
from tests.schedulers.controllers.node_by_node import node_by_node
from tests.schedulers.controllers.scenes import scenes

NEVER = Phase(math.inf, 0.0, math.inf)
"""The phase of an application that does no more I/O."""


@settings(max_examples=30)
@given(scene=scenes())
def test_the_outlook_is_what_each_application_says(scene: Scene) -> None:
    """To the last bit."""
    outlook = scene.outlook
    for place, view in enumerate(scene.applications):
        phase = view.next_phase or NEVER
        assert (outlook.starts_s[place], outlook.durations_s[place]) == (phase.start_s, phase.duration_s)
        assert (outlook.periods_s[place], outlook.errors_s[place]) == (phase.period_s, phase.error_s)
        assert (outlook.control_s[place], outlook.settled[place]) == (view.control_s, view.settled_nodes)
        assert (outlook.willing[place], outlook.maximum[place]) == (view.willing, view.application.maximum)


@settings(max_examples=60)
@given(
    scene=scenes(),
    expansion=st.sampled_from([Expansion.FAIR, Expansion.SPEEDUP, Expansion.IO]),
    weight=st.sampled_from([0.0, 0.5, 1.0]),
    profit=st.sampled_from([0.0, 1.0, 20.0]),
    data=st.data(),
)
def test_expansion(scene: Scene, expansion: Expansion, weight: float, profit: float, data: st.DataObject) -> None:
    """The applications' extra nodes and their ends; nodes and applications of another controller are left out."""
    touched = set(data.draw(st.lists(st.sampled_from([view.id for view in scene.applications] or ["none"]))))
    taken = data.draw(st.integers(0, 5))
    found = list(Expand(expansion, weight, profit)(scene, taken, touched))
    left = replace(scene, applications=[view for view in scene.applications if view.id not in touched])
    assert found == list(_plainly_expanded(left, scene.idle - taken, expansion, weight, profit))


def _plainly_expanded(scene: Scene, idle: int, expansion: Expansion, weight: float, profit: float) -> list[Resize]:
    views = [view for view in scene.applications if view.willing and view.nodes < view.application.maximum]
    candidates = [_candidate(view) for view in views]
    if expansion is Expansion.FAIR:
        given_nodes = _in_turn([candidate.most for candidate in candidates], idle)
    else:
        given_nodes = node_by_node(candidates, idle, weight if expansion is Expansion.IO else 0.0)
    found = []
    for view, extra in zip(views, given_nodes, strict=True):
        model = view.application.model
        left = view.application.iterations - view.next_control
        saved_s = left * (model.iteration_s(view.nodes) - model.iteration_s(view.nodes + extra))
        if extra and saved_s > 2 * profit * view.application.overhead_s:
            found.append(Resize(view.id, (Step(view.next_control, extra),), Reason.EXPAND, view.returnable_s))
    return found


def _candidate(view: AppView) -> Candidate:
    application = view.application
    io_s = io_duration_s(application, view.observed, view.nodes)
    return Candidate(application.model, view.nodes, application.io_every, io_s)


def _in_turn(limits: list[int], idle: int) -> list[int]:
    """One node each in turn, within their limits."""
    given_nodes = [0] * len(limits)
    while idle > 0 and given_nodes != limits:
        for place, limit in enumerate(limits):
            if given_nodes[place] < limit and idle > 0:
                given_nodes[place] += 1
                idle -= 1
    return given_nodes


@settings(max_examples=30)
@given(scene=scenes())
def test_collection(scene: Scene) -> None:
    """Applications that could give nodes back, in order, and whether that suffices for one of the jobs."""
    expanded = [
        view
        for view in scene.applications
        if view.settled_nodes > view.base
        and view.next_control < view.application.iterations
        and not any(step.change < 0 for step in view.steps)
    ]
    there = scene.idle + sum(max(0, view.held - view.settled_nodes) for view in scene.applications)
    most = there + sum(view.settled_nodes - view.base for view in expanded)
    wanted = next((wish.nodes for wish in scene.waiting if scene.idle < wish.nodes <= most), 0)
    expanded.sort(key=lambda view: view.control_s)
    expected = (
        NodeCollection(wanted, max(0, wanted - there), tuple(expanded)) if scene.waiting else NodeCollection(0, 0, ())
    )
    assert collection(scene) == expected
