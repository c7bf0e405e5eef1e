"""Further figures of a run, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from spillway.analysis.insights import insights
from spillway.analysis.tables import JobTable


def test_insights_of_an_alloc_only_run(table: JobTable, run_folder: Path) -> None:
    """Figures from the run's files are there; those of IO-Aware runs are not a number."""
    found = insights(table, run_folder, table)
    assert found.loss_of_capacity == pytest.approx(130 / 440)
    assert (found.mean_overtaken, found.max_overtaken) == (pytest.approx(1 / 3), 1)
    assert found.starved == 0
    assert found.later_than_fcfs == 0
    assert found.fairness_of_users == pytest.approx((15 + 90) ** 2 / (2 * (15**2 + 90**2)))
    assert math.isnan(found.io_share)
    assert math.isnan(found.transfer_stretch)


def test_insights_of_nothing(table: JobTable, run_folder: Path) -> None:
    """A run in which nothing ran has no figures and is no error."""
    found = insights(table.only(~table.executed), run_folder)
    assert math.isnan(found.mean_overtaken)
    assert math.isnan(found.later_than_fcfs)
