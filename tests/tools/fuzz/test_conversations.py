"""A bounded run of the fuzzer; ``python -m tools.fuzz conversations`` runs without an end."""

import pytest

from tools.fuzz.conversations import main, one
from tools.fuzz.faults import FAULTS
from tools.fuzz.setups import PAIRS
from tools.fuzz.table import Tally


def test_nothing_is_found() -> None:
    """Each pair of policy and job model once: replies, or one located error for the peer's fault."""
    tally = Tally()
    stories = [one(2, number, tally) for number in range(len(PAIRS))]
    assert not "".join(stories)
    assert len(tally.pairs) == len(PAIRS)
    assert tally.outcomes


def test_the_table_names_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """And the number of messages."""
    assert main(["--conversations", "2", "--seed", "3", "--no-outages"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in FAULTS)
    assert "messages in 2 conversations" in printed


def test_a_failure_is_found_and_can_be_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that dies on the third message: the finding names the command that repeats it."""
    from spillway.protocol.messages import Message, Reply
    from spillway.schedulers.core.session import Session

    handle, count = Session.handle, 0

    def broken(self: Session, message: Message) -> Reply:
        nonlocal count
        count += 1
        if count % 3 == 0:
            raise KeyError("gone")
        return handle(self, message)

    monkeypatch.setattr(Session, "handle", broken)
    tally = Tally()
    stories = [one(1, number, tally) for number in range(4)]
    assert tally.findings > 0
    found = next(story for story in stories if story)
    assert "KeyError" in found
    assert "python -m tools.fuzz conversations --seed 1 --first" in found
