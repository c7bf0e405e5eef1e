"""For any bytes in a scheduler's answer the simulator ends with a message: no traceback, no hang."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import SpillwayError
from spillway.platforms.model import Platform
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import Message, Reply
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.command import main
from tests.simulator.peers import decoded, listening
from tests.simulator.wire.test_command_line import arguments, handle, world
from tests.simulator.worlds import GivenDurations, jobs, small_platform

__all__ = ["world"]

NAMES = st.sampled_from(["w0!1", "w0!2", "w0!3", "w0!", "w1!1", "!", "dyn!a", "a!b!c", "", "w0!!1"])
NUMBERS = st.sampled_from([0, 0.0, 1, 2.5, -1, 5, 1e3, 1e-9, 1e25, 1e300, -0.0, 12345678901234567890123])
RESOURCES = st.sampled_from(["0", "0-3", "1 0", "", "9", "3-1", "4-5", "x", "0-99999999999", "-1"])
SMALL = st.one_of(st.none(), st.booleans(), NUMBERS, NAMES, RESOURCES, st.text(max_size=5))
PROFILES = st.sampled_from(
    [
        {"type": "delay", "delay": 1},
        {"type": "parallel_homogeneous", "cpu": 1e9, "com": 1},
        {"type": "parallel", "cpu": [1, 1], "com": [0, 1, 1, 0]},
        {"type": "parallel_homogeneous_total", "cpu": 1, "com": 0},
        {"type": "parallel_homogeneous_pfs", "bytes_to_read": 5},
        {"type": "data_staging", "nb_bytes": 5, "from": "a", "to": "b"},
        {"type": "composed", "seq": ["p"]},
        {"type": "send", "msg": {}},
        {"type": "recv", "timeout": "p"},
        {"type": "recv", "polltime": 1e-6},
        {"type": "smpi", "trace": "x"},
        {"type": "delay", "delay": 1e-8, "ret": 4},
        {"type": []},
        {},
    ]
)
KEYS = "job_id job_ids alloc mapping storage_mapping additional_io_job timestamp workload_name profile_name".split()  # noqa: SIM905
KEYS += "profile job type resources state metadata job_state requests estimate_waiting_time msg x".split()  # noqa: SIM905
JOBS = st.fixed_dictionaries(
    {"id": st.one_of(NAMES, NUMBERS), "res": st.one_of(st.integers(-1, 3), SMALL), "profile": st.sampled_from("pqrs")},
    optional={"subtime": NUMBERS, "walltime": NUMBERS, "x": SMALL},
)
VALUES = st.one_of(
    SMALL,
    PROFILES,
    JOBS,
    st.lists(NAMES, max_size=3),
    st.dictionaries(st.sampled_from(["0", "1", "a"]), SMALL, max_size=2),
)
KINDS = st.one_of(
    st.sampled_from(["QUERY", "ANSWER", "REJECT_JOB", "EXECUTE_JOB", "CHANGE_JOB_STATE", "CALL_ME_LATER", "KILL_JOB"]),
    st.sampled_from(["REGISTER_JOB", "REGISTER_PROFILE", "SET_RESOURCE_STATE", "SET_JOB_METADATA", "NOTIFY", "NOP"]),
)
MEANT = st.one_of(
    st.builds(lambda j, a: ("EXECUTE_JOB", {"job_id": j, "alloc": a}), NAMES, RESOURCES),
    st.builds(
        lambda j, a, m: ("EXECUTE_JOB", {"job_id": j, "alloc": a, "storage_mapping": m}),
        NAMES,
        RESOURCES,
        st.dictionaries(st.sampled_from(["a", "b", "pfs"]), st.integers(-1, 6), max_size=2),
    ),
    st.builds(lambda j: ("REJECT_JOB", {"job_id": j}), NAMES),
    st.builds(lambda j: ("KILL_JOB", {"job_ids": j}), st.lists(NAMES, max_size=2)),
    st.builds(lambda t: ("CALL_ME_LATER", {"timestamp": t}), NUMBERS),
    st.builds(
        lambda w, n, p: ("REGISTER_PROFILE", {"workload_name": w, "profile_name": n, "profile": p}),
        st.sampled_from(["w0", "dyn"]),
        st.sampled_from("pqrs"),
        PROFILES,
    ),
    st.builds(lambda j, o: ("REGISTER_JOB", {"job_id": j, "job": o}), NAMES, JOBS),
    st.builds(
        lambda t: ("NOTIFY", {"type": t}), st.sampled_from(["registration_finished", "continue_registration", "x"])
    ),
    st.builds(
        lambda j, s: ("CHANGE_JOB_STATE", {"job_id": j, "job_state": s}), NAMES, st.sampled_from(["RUNNING", "x"])
    ),
    st.builds(
        lambda r, s: ("SET_RESOURCE_STATE", {"resources": r, "state": s}), RESOURCES, st.sampled_from(["0", "1"])
    ),
    st.builds(lambda j: ("TO_JOB_MSG", {"job_id": j, "msg": "m"}), NAMES),
    st.just(("QUERY", {"requests": {"consumed_energy": {}}})),
    st.tuples(KINDS, st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4)),
)


@st.composite
def replies(draw: st.DrawFn) -> bytes:
    """A reply that looks like one, more or less."""
    events = [
        {"timestamp": draw(st.sampled_from([0, 0.0, 1, 3.5])), "type": kind, "data": data}
        for kind, data in draw(st.lists(MEANT, max_size=5))
    ]
    return json.dumps({"now": draw(st.sampled_from([0, 4, 10.0])), "events": events}).encode()


FRAMES = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(str.encode),
    st.recursive(
        SMALL, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner), max_leaves=8
    ).map(lambda value: json.dumps(value).encode()),
    replies(),
    replies(),
    replies(),
)

PLATFORM: Platform = small_platform(power=True)
WORKLOAD = jobs({}, {"res": 2, "subtime": 2}, {"subtime": 3, "profile": "r"}, profiles={
    "p": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}, "r": {"type": "delay", "delay": 2}})  # fmt: skip


class Babbler:
    """Answers with given frames, then with nothing to do."""

    def __init__(self, frames: list[bytes]) -> None:
        self._frames = list(frames)

    def exchange(self, message: Message) -> Reply:
        """The next frame, decoded as the simulator does; every message must be encodable."""
        assert batsim4.encode_message(message)
        if self._frames:
            return batsim4.decode_reply(self._frames.pop(0))
        return Reply(message.now, ())

    def close(self) -> None:
        """Nothing to close."""


@settings(max_examples=150)
@given(st.lists(FRAMES, min_size=1, max_size=5), st.booleans(), st.booleans())
def test_any_reply_ends_well(frames: list[bytes], dynamic: bool, energy: bool) -> None:
    """The simulation ends, or raises one of our errors with a message; nothing else."""
    options = SimulationOptions(dynamic_jobs=dynamic, profile_reuse=dynamic, energy=energy, storage_sharing=not energy)
    simulation = Simulation(
        PLATFORM, [workload_from_object(WORKLOAD)], GivenDurations(), Babbler(frames), options
    )  # fmt: skip
    reported = ""
    try:
        reported = f"ended at {simulation.run().end_s}"
    except SpillwayError as fault:
        reported = str(fault) if fault.exit_code else ""
    assert reported
    simulation.machines.check()


@settings(max_examples=150)
@given(st.lists(replies(), min_size=1, max_size=6))
def test_equal_replies_give_equal_simulations(frames: list[bytes]) -> None:
    """Same inputs, same result, down to the error's text."""

    def outcome() -> Any:
        options = SimulationOptions(dynamic_jobs=True)
        try:
            workload = workload_from_object(WORKLOAD)
            result = Simulation(PLATFORM, [workload], GivenDurations(), Babbler(frames), options).run()
        except SpillwayError as fault:
            return str(fault)
        return result.figures, result.end_s, result.messages

    assert outcome() == outcome()


