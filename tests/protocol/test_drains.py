"""The event that drains a part of storage nodes: read from the data of a NOTIFY, and refused with the field."""

from typing import Any

import pytest

from spillway.protocol.batsim4 import codec
from spillway.protocol.drains import STORAGE_DRAINED, Drain, read_drain
from spillway.protocol.messages import Message, Notify


def test_it_comes_through_as_batsim_forwards_it() -> None:
    """The whole object of the file is the data of a NOTIFY; its integers stay integers on the wire."""
    line = {"timestamp": 600, "type": STORAGE_DRAINED, "resources": "8-9 11", "bytes": 2_000_000_000_001}
    sent = codec.encode_message(Message(600.0, (Notify(600.0, STORAGE_DRAINED, (), line),)))
    (event,) = codec.decode_message(sent).events
    assert isinstance(event, Notify)
    assert (event.kind, read_drain(event.data)) == (STORAGE_DRAINED, Drain((8, 9, 11), 2_000_000_000_001))


def test_a_whole_number_may_have_decimals() -> None:
    """Batsim prints every real number with six of them."""
    assert read_drain({"resources": "3", "bytes": 5e12}) == Drain((3,), 5 * 10**12)


@pytest.mark.parametrize(("fields", "expected"), [
    ({"bytes": 1}, "field 'resources' must be ids of storage nodes such as '8-9', got None"),
    ({"resources": " ", "bytes": 1}, "field 'resources' must be ids"),
    ({"resources": 8, "bytes": 1}, "field 'resources' must be ids"),
    ({"resources": "8"}, "field 'bytes' must be a whole number of at least 0, got None"),
    ({"resources": "8", "bytes": -1}, "at least 0, got -1"),
    ({"resources": "8", "bytes": 0.5}, "at least 0, got 0.5"),
    ({"resources": "8", "bytes": True}, "at least 0, got True"),
    ({"resources": "8", "bytes": float("nan")}, "at least 0, got nan"),
    ({"resources": "8", "bytes": 2**63}, "at least 0, got 9223372036854775808"),
    ({"resources": "8-x", "bytes": 1}, "expected resource ids"),
])  # fmt: skip
def test_what_is_wrong_is_named(fields: dict[str, Any], expected: str) -> None:
    """The error states the field, the expected value and the given one."""
    with pytest.raises(ValueError, match=expected):
        read_drain(fields)
