"""A job that is submitted after ``no_more_static_job_to_submit``."""

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.protocol import messages as m
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels import MODELS
from tests.kit.messages import begins, submitted
from tests.kit.specs import session_spec

DELAY = {"type": "delay", "delay": 5.0}
LAST = m.Notify(1.0, "no_more_static_job_to_submit")
CASES = [*[("fcfs", model) for model in MODELS], ("maxutil", "checkpointed"), ("slurm-backfill", "checkpointed")]
"""Policy and model."""


def opened(policy: str, model: str) -> Session:
    """A session that has seen its first message."""
    config = m.BatsimConfig(dynamic_jobs_enabled=True, profile_reuse_enabled=True)
    session = session_spec(policy, model=model).session()
    session.handle(m.Message(0.0, (begins(2, config, m.ResourceInfo(2, "pfs")),)))
    return session


@pytest.mark.parametrize(("policy", "model"), CASES)
def test_it_is_the_peers_fault_once_all_jobs_had_ended(policy: str, model: str) -> None:
    """No sub-job can be registered any more: the policy that would start the job did nothing wrong."""
    session = opened(policy, model)
    assert [type(request) for request in session.handle(m.Message(1.0, (LAST,))).events] == [m.NotifyRegistration]
    with pytest.raises(RemoteProtocolError, match="was submitted after no_more_static_job_to_submit") as caught:
        session.handle(m.Message(60.0, (submitted(7, 1, 60.0, profile=DELAY),)))
    assert caught.value.path == "$.events[0].data.job_id"


@pytest.mark.parametrize(("policy", "model"), CASES)
def test_it_is_played_as_long_as_others_are_there(policy: str, model: str) -> None:
    """Also in one message with the notification, in any order."""
    session = opened(policy, model)
    session.handle(m.Message(1.0, (LAST, submitted(0, 1, 1.0, profile=DELAY))))
    session.handle(m.Message(60.0, (submitted(1, 1, 60.0, profile=DELAY),)))
    assert session.waiting + len(session.book.running) == 2
    session.check()
