"""Replay: the log's starts where they fit, the site's order where they do not, and the notes."""

from dataclasses import replace

import pytest

from spillway.protocol.messages import JobSubmitted, Message, RejectJob
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.policies import POLICIES
from tests.kit.story import Story
from tests.properties.mini import MiniJob, MiniMachine, play
from tests.schedulers.runtimes import rigid

GB = 10**9
MACHINE = MiniMachine(nodes=4, storages=1, storage_bytes=10 * GB)


def job(submit_s: float, nodes: int, run_s: float, wait_s: float, bb_bytes: int = 0) -> MiniJob:
    """A job that runs to its end."""
    return MiniJob(submit_s, nodes, run_s + 100.0, run_s, bb_bytes, site_wait_s=wait_s)


def replayed(jobs: list[MiniJob], *, explain: bool = False) -> tuple[Story, Session]:
    """Play jobs by their log."""
    played = Story()
    session = Session(POLICIES["replay"].build({}), rigid(), terms=Terms(explain=explain), observer=played)
    play(session, MACHINE, jobs)
    return played, session


def test_jobs_start_when_their_site_started_them() -> None:
    """Free nodes do not matter, nor the order of submission; there is no note about a log that fits."""
    played, session = replayed([job(0.0, 2, 10.0, 30.0), job(1.0, 4, 5.0, 4.0), job(2.0, 1, 50.0, 28.0, GB)])
    assert played.starts == {"w0!0": 30.0, "w0!1": 5.0, "w0!2": 30.0}
    assert session.warnings() == ()


def test_a_burst_buffer_that_is_full_is_named() -> None:
    """The nodes would do."""
    played, session = replayed([job(0.0, 1, 7200.0, 0.0, 8 * GB), job(0.0, 1, 10.0, 5.0, 8 * GB)])
    assert played.starts["w0!1"] == 7200.0
    assert session.warnings() == (
        "the log's schedule does not fit the stated machine: 1 of 2 jobs start late (1 for burst buffers), up to "
        "120 min; it needs 16 GB of burst buffers at its peak, the machine has 10 GB",
    )


@pytest.mark.parametrize("wait", [None, "7", -1, True, float("nan")])
def test_a_job_without_a_start_is_refused(wait: object) -> None:
    """With the field that it lacks."""
    played = Story()
    session = Session(POLICIES["replay"].build({}), rigid(), observer=played)
    session.handle(Message(0.0, (MACHINE.begins(),)))
    wire = {"id": "w0!0", "subtime": 0.0, "res": 1, "walltime": 10.0, "profile": "p"}
    wire |= {} if wait is None else {"site_wait_s": wait}
    reply = session.handle(Message(0.0, (JobSubmitted(0.0, "w0!0", wire),)))
    assert [type(request) for request in reply.events] == [RejectJob]
    assert "'site_wait_s'" in played.refused["w0!0"]


@pytest.mark.parametrize(("patience", "start_s"), [(1e9, 1000.0), (100.0, 130.0)])
def test_a_very_late_job_is_not_passed_for_ever(
    monkeypatch: pytest.MonkeyPatch, patience: float, start_s: float
) -> None:
    """Narrow jobs that start in time keep a wide one waiting, until it is so late that it gets a reservation."""
    monkeypatch.setattr("spillway.schedulers.policies.replay.PATIENCE_S", patience)
    narrow = [job(0.0, 1, 20.0, 10.0 * index, GB) for index in range(99)]
    wide = job(1.0, 4, 10.0, 14.0)
    played = Story()
    session = Session(POLICIES["replay"].build({}), rigid(), observer=played)
    play(session, MACHINE, [replace(each_job, walltime_s=20.5) for each_job in narrow] + [wide])
    assert played.starts["w0!99"] == start_s
