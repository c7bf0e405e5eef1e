"""A few worlds of ``python -m tools.fuzz worlds``, and the report of a finding."""

from typing import Any

import pytest
from msgspec.structs import replace

from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim5.codec import Batsim5Simulator
from spillway.protocol.messages import CallMeLater, Reply
from spillway.schedulers.core.book import Book
from tests.properties.buffer_cases import BATSIM_5, WAYS
from tools.fuzz.worlds import main


def test_a_few_worlds(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is found in them, in any way of playing."""
    assert main(["--worlds", "30", "--seed", "3"]) == 0
    assert main(["--worlds", "40", "--seed", "3", "--crowded", "--twice"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n0 findings\n") == 2
    assert all(f"{way} 0" not in printed.rpartition("ways:")[2] for way in WAYS)
    assert f"{BATSIM_5} 40; {BATSIM_5}, without the outages and drains drawn 40" in printed


@pytest.mark.parametrize("codec", [batsim4, Batsim5Simulator], ids=["batsim4", "batsim5"])
def test_ways_that_differ_are_a_finding(
    codec: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A codec by which calls come late: the result over the wire differs from that in this process."""
    read = codec.decode_reply
    monkeypatch.setattr(codec, "decode_reply", lambda *given: _later(read(*given)))
    assert main(["--worlds", "12", "--seed", "3", "--crowded", "--twice"]) == 1
    assert "--crowded --twice" in capsys.readouterr().out


def _later(reply: Reply) -> Reply:
    """The calls of a reply come a second late."""
    moved = [replace(event, at=event.at + 1.0) if isinstance(event, CallMeLater) else event for event in reply.events]
    return Reply(reply.now, tuple(moved))


def test_a_leak_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A book that says that a resource is held by an ended job: the finding names the command that plays it again."""
    monkeypatch.setattr(Book, "fault", lambda self: "a node is held by a job that has ended")
    assert main(["--worlds", "3", "--seed", "3"]) == 1
    printed = capsys.readouterr().out
    assert "play again: python -m tools.fuzz worlds --seed 3 --first" in printed
