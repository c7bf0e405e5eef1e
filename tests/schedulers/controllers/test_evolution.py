"""Applications that request changes of size themselves: read, granted where possible, by hand and on scenes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from spillway.schedulers.applications.application import SizeRequest, read_application
from spillway.schedulers.controllers.control import Control, make_controllers
from spillway.schedulers.controllers.evolution import due_change, granted
from spillway.schedulers.controllers.scene import Scene
from tests.schedulers.controllers.played import application, play
from tests.schedulers.controllers.scenes import scenes


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
    assert seen.ends["a"] == pytest.approx(206.0, abs=0.01)


def test_it_gets_what_is_free_and_goes_on() -> None:
    """A rigid job holds one of four nodes: it gets one of two, at 83; 6 iterations on three nodes take 80 s more.

    Where nothing is free at its request, nothing changes: 200 s.
    """
    grows = {"nodes": 2, "malleable": evolving((4, 4))}
    seen = play({"a": grows, "rigid": {"nodes": 1, "delay": 1000.0}})
    assert seen.sizes["a"] == [(0.0, 2), (83.0, 3)]
    assert seen.ends["a"] == pytest.approx(163.0, abs=0.01)
    seen = play({"a": grows, "rigid": {"nodes": 2, "delay": 1000.0}})
    assert seen.sizes["a"] == [(0.0, 2)]
    assert seen.ends["a"] == pytest.approx(200.0, abs=0.01)


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


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        (3, "malleable.requests must be a list"),
        ([3], r"malleable.requests\[0\] must be an object with iteration and nodes, got 3"),
        ([{"iteration": 2}], r"malleable.requests\[0\] must be an object with iteration and nodes"),
        ([{"iteration": 2, "nodes": 2, "x": 1}], r"malleable.requests\[0\] must be an object with iteration and nodes"),
        ([{"iteration": 2, "nodes": 9}], r"malleable.requests\[0\].nodes must be a whole number from 1 to 4, got 9"),
        ([{"iteration": 2, "nodes": True}], r"malleable.requests\[0\].nodes must be"),
        ([{"iteration": 10, "nodes": 2}], r"malleable.requests\[0\].iteration must be a whole number from 1 to 9"),
        ([{"iteration": 3, "nodes": 2}], r"requests\[0\].iteration: 3 is no multiple of control_every, 2"),
        (
            [{"iteration": 4, "nodes": 2}, {"iteration": 4, "nodes": 3}],
            r"malleable.requests\[1\].iteration: 4 does not come after 4",
        ),
    ],
)
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
