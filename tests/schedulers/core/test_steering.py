"""The guard of resizes: forbidden requests of controllers, with the reasons."""

from dataclasses import replace

import pytest

from spillway.base.errors import DecisionRefused
from spillway.schedulers.applications.application import read_application
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import Activity, AppView
from spillway.schedulers.controllers.scene import Reason, Resize
from spillway.schedulers.core.steering import check_resize

APPLICATION = read_application(
    {"iterations": 40, "io_every": 20, "control_every": 5, "minimum": 2, "maximum": 12, "model": {"work": 60.0}}, 4
)
VIEW = AppView("w0!1", APPLICATION, Observations(), Activity.COMPUTE, 5, 100.0, 4, 4, 4)


def resize(*steps: tuple[int, int]) -> Resize:
    """An intention for the application."""
    return Resize("w0!1", tuple(Step(*step) for step in steps), Reason.EXPAND)


@pytest.mark.parametrize("steps", [[(10, 8)], [(10, -2)], [(10, 3), (15, -3)], [(15, 5), (15, -5)], [(35, 1)]])
def test_what_is_allowed(steps: list[tuple[int, int]]) -> None:
    """From the next control point on, to sizes between 2 and 12."""
    check_resize(VIEW, resize(*steps))


@pytest.mark.parametrize(("steps", "words"), [
    ([], "at least one step"),
    ([(5, 1)], "expected one from its next control point 10 on"),
    ([(15, 1), (10, 1)], "in order"),
    ([(40, 1)], "before its end at 40"),
    ([(12, 1)], "iteration 12 is no control point"),
    ([(10, 9)], "13 nodes: the application runs on 2 to 12"),
    ([(10, -3)], "1 nodes: the application runs on 2 to 12"),
    ([(10, 4), (15, 5)], "13 nodes"),
])  # fmt: skip
def test_what_is_refused(steps: list[tuple[int, int]], words: str) -> None:
    """Each with its reason."""
    with pytest.raises(DecisionRefused, match=words):
        check_resize(VIEW, resize(*steps))


def test_agreed_steps_count() -> None:
    """Eight more are on their way at iteration 10: one more is too many from then on, but not after their return."""
    busy = replace(VIEW, steps=(Step(10, 8), Step(20, -8)))
    with pytest.raises(DecisionRefused, match="13 nodes"):
        check_resize(busy, resize((15, 1)))
    check_resize(busy, resize((25, 8)))


def test_unknown_applications() -> None:
    """An application that does not run cannot be resized."""
    with pytest.raises(DecisionRefused, match="no running malleable application"):
        check_resize(None, resize((10, 1)))


def test_growth_is_the_most_that_is_held_in_between() -> None:
    """3 more, 3 back, 5 more: 5 nodes at most."""
    assert resize((10, 3), (15, -3), (20, 5)).growth == 5
    assert resize((10, -3), (15, 2)).growth == 0
