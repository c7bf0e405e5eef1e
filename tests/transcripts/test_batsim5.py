"""Conversations recorded with a pre-release of Batsim 5 (November 2024), through today's codec and session.

That version's handshake, its intervals (``,`` for a blank) and two members of ExecuteJobEvent are older than those
of the release candidates, and were translated on the way when they were recorded.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from spillway.protocol.detect import AnyBatsim
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.service.command import build_session, session_parser

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
    """An answer in the older words."""
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
    assert all("12 burst buffers, but none of the 40 jobs requested any" in line for line in said)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_that_needs_dynamic_jobs_requests_them(name: str) -> None:
    """Batsim 5 has no option for it: the greeting asks, or REGISTER_JOB would end the simulation."""
    needed = MODELS[name].needs.dynamic_jobs
    hello = AnyBatsim(dynamic_jobs=needed).greet(INIT)
    assert hello is not None
    (event,) = json.loads(hello[4:-1])["events"]
    features = event["event"]["requested_simulation_features"]
    assert features["dynamic_registration"] is needed
    assert features["profile_reuse"] is needed or not MODELS[name].needs.profile_reuse
