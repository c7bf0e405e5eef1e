"""The last reply of a conversation that cannot continue: it states the reason, and is deliberately no valid message.

Neither Batsim 4 nor 5 has a reply that reports an error, and both wait for ever without a reply. ``{"error": "..."}``
is valid JSON, so that logs can show it, and no message, so that Batsim aborts at once: Batsim 4 for the missing
``now``, Batsim 5 for a member that its schema does not have. Spillway's simulator prints the reason.
"""

from __future__ import annotations

import msgspec

LONGEST_REASON = 2000
"""Most characters of a reason that are sent."""

_BEGINNING = b'{"error":'


class _Refusal(msgspec.Struct, forbid_unknown_fields=True):
    error: str


_DECODER = msgspec.json.Decoder(_Refusal)


def refusal(reason: str) -> bytes:
    """The reply that ends a conversation, as Batsim 4 and spillway's simulator receive it."""
    text = reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 3] + "..."
    return msgspec.json.encode(_Refusal(text.encode(errors="replace").decode()))


def reason_of(frame: bytes) -> str | None:
    """The reason in a refusal; ``None`` for an ordinary reply."""
    if not frame.startswith(_BEGINNING):
        return None
    try:
        return _DECODER.decode(frame.rstrip(b"\0")).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