@pytest.mark.parametrize("frame", [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"null",
    b"[]",
    b"{}",
    b'{"now": 0}',
    b'{"now": "0", "events": []}',
    b'{"now": NaN, "events": []}',
    b'{"now": 1e999, "events": []}',
    b'{"now": 0, "events": [1]}',
    b'{"now": 0, "events": [{"timestamp": 0, "type": "NOP", "data": {}}]}',
    b'{"now": 0, "events": [{"timestamp": 1, "type": "CALL_ME_LATER", "data": {"timestamp": 4}}]}',
    b"[" * 200_000,
    b'{"now": 0, "events": ' + b"[" * 5_000,
])  # fmt: skip
def test_the_program_survives_garbage(
    world: tuple[Path, Path], capsys: pytest.CaptureFixture[str], frame: bytes
) -> None:
    """Over the socket: exit code 1, one line."""
    with listening(lambda message: frame) as endpoint:
        assert main(arguments(world, endpoint, "--peer-timeout", "10")) == 1
    reported = capsys.readouterr().err
    assert reported.startswith("spillway: error: ")
    assert reported.count("\n") == 1


def test_good_replies_after_all(world: tuple[Path, Path]) -> None:
    """The same set-up with a proper scheduler works."""
    with listening(decoded(handle)) as endpoint:
        assert main(arguments(world, endpoint, "--peer-timeout", "10", "-q")) == 0
