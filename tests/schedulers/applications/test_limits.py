"""Descriptions that no application has are refused as such, never with another error or a run without end."""

from __future__ import annotations

from typing import Any

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.schedulers.applications.application import read_application
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.operations import operations_of
from spillway.schedulers.policykit.estimates import UserHistory

WORK = {"work": 40.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"model": {"nodes": 5}},
        {"model": {"nodes": {}}},
        {"model": {"work": 10**400}},
        {"model": {"work": 1e299}},
        {"iterations": 10**15},
        {"iterations": 10**400},
        {"overhead": 1e12},
        {"variation": [1e200]},
    ],
)
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
