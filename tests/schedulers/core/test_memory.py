"""A session's memory of jobs that have ended: their ids, and a line of history for policies."""

import gc
import tracemalloc
import weakref
from collections.abc import Iterator

import pytest

from spillway.protocol import messages as m
from spillway.schedulers.core.session import Session
from tests.kit.specs import session_spec

NODES = tuple(m.ResourceInfo(number, f"n{number}") for number in range(8))
STORAGES = (
    m.ResourceInfo(8, "s0", properties={"capacity_bytes": "1e12"}),
    m.ResourceInfo(9, "pfs"),
)
BEFORE, JOBS = 300, 400
PROFILE = {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0.0}


def play(session: Session, numbers: range, forwarded: bool) -> Iterator[int]:
    """Play one job after another, all parts of each; yield the number of parts."""
    for number in numbers:
        now = 10.0 * number
        job = {
            "id": f"w0!{number}", "subtime": now, "res": 3, "walltime": 3600, "user": f"user{number % 7}", "bb": 1000,
            "profile": f"p{number}" if forwarded else "p",
        }  # fmt: skip
        reply = session.handle(
            m.Message(now, (m.JobSubmitted(now, f"w0!{number}", job, dict(PROFILE) if forwarded else None),))
        )
        parts = 0
        while started := [request for request in reply.events if isinstance(request, m.ExecuteJob)]:
            parts += sum(isinstance(request, m.RegisterJob) for request in reply.events)
            now += 1.0
            ends = [m.JobCompleted(now, it.job_id, m.JobState.COMPLETED_SUCCESSFULLY, 0, it.alloc) for it in started]
            reply = session.handle(m.Message(now, tuple(ends)))
        yield parts


@pytest.mark.parametrize(
    ("model", "forwarded", "parts", "most_bytes"),
    [("rigid", False, 0, 300), ("rigid", True, 0, 500), ("io", False, 7, 300), ("checkpointed", False, 1, 300)],
)
def test_an_ended_job_stays_as_its_id_and_a_line(model: str, forwarded: bool, parts: int, most_bytes: int) -> None:
    """Bytes per ended job; of a forwarded profile the name, too: Batsim refuses a second one of that name."""
    session = session_spec("easy", model=model).session()
    config = m.BatsimConfig(dynamic_jobs_enabled=True, profile_reuse_enabled=True)
    begins = m.SimulationBegins(0.0, NODES, STORAGES, config, profiles={"w0": {"p": PROFILE}})
    session.handle(m.Message(0.0, (begins,)))
    tracemalloc.start()
    try:
        assert set(play(session, range(BEFORE), forwarded)) == {parts}
        gc.collect()
        begin, _ = tracemalloc.get_traced_memory()
        for _ in play(session, range(BEFORE, BEFORE + JOBS), forwarded):
            pass
        gc.collect()
        end, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    session.check()
    assert session.book.finished().total == BEFORE + JOBS
    assert (end - begin) / JOBS < most_bytes


@pytest.mark.parametrize("model", ["rigid", "io"])
def test_a_session_that_is_over_is_let_go(model: str) -> None:
    """Several runs in one process: all that a session refers to, and that refers to it, is found by the collector."""
    session = session_spec("easy", model=model).session()
    config = m.BatsimConfig(dynamic_jobs_enabled=True, profile_reuse_enabled=True)
    session.handle(m.Message(0.0, (m.SimulationBegins(0.0, NODES, STORAGES, config, profiles={"w0": {"p": PROFILE}}),)))
    for _ in play(session, range(3), False):
        pass
    kept = weakref.ref(session)
    del session
    gc.collect()
    assert kept() is None
