"""Algorithm 4 by hand: the nearest multiple, the speed-up, the size that gives it."""

import pytest

from spillway.schedulers.applications.performance import Parameters, from_parameters
from spillway.schedulers.controllers.coupling import (
    Coupling,
    couple,
    coupled_size,
    obtain_period,
    select_largest_period,
)
from spillway.schedulers.controllers.prediction import Phase


def test_example_of_the_paper() -> None:
    """Periods of 220 and 440 s (section 4.2.2): the second is chosen and fits already."""
    first, second = Phase(0.0, 8.0, 220.0), Phase(0.0, 8.0, 440.0)
    assert select_largest_period(first, second) == 1
    assert obtain_period(440.0, 220.0) == 440.0
    assert couple(first, second, 0.01) is None


@pytest.mark.parametrize(("larger", "wanted"), [(250.0, 220.0), (400.0, 440.0), (330.0, 220.0), (331.0, 440.0)])
def test_nearest_multiple(larger: float, wanted: float) -> None:
    """The multiple of 220 s that is nearest; exactly between two the smaller."""
    assert obtain_period(larger, 220.0) == wanted


def test_coupling_by_hand() -> None:
    """250 s to 220 s: speed-up 1.136 of the application with the larger period."""
    assert couple(Phase(0, 20, 250.0), Phase(0, 20, 220.0), 0.01) == Coupling(0, 220.0, 250.0 / 220.0)
    assert couple(Phase(0, 20, 221.0), Phase(0, 20, 220.0), 0.01) is None
    assert couple(Phase(0, 20, 0.0), Phase(0, 20, 220.0), 0.01) is None


def test_size_by_hand() -> None:
    """20 s of I/O and 230 s of computation on 20 nodes that scale perfectly: 200 s take 23 of them."""
    model = from_parameters(Parameters(460.0), 1, 64)
    coupling = Coupling(0, 220.0, 250.0 / 220.0)
    assert coupled_size(coupling, Phase(0, 20, 250.0), model, 20, 20, 10) == 23


def test_sizes_below_the_submitted_one_are_not_taken() -> None:
    """A period that should grow is unchanged at the submitted size; above it, nodes may be given back."""
    model = from_parameters(Parameters(460.0), 1, 64)
    slower = Coupling(0, 270.0, 250.0 / 270.0)
    assert coupled_size(slower, Phase(0, 20, 250.0), model, 20, 20, 10) is None
    assert coupled_size(slower, Phase(0, 20, 250.0), model, 20, 10, 10) == 18
