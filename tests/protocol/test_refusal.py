"""The reply that carries a reason and is no message."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.errors import RemoteProtocolError
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim5.codec import Batsim5
from spillway.protocol.detect import AnyBatsim
from spillway.protocol.messages import Reply
from spillway.protocol.refusal import LONGEST_REASON, reason_of, refusal


@given(st.text(max_size=200))
def test_a_reason_comes_through(reason: str) -> None:
    """Any characters come through; those that are no Unicode text become question marks."""
    frame = refusal(reason)
    assert reason_of(frame) == reason.encode(errors="replace").decode()
    assert list(json.loads(frame)) == ["error"]


@given(st.text(max_size=200))
def test_it_is_no_reply(reason: str) -> None:
    """Batsim 4 aborts on it, as our reader of replies does: the moment is missing."""
    with pytest.raises(RemoteProtocolError, match="now"):
        batsim4.decode_reply(batsim4.encode_refusal(reason))


def test_batsim_5_gets_its_final_zero_byte() -> None:
    """The same text; a codec that has not met its peer writes Batsim 4's."""
    assert Batsim5().encode_refusal("no") == b'{"error":"no"}\x00'
    assert AnyBatsim().encode_refusal("no") == b'{"error":"no"}'


@pytest.mark.parametrize("frame", [
    b"",
    b"{}",
    b"garbage",
    batsim4.encode_reply(Reply(1.0, ())),
    b'{"error":1}',
    b'{"error":"x","now":1}',
    b'{"error":',
])  # fmt: skip
def test_other_replies_have_no_reason(frame: bytes) -> None:
    """A reply with further members is an ordinary one, right or wrong."""
    assert reason_of(frame) is None


def test_a_long_reason_is_cut() -> None:
    """A reply stays small."""
    reason = reason_of(refusal("x" * 10_000))
    assert reason is not None
    assert len(reason) == LONGEST_REASON
    assert reason.endswith("...")
