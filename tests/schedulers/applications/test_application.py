"""Malleable applications: their format, and descriptions that no application has."""

from typing import Any

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.schedulers.applications.application import read_application
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.operations import operations_of
from spillway.schedulers.policykit.estimates import UserHistory
from tests.kit.cases import cases

GOOD: dict[str, Any] = {
    "iterations": 25,
    "io_every": 10,
    "control_every": 5,
    "minimum": 2,
    "maximum": 16,
    "overhead": 1.5,
    "io_bytes": 8e9,
    "model": {"nodes": [2, 8], "cpu": [8.0, 2.0], "comm": [0.0, 0.5], "io": [4.0, 4.0]},
    "variation": [1.0, 1.5],
}


def test_reads_all_fields() -> None:
    """A full description."""
    application = read_application(GOOD, 4)
    assert (application.iterations, application.io_every, application.control_every) == (25, 10, 5)
    assert (application.minimum, application.maximum, application.overhead_s) == (2, 16, 1.5)
    assert application.resizable
    assert application.io_bytes == 8e9
    assert application.model.iteration_s(8) == 2.5


def test_defaults_make_a_rigid_application() -> None:
    """Without sizes the job's own is the only one; parameters instead of a table."""
    application = read_application({"iterations": 3, "model": {"work": 12.0, "serial": 1.0}}, 4)
    assert (application.minimum, application.maximum, application.resizable) == (4, 4, False)
    assert application.model.iteration_s(4) == 4.0
    assert application.next_io(0) is None
    assert application.next_control(0) == 3


def test_control_points_and_io() -> None:
    """Every 5 iterations a control point, every 10 an I/O phase; the last 5 iterations write nothing."""
    application = read_application(GOOD, 4)
    assert [application.next_control(iteration) for iteration in (0, 4, 5, 20, 24)] == [5, 5, 10, 25, 25]
    assert [application.next_io(iteration) for iteration in (0, 9, 10, 19, 20)] == [10, 10, 20, 20, None]
    assert [application.io_due(iteration) for iteration in (0, 5, 10, 25)] == [False, False, True, False]


def test_variation_counts_intervals() -> None:
    """The second interval takes half as long again as the model says, the third is as the first."""
    application = read_application(GOOD, 8)
    assert application.interval_s(0, 5, 8) == 12.5
    assert application.interval_s(5, 10, 8) == 18.75
    assert application.interval_s(10, 15, 8) == 12.5


@pytest.mark.parametrize(("change", "words"), cases("applications"))
def test_faults_are_named(change: dict[str, Any], words: str) -> None:
    """Each fault names its field."""
    with pytest.raises(ValueError, match=words):
        read_application(GOOD | change, 4)


WORK = {"work": 40.0}


@pytest.mark.parametrize("changes", [
    {"model": {"nodes": 5}},
    {"model": {"nodes": {}}},
    {"model": {"work": 10**400}},
    {"model": {"work": 1e299}},
    {"iterations": 10**15},
    {"iterations": 10**400},
    {"overhead": 1e12},
    {"variation": [1e200]},
])  # fmt: skip
def test_applications(changes: dict[str, Any]) -> None:
    """A number for a list (TypeError before), integers beyond doubles (OverflowError), 1e15 iterations."""
    with pytest.raises(ValueError, match=r"must be|take up to") as caught:
        read_application({"iterations": 5, "model": WORK} | changes, 4)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "periods",
    [
        {"count": 10**400, "compute_s": 1},
        {"count": 2, "compute_s": 10**400},
        {"count": 2, "compute_s": 2e13},
        {"count": 2, "io_bytes": 1e300},
    ],
)
def test_operations(periods: dict[str, Any]) -> None:
    """Beyond doubles, or beyond every clock."""
    with pytest.raises(RemoteProtocolError, match="expected a"):
        operations_of({"type": "delay", "delay": 1, "periods": periods})


@pytest.mark.parametrize("user", [[1], {"name": "x"}, None])
def test_users_that_are_no_name(user: Any) -> None:
    """A list as a user (TypeError before): the job has no user."""
    history, job = UserHistory(), Job("w0!0", 0, 0.0, 50.0, 1, extras={"user": user})
    history.observe(job, 5.0)
    assert history.estimate_s(job) == 50.0
