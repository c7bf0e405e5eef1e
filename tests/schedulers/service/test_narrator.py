"""The story that ``-v`` prints, and the service's bound on the time of a pass."""

import pytest

from spillway.protocol.messages import JobCompleted, JobState, JobSubmitted, Message, ResourceInfo, SimulationBegins
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.pass_limit import PassLimit
from spillway.schedulers.service.command import session_parser, spec_of
from spillway.schedulers.service.narrator import Narrator
from tests.schedulers.runtimes import rigid

HOSTS = tuple(ResourceInfo(i, f"n{i}") for i in range(4))


def _submitted(now: float, name: str, nodes: int, walltime: int) -> JobSubmitted:
    job = {"id": f"w0!{name}", "subtime": now, "res": nodes, "walltime": walltime, "profile": "p"}
    return JobSubmitted(now, f"w0!{name}", job)


def test_the_story_of_three_jobs() -> None:
    """Submissions, starts, ends, a rejection, and the reason of a wait once."""
    lines: list[str] = []
    session = Session(POLICIES["easy"].build(), rigid(), terms=Terms(explain=True), observer=Narrator(lines.append))
    session.handle(Message(0.0, (SimulationBegins(0.0, HOSTS, ()),)))
    session.handle(Message(1.0, (_submitted(1.0, "a", 3, 50),)))
    session.handle(Message(2.0, (_submitted(2.0, "b", 4, 10),)))
    session.handle(Message(3.0, (_submitted(3.0, "c", 5, 10),)))
    session.handle(Message(4.0, (_submitted(4.0, "d", 1, 10),)))
    done = JobCompleted(9.0, "w0!a", JobState.COMPLETED_SUCCESSFULLY, 0, (0, 1, 2))
    session.handle(Message(9.0, (done,)))
    story = [line.removeprefix("t = ") for line in lines]
    assert story[:4] == [
        "1 s: w0!a submitted: 3 nodes for 50 s",
        "1 s: w0!a started on nodes 0-2 after waiting 0 s",
        "2 s: w0!b submitted: 4 nodes for 10 s",
        "2 s: w0!b waits (reserved): nodes, start expected at t = 51 s",
    ]
    assert story[4].startswith("3 s: w0!c submitted")
    assert story[5].startswith("3 s: w0!c rejected: ")
    assert story[6:8] == [
        "4 s: w0!d submitted: 1 nodes for 10 s",
        "4 s: w0!d started on nodes 3 after waiting 0 s",
    ]
    assert "9 s: w0!a ended after 8 s: COMPLETED_SUCCESSFULLY" in story
    assert sum("w0!b waits (reserved): nodes, start expected at t = 51 s" in line for line in story) == 1


def limit_of(*arguments: str) -> PassLimit | None:
    """The bound of a service with these arguments."""
    return spec_of(session_parser().parse_args(arguments)).pass_limit


@pytest.mark.parametrize(("arguments", "seconds"), [
    (["plan"], 10.0),
    (["conservative"], 10.0),
    (["plan:steps=20"], 10.0),
    (["easy"], None),
    (["plan", "--pass-limit", "2.5"], 2.5),
    (["plan", "--pass-limit", "inf"], None),
])  # fmt: skip
def test_seconds(arguments: list[str], seconds: float | None) -> None:
    """Ten by default, where the policy takes a bound; a stated value takes precedence."""
    limit = limit_of(*arguments)
    assert (limit.seconds if limit is not None else None) == seconds
