"""Idle nodes while jobs wait, by hand."""

from __future__ import annotations

import dataclasses
import math

import pytest

from spillway.analysis.tables import JobTable, MachineInfo
from spillway.analysis.waste import idle_while_queued, loss_of_capacity


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
