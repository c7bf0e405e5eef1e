"""Our EASY as published against conversations recorded between the real Batsim 4.2.1 and the published scheduler."""

from pathlib import Path

import pytest

from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import ExecuteJob, RejectJob, Reply
from spillway.protocol.transcript import read_transcript, replay
from spillway.schedulers.service.command import build_session, session_parser

LITERAL = ["easy", "--burst-buffer-bytes", "40e9", "--location-shape", "3,3,4", "--thesis-literal"]


def _decisions(reply: Reply) -> list[tuple[type, str, tuple[int, ...]]]:
    """Starts and rejections; of sub-jobs only those that compute (their storage nodes are dealt in another order)."""
    return [
        (type(request), request.job_id, request.alloc if isinstance(request, ExecuteJob) else ())
        for request in reply.events
        if isinstance(request, RejectJob) or (isinstance(request, ExecuteJob) and not request.storage_mapping)
    ]


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("alloc-backfill-40", "rigid"),
        ("alloc-reject-12", "rigid"),
        ("alloc-walltime-kill-12", "rigid"),
        ("io-backfill-40", "io"),
    ],
)
def test_every_decision_is_the_published_one(reference: Path, name: str, model: str) -> None:
    """Exchange by exchange the same jobs start on the same nodes, and the same are refused."""
    session = build_session(session_parser().parse_args([*LITERAL, "--model", model]))
    decisions = 0
    for exchange in read_transcript(reference / "transcripts" / f"{name}.jsonl"):
        ours = session.handle(batsim4.decode_message(exchange.received))
        assert exchange.sent is not None
        theirs = batsim4.decode_reply(exchange.sent)
        assert _decisions(ours) == _decisions(theirs), (name, exchange.number)
        decisions += len(_decisions(ours))
    assert session.finished
    assert decisions >= 12


@pytest.mark.reference
def test_a_whole_conversation_is_reproduced(reference: Path) -> None:
    """Not only decisions but every request in every answer, metadata included."""
    session = build_session(session_parser().parse_args(LITERAL))
    assert replay(reference / "transcripts" / "alloc-walltime-kill-12.jsonl", session, batsim4) is None
