"""Gates: exclusive means exclusive, no turn is lost, and orders pick the right request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.jobmodels.gates import Exclusive, IoControl, IoOrder, Shared, make_gate


def test_shared_lets_everybody_in_at_once() -> None:
    """Two applications transfer at the same time, without waiting."""
    gate = make_gate(IoControl.SHARED)
    assert gate.request("a1", "a", 0, 5.0, 0.0) == ("a1",)
    assert gate.request("b1", "b", 0, 5.0, 0.0) == ("b1",)
    assert gate.release("a1", 3.0) == ()
    assert gate.leave("a", 3.0).waited_s == 0.0


def test_exclusive_serves_three_jobs_one_after_another() -> None:
    """Jobs a, b and c request at 0, 1 and 2 s and transfer for 4 s each: b begins at 4, c at 8; they waited 3 and 6
    s."""
    gate = Exclusive()
    assert gate.request("a", "A", 0, 4.0, 0.0) == ("a",)
    assert gate.request("b", "B", 0, 4.0, 1.0) == ()
    assert gate.request("c", "C", 0, 4.0, 2.0) == ()
    assert gate.release("a", 4.0) == ("b",)
    assert gate.release("b", 8.0) == ("c",)
    assert gate.release("c", 12.0) == ()
    assert [gate.leave(name, 12.0).waited_s for name in "ABC"] == [0.0, 3.0, 6.0]


@pytest.mark.parametrize(
    ("order", "first"),
    [(IoOrder.FIFO, "b"), (IoOrder.SHORTEST, "c"), (IoOrder.STARVED, "d"), (IoOrder.STRETCH, "e")],
)
def test_orders(order: IoOrder, first: str) -> None:
    """b requested first, c is shortest, d waited 30 s before, e's 11 s of life were half waiting."""
    gate = Exclusive(order)
    for name, entered_s in (("b", 0.0), ("c", 0.0), ("d", 0.0), ("x", 0.0), ("e", 89.0)):
        gate.enter(name, entered_s)
    assert gate.request("x", "x", 0, 1.0, 0.0) == ("x",)
    gate.request("d0", "d", 0, 1.0, 10.0)
    assert gate.release("x", 40.0) == ("d0",)
    assert gate.release("d0", 41.0) == ()
    gate.request("x", "x", 0, 1.0, 80.0)
    gate.request("b", "b", 0, 9.0, 93.0)
    gate.request("c", "c", 0, 1.0, 94.0)
    gate.request("e", "e", 0, 9.0, 94.5)
    gate.request("d", "d", 0, 9.0, 99.0)
    assert gate.release("x", 100.0) == (first,)


def test_nodes_are_independent() -> None:
    """A turn at one I/O node does not hold up the other."""
    gate = Exclusive()
    assert gate.request("a0", "a", 0, 1.0, 0.0) == ("a0",)
    assert gate.request("b1", "b", 1, 1.0, 0.0) == ("b1",)
    assert gate.request("b0", "b", 0, 1.0, 0.0) == ()
    assert gate.release("b1", 1.0) == ()
    assert gate.release("a0", 2.0) == ("b0",)


def test_waiting_at_two_nodes_counts_once() -> None:
    """Both turns of b wait from 0 s, one until 3 s, the other until 5 s: b has waited 5 s, not 8."""
    gate = Exclusive()
    gate.request("a0", "a", 0, 1.0, 0.0)
    gate.request("a1", "a", 1, 1.0, 0.0)
    gate.request("b0", "b", 0, 1.0, 0.0)
    gate.request("b1", "b", 1, 1.0, 0.0)
    gate.release("a0", 3.0)
    gate.release("a1", 5.0)
    gate.release("b0", 6.0)
    gate.release("b1", 6.0)
    assert gate.leave("b", 6.0).waited_s == 5.0


def test_misuse_is_refused() -> None:
    """A key in use, the end of a turn that never began, and leaving during a turn are errors."""
    for gate in (Exclusive(), Shared()):
        gate.request("a", "a", 0, 1.0, 0.0)
        with pytest.raises(ValueError, match="begun"):
            gate.request("a", "a", 0, 1.0, 0.0)
        with pytest.raises(ValueError, match="no turn"):
            gate.release("b", 0.0)
        with pytest.raises(ValueError, match="still"):
            gate.leave("a", 0.0)


STEPS = st.lists(st.tuples(st.sampled_from(["ask", "end", "kill"]), st.integers(0, 4), st.integers(0, 1)), max_size=60)


@given(st.sampled_from(list(IoOrder)), STEPS)
def test_never_two_at_once_and_nobody_is_lost(order: IoOrder, steps: list[tuple[str, int, int]]) -> None:
    """For all requests, ends and kills: one turn per I/O node, and every turn not withdrawn begins once."""
    gate = Exclusive(order)
    holding: dict[int, str] = {}
    requested: set[str] = set()
    begun: list[str] = []
    withdrawn: set[str] = set()

    def granted(keys: tuple[str, ...]) -> None:
        for key in keys:
            node = int(key[-1])
            assert node not in holding, "two transfers on one I/O node"
            holding[node] = key
            begun.append(key)

    for now_s, (what, who, node) in enumerate(steps):
        if what == "ask":
            key = f"{who}-{now_s}-{node}"
            requested.add(key)
            granted(gate.request(key, str(who), node, float(now_s % 7), float(now_s)))
        elif what == "end" and node in holding:
            granted(gate.release(holding.pop(node), float(now_s)))
        elif what == "kill":
            withdrawn |= set(gate.withdraw(str(who), float(now_s)))
            for held in [held for held, key in holding.items() if key.startswith(f"{who}-")]:
                granted(gate.release(holding.pop(held), float(now_s)))
        gate.check()
    while holding:
        node = next(iter(holding))
        granted(gate.release(holding.pop(node), 1000.0))
    assert len(begun) == len(set(begun))
    assert set(begun) | withdrawn == requested
    assert not set(begun) & withdrawn
    for who in range(5):
        gate.leave(str(who), 1000.0)
