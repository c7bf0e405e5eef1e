"""Batsim 4's wire format, both roles: one UTF-8 JSON object per message.

The simulator prints every double with six decimals and leaves integers whole; a scheduler's numbers are written so that
they are read back unchanged. Whatever the bytes are, decoding gives a message or raises
:class:`~spillway.base.errors.RemoteProtocolError` with the JSON path of the bad field.

References
----------
Batsim 4's protocol documentation, https://batsim.readthedocs.io/en/v4.2.0/protocol.html; where the program (4.2.1) and
the documentation differ, the program wins.
"""

from __future__ import annotations

from spillway.base.errors import LocalProtocolError, RemoteProtocolError
from spillway.protocol.batsim4 import events as _events
from spillway.protocol.batsim4 import requests as _requests
from spillway.protocol.batsim4.request_text import write_request
from spillway.protocol.jsontext import decode_located, encoded, exact, six_decimals
from spillway.protocol.messages import Message, Reply
from spillway.protocol.refusal import refusal

_TOO_DEEP = "the JSON text is nested too deeply"


def greet(first: bytes) -> bytes | None:
    """Batsim 4 has no handshake: its first frame is a message like all others."""
    return None


def decode_message(data: bytes) -> Message:
    """Read what the simulator sent; raise :class:`RemoteProtocolError` with the place of a bad field."""
    try:
        envelope = decode_located(_events.DECODER, data)
        return Message(envelope.now, _events.neutral_events(envelope))
    except RemoteProtocolError as error:
        raise _with_known_types(error, _events.EVENT_TYPES) from None
    except RecursionError:
        raise RemoteProtocolError(_TOO_DEEP) from None


def encode_message(message: Message) -> bytes:
    """Write a message as Batsim does; raise :class:`LocalProtocolError` for what JSON or Batsim cannot express."""
    try:
        events = ",".join([_events.write_event(event) for event in message.events])
        return encoded(f'{{"now":{six_decimals(message.now)},"events":[{events}]}}')
    except (TypeError, RecursionError) as error:
        raise LocalProtocolError(f"the message cannot be written as JSON: {error}") from None


def decode_reply(data: bytes) -> Reply:
    """Read what the scheduler answered, with Batsim's own checks; raise :class:`RemoteProtocolError` with the place."""
    try:
        envelope = decode_located(_requests.DECODER, data)
        return Reply(envelope.now, _requests.neutral_requests(envelope))
    except RemoteProtocolError as error:
        raise _with_known_types(error, _requests.REQUEST_TYPES) from None
    except RecursionError:
        raise RemoteProtocolError(_TOO_DEEP) from None


def encode_reply(reply: Reply) -> bytes:
    """Write a reply; raise :class:`LocalProtocolError` for what would make Batsim abort."""
    now = reply.now
    try:
        requests = ",".join([write_request(request, now) for request in reply.events])
        return encoded(f'{{"now":{exact(now)},"events":[{requests}]}}')
    except (TypeError, RecursionError) as error:
        raise LocalProtocolError(f"the reply cannot be written as JSON: {error}") from None


def encode_refusal(reason: str) -> bytes:
    """Write the reply that ends a conversation with its reason; Batsim aborts on it ("no 'now' key")."""
    return refusal(reason)


def _with_known_types(error: RemoteProtocolError, known: tuple[str, ...]) -> RemoteProtocolError:
    if not (error.path.startswith("$.events[") and error.path.endswith("].type")):
        return error
    return RemoteProtocolError(f"{error.message}; known types: {', '.join(known)}", error.path)
