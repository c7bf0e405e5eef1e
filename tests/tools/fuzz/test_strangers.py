"""A bounded run of ``python -m tools.fuzz strangers``."""

from pathlib import Path

from tools.fuzz.strangers import KINDS, fuzz

DROPPED_BY_ZEROMQ = {"far beyond the limit", "bytes that are no ZeroMQ"}
"""At least in most cases: some bytes are ZeroMQ's first protocol."""


def test_strangers_change_nothing(tmp_path: Path) -> None:
    """For any messages of theirs, before and during a conversation: the same table of jobs, no error on either side."""
    rows = fuzz(90, 1, tmp_path)
    assert [row.kind for row in rows] == list(KINDS)
    for row in rows:
        assert row.messages >= 10, row
        assert row.equal == row.conversations, row
        assert row.errors == [], row
        assert row.noted == row.conversations or row.kind in DROPPED_BY_ZEROMQ, row
