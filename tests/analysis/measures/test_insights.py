"""Further figures of a run, by hand."""

import dataclasses
import math
from pathlib import Path

import pytest

from spillway.analysis.measures.insights import idle_while_queued, insights, loss_of_capacity
from spillway.analysis.tables.jobs import JobTable, MachineInfo


def test_insights_of_an_alloc_only_run(table: JobTable, run_folder: Path) -> None:
    """Figures from the run's files are there; those of IO-Aware runs are not a number."""
    found = insights(table, run_folder, table)
    assert found["loss_of_capacity"] == pytest.approx(130 / 440)
    assert (found["mean_overtaken"], found["max_overtaken"]) == (pytest.approx(1 / 3), 1)
    assert found["starved"] == 0
    assert found["later_than_fcfs"] == 0
    assert found["fairness_of_users"] == pytest.approx((15 + 90) ** 2 / (2 * (15**2 + 90**2)))
    assert math.isnan(found["io_share"])
    assert math.isnan(found["transfer_stretch"])


def test_insights_of_nothing(table: JobTable, run_folder: Path) -> None:
    """A run in which nothing ran has no figures and is no error."""
    found = insights(table.only(~table.executed), run_folder)
    assert math.isnan(found["mean_overtaken"])
    assert math.isnan(found["later_than_fcfs"])


def test_idle_while_queued(table: JobTable) -> None:
    """From 10 to 50 two of four nodes idle while jobs wait, from 50 to 100 one: (40*2 + 50*1) / (4*110)."""
    assert idle_while_queued(table) == pytest.approx(130 / 440)


def test_loss_counts_only_what_is_asked_for(table: JobTable) -> None:
    """All that idles is requested here: job b requests four nodes."""
    assert loss_of_capacity(table) == pytest.approx(130 / 440)
    only_c = table.take([2])  # type: ignore[arg-type]
    # Between 20 and 50 job c requests one node while four idle; makespan 100.
    assert loss_of_capacity(only_c) == pytest.approx(30 / 400)
    assert idle_while_queued(only_c) == pytest.approx(120 / 400)


def test_unknown_machine(table: JobTable) -> None:
    """Without the machine's size there is no share."""
    assert math.isnan(loss_of_capacity(dataclasses.replace(table, machine=MachineInfo())))
