"""Usage in steps of a period: the case of the module's docstring, ends, and skipped calculations."""

from __future__ import annotations

import pytest

from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.history import FinishedJob, FinishedJobs, Usage
from spillway.schedulers.policykit.periodic import PeriodicUsage
from tests.schedulers.policies.scenes import view
from tests.schedulers.policykit.test_priority import MACHINE


def key(job: FinishedJob | Job) -> tuple[str, str, str]:
    """All jobs alike."""
    return "", "", ""


def used(usage: PeriodicUsage, time_s: float, *ended: tuple[float, float, int]) -> float:
    """Node-seconds at a calculation; jobs by start, end and nodes."""
    found = view(MACHINE, [], time_s)
    found.finished = FinishedJobs(
        [FinishedJob("", "", 0.0, start, end, 1e4, n, "", Usage(n * (end - start))) for start, end, n in ended]
    )
    return float(usage.at(found, time_s)[0, 0])


def test_a_period_counts_as_its_seconds_and_decays_as_a_whole() -> None:
    """``d = 0.994225``: 2 nodes from 10 s to 70 s are ``2 * 50 d^50`` after 60 s, and that ``d^60 + 2 * 10 d^10 d^60``
    after 120 s.
    """
    usage = PeriodicUsage(120.0, 60.0, key, ends=True)
    assert used(usage, 60.0, (10.0, 70.0, 2)) == pytest.approx(74.857, abs=1e-3)
    assert used(usage, 120.0) == pytest.approx(66.217, abs=1e-3)


def test_calculations_that_nobody_looked_at_count() -> None:
    """The same at 120 s, without a look at 60 s."""
    usage = PeriodicUsage(120.0, 60.0, key, ends=True)
    assert used(usage, 120.0, (10.0, 70.0, 2)) == pytest.approx(66.217, abs=1e-3)


def test_without_limits_ends_are_not_looked_at() -> None:
    """The 10 s from the calculation at 60 s to the end do not count: ``74.857 d^60 = 52.883``."""
    usage = PeriodicUsage(120.0, 60.0, key, ends=False)
    assert used(usage, 120.0, (10.0, 70.0, 2)) == pytest.approx(52.883, abs=1e-3)


def test_times_are_whole_seconds() -> None:
    """From 10.9 s to 70.2 s is from 10 s to 70 s; without decay 2 nodes have used 120 node-seconds."""
    usage = PeriodicUsage(0.0, 60.0, key, ends=True)
    assert used(usage, 120.0, (10.9, 70.2, 2)) == 120.0
