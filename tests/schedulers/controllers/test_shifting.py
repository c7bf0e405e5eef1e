"""Algorithm 3 by hand: the paper's Figures 7 and 8, its worked examples, and every refusal.

The figures' durations are not in the text; 30 s are taken for both phases. Application 1 starts its I/O at 100 s,
Application 2 at 80 s (section 4.2.1).
"""

import pytest

from spillway.schedulers.applications.performance import Parameters, PerformanceModel, from_parameters
from spillway.schedulers.controllers.overlaps import Fleet
from spillway.schedulers.controllers.prediction import Phase
from spillway.schedulers.controllers.shifting import (
    Refusal,
    Shift,
    evaluate_interference,
    obtain_shift,
    plan_shift,
    reduction,
    relative_speedup,
    select_application,
)
from tests.schedulers.controllers.scenes import fleet_of

EQUAL, SIMILAR = 0.005, 0.05
NONE = fleet_of([])
PERFECT = from_parameters(Parameters(1000.0), 1, 64)


def test_figure_7() -> None:
    """Similar periods, Application 1's is shorter: it is shifted by its own I/O time and the 20 s until the overlap."""
    first, second = Phase(100.0, 30.0, 300.0), Phase(80.0, 30.0, 305.0)
    assert select_application(first, second, EQUAL, SIMILAR) == 0
    assert obtain_shift(first, second) == 30.0 + 20.0
    assert not evaluate_interference(first, 50.0, fleet_of([second])), "it now ends at 80 s, where the other begins"


def test_figure_8() -> None:
    """Similar periods, Application 2's is shorter: it is shifted by the overlap, [100, 110)."""
    first, second = Phase(100.0, 30.0, 305.0), Phase(80.0, 30.0, 300.0)
    assert select_application(first, second, EQUAL, SIMILAR) == 1
    assert obtain_shift(second, first) == 10.0


def test_equal_and_very_different_periods_shift_the_first_phase() -> None:
    """Then the one that does its I/O first is reconfigured, which takes the smaller shift."""
    for periods in ((300.0, 300.0), (300.0, 600.0), (600.0, 300.0)):
        first, second = Phase(100.0, 30.0, periods[0]), Phase(80.0, 30.0, periods[1])
        assert select_application(first, second, EQUAL, SIMILAR) == 1
    nearly = Phase(100.0, 30.0, 300.0), Phase(80.0, 30.0, 301.0)
    assert select_application(*nearly, EQUAL, SIMILAR) == 1, "as good as equal"
    assert select_application(Phase(5, 1, 9), Phase(5, 1, 9), EQUAL, SIMILAR) == 0


def test_a_phase_within_the_other() -> None:
    """A total overlap: the first one has to end before the second begins."""
    outer, inner = Phase(80.0, 60.0, 400.0), Phase(100.0, 10.0, 100.0)
    assert obtain_shift(outer, inner) == 40.0
    assert obtain_shift(inner, outer) == 30.0


def test_worked_example_of_the_overhead() -> None:
    """A shift of 10 s with 1 s per reconfiguration: 14 s less computation, 12 s of them an earlier phase."""
    assert reduction(10.0, 1.0, 2.0) == 14.0


def test_worked_examples_of_the_speedup() -> None:
    """Eq. 2: saving 50 of 100 s takes speed-up 2, of 200 s 1.33; a saving of the whole time is impossible."""
    assert relative_speedup(100.0, 50.0) == 2.0
    assert relative_speedup(200.0, 50.0) == pytest.approx(1.33, abs=0.004)
    assert relative_speedup(50.0, 50.0) is None


def plan(
    rest: Fleet = NONE, original_s: float = 100.0, idle: int = 54, model: PerformanceModel = PERFECT
) -> Shift | Refusal:
    """Two collide by 16 s; 1 s overhead and 2 s uncertainty make 20 s to be saved."""
    shifted, other = Phase(200.0, 30.0, 400.0), Phase(214.0, 30.0, 900.0)
    return plan_shift(
        shifted, other, rest, original_s=original_s, overhead_s=1.0, uncertainty_s=2.0, model=model, nodes=10, idle=idle
    )


def test_a_shift_by_hand() -> None:
    """Saving 20 of 100 s: speed-up 1.25, on 10 nodes that scale perfectly 3 more (12.5 would do)."""
    assert plan() == Shift(16.0, 20.0, 1.25, 3)


def test_more_time_takes_fewer_nodes() -> None:
    """The same shift over 200 s: speed-up 1.11, 2 more nodes."""
    found = plan(original_s=200.0)
    assert isinstance(found, Shift)
    assert found.extra == 2


def test_refusals() -> None:
    """A third application in the way, too little time, no control points, too slow, too few nodes."""
    third = fleet_of([Phase(90.0, 10.0, 100.0)])  # its second phase, [190, 200), lies where the shifted one would go
    assert plan(third) is Refusal.THIRD
    assert plan(fleet_of([Phase(90.0, 10.0, 500.0)])) == Shift(16.0, 20.0, 1.25, 3), "a long period is out of the way"
    assert plan(original_s=20.0) is Refusal.TOO_SHORT
    assert plan(original_s=0.0) is Refusal.NO_CONTROL_POINTS
    assert plan(model=from_parameters(Parameters(1000.0), 1, 12)) is Refusal.TOO_SLOW
    assert plan(idle=2) is Refusal.NO_NODES
    assert isinstance(plan(idle=3), Shift)
