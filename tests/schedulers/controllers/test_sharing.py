"""Sharing idle nodes: by hand, against the algorithms as written, and the balance of gain and I/O."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.applications.performance import Parameters, from_parameters
from spillway.schedulers.controllers.sharing import SHARING, Candidate, Expansion, balance
from tests.schedulers.controllers.node_by_node import node_by_node


def candidate(work: float, serial: float = 0.0, nodes: int = 4, io_s: float = 0.0, limit: int = 100) -> Candidate:
    """An application with I/O after every 10 iterations."""
    return Candidate(from_parameters(Parameters(work, serial), 1, min(60, nodes + limit)), nodes, 10, io_s)


def fair(candidates: list[Candidate], idle: int) -> list[int]:
    """Shared evenly."""
    return share(Expansion.FAIR, candidates, idle)


def by_speedup(candidates: list[Candidate], idle: int) -> list[int]:
    """Shared by Algorithm 5."""
    return share(Expansion.SPEEDUP, candidates, idle)


def by_io(candidates: list[Candidate], idle: int, weight: float = 1.0) -> list[int]:
    """Shared by Algorithm 6."""
    return share(Expansion.IO, candidates, idle, weight)


def share(expansion: Expansion, candidates: list[Candidate], idle: int, weight: float = 1.0) -> list[int]:
    """Shared by a rule."""
    return SHARING[expansion](candidates, idle, weight)


def test_fair_by_hand() -> None:
    """Seven nodes among three: 3, 2, 2; an application that can use no more is passed over."""
    three = [candidate(60.0)] * 3
    assert fair(three, 7) == [3, 2, 2]
    assert fair([candidate(60.0, limit=1), candidate(60.0), candidate(60.0)], 7) == [1, 3, 3]
    assert fair([candidate(60.0, limit=1)], 7) == [1]


def test_speedup_by_hand() -> None:
    """Speed-ups 61/(60/n+1): from 4 nodes 3.81, 4.69, 5.55; from 8 nodes on 7.18, 7.96. A perfect one gains 1 each."""
    limited = candidate(60.0, 1.0)
    wide = candidate(60.0, 1.0, nodes=8)
    assert by_speedup([wide, limited], 4) == [0, 4]
    assert by_speedup([wide, limited], 6) == [1, 5]
    assert by_speedup([limited, candidate(60.0)], 5) == [0, 5]


def test_balance_by_hand() -> None:
    """Half the I/O ratio outweighs half the gain; a loss stays a loss; the ratio has a floor."""
    assert balance(0.5, 0.05, 1.0) == pytest.approx(balance(1.0, 0.10, 1.0))
    assert balance(-0.5, 0.05, 1.0) == -0.5
    assert balance(1.0, 0.0, 1.0) == 1000.0
    assert balance(0.7, 0.2, 0.0) == 0.7


def test_io_ratio_by_hand() -> None:
    """Eq. 3: 10 iterations of 15 s and 50 s of I/O: a quarter."""
    assert candidate(60.0, io_s=50.0).io_ratio(15.0) == 0.25


@given(
    works=st.lists(
        st.tuples(st.floats(1.0, 500.0), st.floats(0.0, 9.0), st.integers(1, 20), st.floats(0.0, 50.0),
                  st.integers(0, 9)), max_size=6
    ),
    idle=st.integers(0, 25),
    weight=st.sampled_from([0.0, 0.5, 1.0]),
)  # fmt: skip
def test_the_heap_does_what_the_algorithms_say(
    works: list[tuple[float, float, int, float, int]], idle: int, weight: float
) -> None:
    """Node by node with all scores anew gives the same; no application gets more than is idle, or than it can use."""
    candidates = [candidate(*row) for row in works]
    given_nodes = by_io(candidates, idle, weight)
    assert given_nodes == node_by_node(candidates, idle, weight)
    for found in (given_nodes, fair(candidates, idle)):
        assert sum(found) <= idle
        assert all(0 <= extra <= one.most for extra, one in zip(found, candidates, strict=True))
