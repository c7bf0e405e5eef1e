"""Conversations recorded with a pre-release of Batsim 5 (November 2024), through today's codec, session and simulator.

That version's handshake, its intervals (``,`` for a blank) and two members of ExecuteJobEvent are older than those
of the release candidates, and were translated on the way when they were recorded. So are four things that Batsim sent:
it numbered compute hosts by text, jobs had a member ``rigid``, names of profiles no workload, and submission times were
those of the messages. Its first message is three messages of the handshake late.
"""

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from spillway.platforms.catalogue import resolve_platform
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.protocol.batsim5.codec import Batsim5Simulator
from spillway.protocol.detect import AnyBatsim
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.service.command import build_session, session_parser
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.options import BATSIM_5, SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.workloads.batsim.batsim5 import to_batsim5
from spillway.workloads.batsim.json_file import format_batsim, parse_batsim

INIT = struct.pack("<I", 0)
HANDSHAKE_LINES = 4


class Played(NamedTuple):
    """A conversation played again."""

    session: Session
    answers: list[Any]
    recorded: list[Any]
    submitted_s: dict[str, float]


def play(path: Path) -> Played:
    """Give Batsim's recorded messages to a new session of the policy that was recorded."""
    session = build_session(session_parser().parse_args(["easy"]))
    codec = AnyBatsim()
    assert codec.greet(INIT) is not None
    played = Played(session, [], [], {})
    for line in path.read_text().splitlines()[HANDSHAKE_LINES:]:
        text = line[len("B>S ") :]
        if line.startswith("S>B "):
            played.recorded.append(json.loads(text))
            continue
        for event in json.loads(text)["events"]:
            if event["event_type"] == "JobSubmittedEvent":
                played.submitted_s[event["event"]["job_id"]] = event["event"]["submission_time"]
        answer = codec.encode_reply(session.handle(codec.decode_message(text.encode() + b"\0")))
        played.answers.append(as_recorded(json.loads(answer[:-1])))
    return played


def as_recorded(answer: Any) -> Any:
    """An answer in the older form."""
    for event in answer["events"]:
        if event["event_type"] == "ExecuteJobEvent":
            allocation = event["event"]["allocation"]
            allocation["host_allocation"] = allocation["host_allocation"].replace(" ", ",")
            event["event"] |= {"profile_allocation_override": [], "storage_placement": []}
    return answer


def mean_wait_s(played: Played) -> float:
    """Mean time from submission to start."""
    starts = {
        event["event"]["job_id"]: event["timestamp"]
        for answer in played.answers
        for event in answer["events"]
        if event["event_type"] == "ExecuteJobEvent"
    }
    assert len(starts) == 40
    return sum(start - played.submitted_s[job] for job, start in starts.items()) / len(starts)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "wait_s", "warnings"), [("alloc40-bb-in-extra-data", 417.95, 0), ("alloc40-bb-in-profile", 0.0, 1)]
)
def test_a_recorded_conversation_is_answered_as_recorded(
    reference: Path, name: str, wait_s: float, warnings: int
) -> None:
    """Every start on the recorded nodes at the recorded moment; a warning where Batsim 5 dropped the burst buffers."""
    played = play(reference / "transcripts" / "batsim5" / f"{name}.log")
    assert played.answers == played.recorded
    assert played.session.finished
    assert mean_wait_s(played) == pytest.approx(wait_s, abs=0.005)
    said = played.session.warnings()
    assert len(said) == warnings
    assert all("12 burst buffers, but the 40 jobs requested no burst buffer" in line for line in said)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_that_needs_dynamic_jobs_requests_them(name: str) -> None:
    """Batsim 5 has no option for it: the greeting requests them, or REGISTER_JOB would end the simulation."""
    needed = MODELS[name].needs.dynamic_jobs
    hello = AnyBatsim(dynamic_jobs=needed).greet(INIT)
    assert hello is not None
    (event,) = json.loads(hello[4:-1])["events"]
    features = event["event"]["requested_simulation_features"]
    assert features["dynamic_registration"] is needed
    assert features["profile_reuse"] is needed or not MODELS[name].needs.profile_reuse


