"""Streams on the real Batsim's protocol, against the embedded simulator: the same as our own profile type."""

from typing import Any

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.platforms import platform_from
from spillway.protocol.batsim4.codec import decode_reply, encode_reply
from spillway.protocol.messages import BatsimConfig, ExecuteJob, JobState, Message, Reply
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.jobmodels.stream import Stream
from spillway.schedulers.jobmodels.streams import stream_profile
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.machine import MachineDefaults, simple_machine
from spillway.schedulers.policies import POLICIES
from spillway.simulator.engines.native import FluidEngine, WaterfillEngine
from tests.kit.play import converse
from tests.kit.specs import session_spec
from tests.schedulers.lives.story import TINY, job
from tests.schedulers.lives.story import play as small

MB = 1_000_000
JOBS = ((1, 0.0, 1, 64, 9), (2, 0.0, 3, 128, 10), (3, 5.0, 2, 100, 4), (4, 30.0, 4, 128, 6))
"""(number, submission, nodes, MB/s per node, seconds); 1 and 2 over-allocate the network switch."""


def workload(portable: bool) -> dict[str, Any]:
    """The jobs in either form."""
    jobs, profiles = [], {}
    for number, submit, nodes, rate, seconds in JOBS:
        job = {"id": str(number), "subtime": submit, "res": nodes, "profile": f"p{number}", "io_rate": rate * MB}
        cpu, amount = seconds * 1e9, rate * MB * seconds
        jobs.append(job | ({"io_bytes": amount} if portable else {}))
        profiles[f"p{number}"] = (
            {"type": "parallel_homogeneous", "cpu": cpu, "com": 0}
            if portable
            else {"type": "io_stream", "cpu": cpu, "io_bytes": amount}
        )
    return {"nb_res": 4, "jobs": jobs, "profiles": profiles}


def play(engine_class: type, portable: bool) -> tuple[dict[str, float], list[ExecuteJob]]:
    """Ends of the jobs, and the requests that started them."""
    platform = platform_from("herbein-small")
    runtime = ProgramRuntime(Stream() if portable else Rigid())
    session = Session(POLICIES["fcfs"].build(), runtime, terms=Terms(defaults=MachineDefaults(bandwidth=False)))
    ends: dict[str, float] = {}
    sent: list[ExecuteJob] = []

    def note(message: Message, reply: Reply) -> None:
        ends.update({event.job_id: message.now for event in message.events if hasattr(event, "return_code")})
        sent.extend(event for event in reply.events if isinstance(event, ExecuteJob))

    converse(session, platform, workload(portable), engine=engine_class, after=note, fail_on_deadlock=True)
    return ends, sent


@pytest.mark.parametrize("engine", [FluidEngine, WaterfillEngine])
def test_both_expressions_of_a_stream_run_alike(engine: type) -> None:
    """``io_stream`` and ``parallel_homogeneous`` with an ``additional_io_job`` end at the same instants."""
    own, _ = play(engine, portable=False)
    portable, sent = play(engine, portable=True)
    assert own.keys() == {f"w0!{number}" for number, *_ in JOBS}
    assert portable == pytest.approx(own, abs=2e-6)
    assert own["w0!2"] > 11.0  # blocked on I/O for a while
    assert all(request.additional_io_job is not None for request in sent)


def test_what_goes_over_the_wire() -> None:
    """One matrix row per host, everything into the column of the file system, and a legal Batsim 4 message."""
    assert stream_profile(2, 5, 1)["com"] == [0, 5, 0, 0, 0, 0, 0, 5, 0]
    _, sent = play(FluidEngine, portable=True)
    data = encode_reply(Reply(0.0, (sent[0],)))
    assert b'"additional_io_job"' in data
    assert decode_reply(data).events == (sent[0],)


def test_a_machine_without_file_system_is_refused() -> None:
    """The message states the missing part of the platform."""
    with pytest.raises(RemoteProtocolError, match="parallel file system"):
        ProgramRuntime(Stream()).begin(simple_machine(2), BatsimConfig())


@pytest.mark.parametrize(
    "profile",
    [
        {"type": "delay", "delay": 10},
        {"type": "composed", "seq": ["whole"], "repeat": 2},
        {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e6, "bytes_to_write": 1e6, "storage": "pfs"},
    ],
)
def test_a_profile_that_takes_no_stream_is_rejected(profile: dict[str, Any]) -> None:
    """With the types that do; the jobs beside it run, also one of the same profile without a stream."""
    jobs = [
        job("1", 0, 2, "odd", walltime=60, io_bytes=10**6),
        job("2", 0, 2, "odd", walltime=60, io_bytes=0),
        job("3", 0, 2, "whole", walltime=60, io_bytes=10**6),
    ]
    if profile["type"] == "parallel_homogeneous_pfs":
        del jobs[1]  # Batsim needs its storage host
    profiles = {"odd": profile, "whole": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}}
    story = small(TINY, session_spec("fcfs", model="stream"), jobs, profiles)
    assert list(story.refused) == ["1"]
    assert f"a profile of type {profile['type']!r} cannot have" in story.refused["1"]
    assert set(story.states.values()) == {JobState.COMPLETED_SUCCESSFULLY}
    assert len(story.ends) == len(jobs) - 1


def test_a_profile_that_the_simulator_does_not_tell_is_left_to_it() -> None:
    """Without a type there is nothing to refuse; a type that a stream cannot be merged with is refused."""
    one = Job("w0!0", 0, 0.0, 100.0, 2, extras={"io_bytes": 1001})
    assert Stream().refuses(one) is None
    assert "profile of type 'delay'" in str(Stream().refuses(replaced(one, profile={"type": "delay"})))
