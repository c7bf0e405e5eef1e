"""Applications that request changes of size themselves: read, granted where possible, by hand and on scenes."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.applications.application import SizeRequest, read_application
from spillway.schedulers.controllers.control import (
    Control,
    admission,
    due_change,
    granted,
    make_controllers,
)
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.scene import Reason, Resize, Scene, WaitingRequest
from tests.schedulers.controllers.played import application, play
from tests.schedulers.controllers.scenes import scenes
from tests.schedulers.controllers.test_expansion import view


def evolving(*requests: tuple[int, int], **changes: Any) -> dict[str, Any]:
    """The application of the hand cases, with requests ``(iteration, nodes)``."""
    return application(requests=[{"iteration": at, "nodes": nodes} for at, nodes in requests], **changes)


def test_a_job_grows_and_shrinks_when_it_asks_for_it() -> None:
    """Two nodes; four from iteration 4 on, one from 8 on; ten iterations of 40/n s, reconfigurations of 3 s.

    Four iterations on two nodes take 80 s, the reconfiguration ends at 83; four on four nodes take 40 s: 123, and 126;
    the last two on one node take 80 s: 206.
    """
    seen = play({"a": {"nodes": 2, "malleable": evolving((4, 4), (8, 1))}})
    assert seen.sizes["a"] == [(0.0, 2), (83.0, 4), (126.0, 1)]
    assert seen.ends["a"][0] == pytest.approx(206.0, abs=0.01)


def test_what_it_asked_for_is_its_own() -> None:
    """A job that waits does not get these nodes back: two nodes from 43 on are kept until the end, at 123.

    Two iterations on one node take 80 s in the first form; here: 2 x 20 s, 3 s, 8 x 10 s.
    """
    jobs = {
        "a": {"nodes": 2, "malleable": evolving((2, 4))},
        "late": {"nodes": 2, "subtime": 50.0, "delay": 10.0},
    }
    seen = play(jobs, expansion="fair")
    assert seen.sizes["a"] == [(0.0, 2), (43.0, 4)]
    assert seen.starts["late"] == pytest.approx(123.0, abs=0.01)


def test_nodes_are_not_given_while_a_job_waits_for_them() -> None:
    """Shrink to admit goes first: while nodes are on their way to a waiting job, no application grows."""
    jobs = {
        "a": {"nodes": 1, "malleable": evolving((2, 4), model={"work": 15.0})},
        "b": {"nodes": 2, "malleable": application(maximum=2)},
        "late": {"nodes": 2, "delay": 200.0},
    }
    seen = play(jobs, shrink="to-admit")
    assert seen.sizes["a"] == [(0.0, 1)]
    assert seen.starts["late"] == 43.0


@pytest.mark.parametrize(("requests", "words"), [
    (3, "malleable.requests must be a list"),
    ([3], r"malleable.requests\[0\] must be an object with iteration and nodes, got 3"),
    ([{"iteration": 2}], r"malleable.requests\[0\] must be an object with iteration and nodes"),
    ([{"iteration": 2, "nodes": 2, "x": 1}], r"malleable.requests\[0\] must be an object with iteration and nodes"),
    ([{"iteration": 2, "nodes": 9}], r"malleable.requests\[0\].nodes must be a whole number from 1 to 4, got 9"),
    ([{"iteration": 2, "nodes": True}], r"malleable.requests\[0\].nodes must be"),
    ([{"iteration": 10, "nodes": 2}], r"malleable.requests\[0\].iteration must be a whole number from 1 to 9"),
    ([{"iteration": 3, "nodes": 2}], r"requests\[0\].iteration: 3 is no multiple of control_every, 2"),
    ([{"iteration": 4, "nodes": 2}, {"iteration": 4, "nodes": 3}],
     r"malleable.requests\[1\].iteration: 4 does not come after 4"),
])  # fmt: skip
def test_wrong_requests_are_refused(requests: Any, words: str) -> None:
    """With their place."""
    with pytest.raises(ValueError, match=words):
        read_application(application(requests=requests), 2)


def test_requests_are_read() -> None:
    """As control points and sizes; requested at that iteration only."""
    found = read_application(evolving((2, 4), (6, 1)), 2)
    assert found.requests == (SizeRequest(2, 4), SizeRequest(6, 1))
    assert [found.requested_nodes(iteration) for iteration in (0, 2, 4, 6)] == [None, 4, None, 1]


@settings(max_examples=40)
@given(scene=scenes())
def test_without_requests_nothing_is_granted(scene: Scene) -> None:
    """Applications without requests are left as they are."""
    assert list(granted(scene)) == []
    assert all(due_change(view) == 0 for view in scene.applications)
    assert list(make_controllers(Control())(Scene(0.0, scene.applications, (), 5))) == []


def waiting(nodes: int, *views: Any, idle: int = 0) -> Scene:
    """A job waits for so many nodes."""
    return Scene(0.0, views, (), idle, (WaitingRequest(nodes),))


def given_up(scene: Scene) -> dict[str, int]:
    """Nodes by application."""
    assert all(resize.reason is Reason.ADMIT for resize in admission(scene))
    return {resize.id: resize.leaving for resize in admission(scene)}


def test_the_fewest_applications_shrink_the_widest_first() -> None:
    """Minimum 2 each. Of 4, 9 and 6 nodes: one gives 7; two give 9, the second only the rest."""
    three = (view("a", 4), view("b", 9), view("c", 6))
    assert given_up(waiting(7, *three)) == {"b": 7}
    assert given_up(waiting(3, *three)) == {"b": 3}
    assert given_up(waiting(9, *three)) == {"b": 7, "c": 2}
    assert given_up(waiting(9, *three, idle=8)) == {"b": 1}
    assert given_up(waiting(13, *three)) == {"b": 7, "c": 4, "a": 2}
    assert given_up(waiting(14, *three)) == {}
    assert given_up(waiting(3, *three, idle=3)) == {}, "it fits already"


@settings(max_examples=60)
@given(scene=scenes(), first=st.integers(1, 40))
def test_what_is_given_up_is_enough_and_not_more(scene: Scene, first: int) -> None:
    """Every resize is legal; the waiting job then fits, and would not with one node less of any of them."""
    looked_at = replace(scene, waiting=(WaitingRequest(first),))
    found = list(admission(looked_at))
    given = {resize.id: resize.leaving for resize in found}
    known = {item.id: item for item in looked_at.applications}
    for resize in found:
        one = known[resize.id]
        assert one.willing
        assert one.application.minimum <= one.nodes - resize.leaving < one.nodes
        assert resize == Resize(one.id, (Step(one.next_control, -resize.leaving),), Reason.ADMIT, one.left_s)
    if found:
        assert looked_at.admits(given)
        assert not looked_at.admits({})
        for name in given:
            assert not looked_at.admits(given | {name: given[name] - 1})