# --------------------------------------------------------------------------- the simulator's side

ENDS_S = 1.1e-9
"""The last message comes one message of the master to itself (1 ns) earlier here; all others at the same doubles."""

LOOP = '<link id="loop" bandwidth="10GBps"'


class Recorded:
    """Plays the recorded scheduler, and compares its messages with the recorded ones."""

    def __init__(self, path: Path) -> None:
        self.lines = path.read_text().splitlines()[HANDSHAKE_LINES:]
        self._codec = Batsim5Simulator()
        self.compared = 0

    def exchange(self, message: Message) -> Reply:
        """Compare a message, give the recorded reply."""
        theirs, answer = self.lines[self.compared : self.compared + 2]
        self.compared += 2
        ours, times_s = plain(json.loads(self._codec.encode_message(message)[:-1]))
        expected, expected_s = plain(json.loads(theirs[len("B>S ") :]))
        assert ours == expected
        ends = any(event["event_type"] == "SimulationEndsEvent" for event in expected["events"])
        assert times_s == pytest.approx(expected_s, abs=ENDS_S if ends else 0.0, rel=0.0)
        reply = json.loads(answer[len("S>B ") :])
        for event in reply["events"]:
            if event["event_type"] == "ExecuteJobEvent":
                allocation = event["event"]["allocation"]
                allocation["host_allocation"] = allocation["host_allocation"].replace(",", " ")
        return self._codec.decode_reply(json.dumps(reply).encode())

    def close(self) -> None:
        """Nothing is open."""


def plain(message: Any) -> tuple[Any, list[float]]:
    """A message without the members that differ by version, machine and command line; separately its times (s)."""
    times_s = [message.pop("now")]
    for event in message["events"]:
        members = event["event"]
        times_s.append(event.pop("timestamp"))
        members.pop("submission_time", None)
        if event["event_type"] == "SimulationBeginsEvent":
            times_s[0] = 0.0
            for name in ("batsim_arguments", "batsim_execution_context_json", "workloads", "external_event_lists"):
                members.pop(name, None)
            for host in members["computation_hosts"] + members["storage_hosts"]:
                host["properties"] = [it for it in host["properties"] if it["key"] != "io_path"]
        elif event["event_type"] == "JobSubmittedEvent":
            members["job"].pop("rigid", None)
            members["job"]["profile_id"] = members["job"]["profile_id"].rpartition("!")[2]
    return message, times_s


@pytest.mark.reference
@pytest.mark.parametrize("name", ["alloc40-bb-in-extra-data", "alloc40-bb-in-profile"])
def test_the_simulator_says_what_batsim_said(reference: Path, tmp_path: Path, name: str) -> None:
    """All messages, with the nanoseconds of their times, on a machine with the recorded loopback of its master."""
    text = resolve_platform("thesis")
    assert LOOP in text
    (tmp_path / "thesis.xml").write_text(text.replace(LOOP, '<link id="loop" bandwidth="1GBps"'))
    platform = load_platform(tmp_path / "thesis.xml")
    whole = parse_batsim((reference / "transcripts" / "tw" / "alloc40.json").read_text())
    data = json.loads(format_batsim(to_batsim5(whole)))
    if name == "alloc40-bb-in-profile":
        for job in data["jobs"]:
            del job["extra_data"]
    link = Recorded(reference / "transcripts" / "batsim5" / f"{name}.log")
    options = SimulationOptions(rules=replace(BATSIM_5, by_number=False), compute_sharing=True)
    with FluidEngine(platform) as engine:
        workload = workload_from_object(data, rules=BATSIM_5)
        result = Simulation(platform, [workload], engine, link, options).run()
    assert result.totals.success == 40
    assert link.compared == len(link.lines)
