"""A part of ``python -m tools.daly``: the simulated loss is within 10 % of the formula."""

from pathlib import Path

import pytest

from tools.daly import NODES, Case, measure


def test_lost_node_hours(tmp_path: Path) -> None:
    """At the optimum interval, with more than a hundred failures."""
    case = Case(20_000.0, 300.0, 30.0)
    found = measure(case, 120, 1, tmp_path)
    assert found.failures > 100
    assert found.lost_node_s == pytest.approx(case.formula(120) * NODES, rel=0.1)
    assert 0 < found.rework_node_s < found.lost_node_s


def test_by_hand() -> None:
    """The optimum is sqrt(2 * 50 * 10000) - 50 = 950 s; two MTBFs are 22 intervals and 21 checkpoints of 50 s.

    Of the whole time a failure comes every 10000 s and loses 500 s: 5 %.
    """
    case = Case(10_000.0, 50.0)
    assert case.optimum_s == 950.0
    assert case.work_s(2) == 22 * 950
    assert case.formula(2) == pytest.approx((22 * 950 + 21 * 50) / 0.95 - 22 * 950)
