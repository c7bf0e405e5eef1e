"""Performance models: interpolation and parameters by hand, speed-ups, sizes for a speed-up."""

import pytest

from spillway.schedulers.applications.performance import (
    Measurement,
    Parameters,
    PerformanceModel,
    Times,
    from_measurements,
    from_parameters,
)


def perfect(maximum: int = 100) -> PerformanceModel:
    """An application that scales perfectly: 60 s on one node."""
    return from_parameters(Parameters(60.0), 1, maximum)


def test_parameters_by_hand() -> None:
    """60/n + 2 s of computation, 0.5 + 0.25 n s of communication, 3 + 12/n s of I/O; one node does not communicate."""
    model = from_parameters(Parameters(60.0, 2.0, 0.5, 0.25, 3.0, 12.0), 1, 6)
    assert model.at(1) == Times(62.0, 0.0, 15.0)
    assert model.at(6) == Times(12.0, 2.0, 5.0)
    assert model.speedup(6) == pytest.approx(62.0 / 14.0)
    assert (model.minimum, model.maximum) == (1, 6)


def test_interpolation_by_hand() -> None:
    """Node-seconds of computation, communication and I/O are linear in between and constant outside."""
    model = from_measurements([Measurement(20, 3.0, 0.4, 6.0), Measurement(10, 5.0, 0.2, 8.0)], 5, 25)
    assert model.at(10) == Times(5.0, 0.2, 8.0)
    assert model.at(15) == pytest.approx((55.0 / 15, 0.3, 7.0))
    assert model.at(5) == pytest.approx((10.0, 0.2, 8.0))
    assert model.at(25) == pytest.approx((60.0 / 25, 0.4, 6.0))
    assert model.sequential_s == 50.0


def test_nodes_for_a_speedup() -> None:
    """From 10 nodes: twice as fast takes 20; 1 takes 10; half as fast 5; 11 times is out of reach."""
    model = perfect()
    assert model.nodes_for(10, 2.0) == 20
    assert model.nodes_for(10, 1.75) == 18
    assert model.nodes_for(10, 1.0) == 10
    assert model.nodes_for(10, 0.5) == 5
    assert model.nodes_for(10, 11.0) is None


def test_nodes_for_never_passes_the_best_size() -> None:
    """With growing communication more nodes may be slower: 60/n + n/2 is best near 11."""
    model = from_parameters(Parameters(60.0, comm_node_s=0.5), 1, 60)
    assert model.nodes_for(5, 1.25) == 8
    assert model.nodes_for(11, 1.2) is None


@pytest.mark.parametrize(("rows", "sizes", "words"), [
    ([], (1, 2), "at least one"),
    ([Measurement(4, 1.0, 0.0, 0.0), Measurement(4, 2.0, 0.0, 0.0)], (1, 8), "twice"),
    ([Measurement(4, 0.0, 0.0, 0.0)], (1, 8), "cpu_s > 0"),
    ([Measurement(4, 1.0, 0.0, 0.0)], (9, 8), "minimum <= maximum"),
    ([Measurement(4, 1.0, 0.0, 0.0)], (0, 8), "1 <= minimum"),
])  # fmt: skip
def test_bad_measurements(rows: list[Measurement], sizes: tuple[int, int], words: str) -> None:
    """Measurements that give no model are refused with the reason."""
    with pytest.raises(ValueError, match=words):
        from_measurements(rows, *sizes)


def test_sizes_outside_are_refused() -> None:
    """A model answers for its own sizes only."""
    with pytest.raises(ValueError, match="runs on 1 to 100"):
        perfect().iteration_s(101)
