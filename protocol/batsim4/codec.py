"""Batsim 4's wire format, both roles: one UTF-8 JSON object per message.

The simulator prints every double with six decimals and leaves integers whole; a scheduler's numbers are written so that
they are read back unchanged. Decoding any bytes gives a message or raises
:class:`~spillway.base.errors.RemoteProtocolError` with the JSON path of the bad field.

References
----------
Batsim 4's protocol documentation, https://batsim.readthedocs.io/en/v4.2.0/protocol.html; where the program (4.2.1) and
the documentation differ, the program wins.
"""

from __future__ import annotations

from spillway.protocol.batsim4.events import EVENTS
from spillway.protocol.batsim4.requests import REQUESTS
from spillway.protocol.messages import Message, Reply
from spillway.protocol.refusal import refusal


def greet(first: bytes) -> bytes | None:
    """Batsim 4 has no handshake: its first frame is a message like all others."""
    return None


def decode_message(data: bytes) -> Message:
    """Read a message of the simulator; raise :class:`RemoteProtocolError` with the place of a bad field."""
    return Message(*EVENTS.decode(data))


def encode_message(message: Message) -> bytes:
    """Write a message as Batsim does; raise :class:`LocalProtocolError` for values that it or JSON cannot express."""
    return EVENTS.encode(message.now, message.events, "message")


def decode_reply(data: bytes) -> Reply:
    """Read a reply of the scheduler, with Batsim's own checks; raise :class:`RemoteProtocolError` with the place."""
    return Reply(*REQUESTS.decode(data))


def encode_reply(reply: Reply) -> bytes:
    """Write a reply; raise :class:`LocalProtocolError` for requests on which Batsim would abort."""
    return REQUESTS.encode(reply.now, reply.events, "reply")


def encode_refusal(reason: str) -> bytes:
    """Write the reply that ends a conversation with its reason; Batsim aborts on it ("no 'now' key")."""
    return refusal(reason)
