"""A job that is submitted after ``no_more_static_job_to_submit``."""

from __future__ import annotations

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.protocol.messages import (
    BatsimConfig,
    JobSubmitted,
    Message,
    Notify,
    NotifyRegistration,
    ResourceInfo,
    SimulationBegins,
)
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels import MODELS

LAST = Notify(1.0, "no_more_static_job_to_submit")
CASES = [*[("fcfs", model) for model in MODELS], ("maxutil", "checkpointed"), ("slurm-backfill", "checkpointed")]
"""Policy and model."""


def submitted(number: int, at: float) -> JobSubmitted:
    """A job on one node that every model plays."""
    job_id = f"w0!{number}"
    job = {"id": job_id, "subtime": at, "res": 1, "walltime": 10.0, "profile": "p"}
    return JobSubmitted(at, job_id, job, {"type": "delay", "delay": 5.0})


def opened(policy: str, model: str) -> Session:
    """A session that has seen its first message."""
    config = BatsimConfig(dynamic_jobs_enabled=True, profile_reuse_enabled=True)
    nodes = tuple(ResourceInfo(number, f"n{number}") for number in range(2))
    session = SessionSpec(policy, model=model).session()
    session.handle(Message(0.0, (SimulationBegins(0.0, nodes, (ResourceInfo(2, "pfs"),), config),)))
    return session


@pytest.mark.parametrize(("policy", "model"), CASES)
def test_it_is_the_peers_fault_once_all_jobs_had_ended(policy: str, model: str) -> None:
    """No sub-job can be registered any more: the policy that would start the job did nothing wrong."""
    session = opened(policy, model)
    assert [type(request) for request in session.handle(Message(1.0, (LAST,))).events] == [NotifyRegistration]
    with pytest.raises(RemoteProtocolError, match="was submitted after no_more_static_job_to_submit") as caught:
        session.handle(Message(60.0, (submitted(7, 60.0),)))
    assert caught.value.path == "$.events[0].data.job_id"


@pytest.mark.parametrize(("policy", "model"), CASES)
def test_it_is_played_as_long_as_others_are_there(policy: str, model: str) -> None:
    """Also in one message with the notification, in any order."""
    session = opened(policy, model)
    session.handle(Message(1.0, (LAST, submitted(0, 1.0))))
    session.handle(Message(60.0, (submitted(1, 60.0),)))
    assert session.waiting + len(session.book.running) == 2
    session.check()
