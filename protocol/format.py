"""What a wire format must do: the interface between bytes and the neutral messages, for both roles.

Whatever the bytes are, decoding gives a message or raises ``RemoteProtocolError``, never anything else. A module with
these functions is a codec (:mod:`spillway.protocol.batsim4.codec`). What answers the messages is a
:class:`Conversation`.
"""

from __future__ import annotations

from typing import Protocol

from spillway.protocol.messages import Message, Reply


class SchedulerSide(Protocol):
    """What the service needs of a wire format."""

    def greet(self, first: bytes, /) -> bytes | None:
        """Look at the first frame: the answer to a handshake, or ``None`` when it is an ordinary message."""
        ...

    def decode_message(self, data: bytes, /) -> Message:
        """Read what the simulator sent; raise :class:`spillway.base.errors.RemoteProtocolError` with the place."""
        ...

    def encode_reply(self, reply: Reply, /) -> bytes:
        """Write a reply as a scheduler does; raise :class:`spillway.base.errors.LocalProtocolError`."""
        ...

    def encode_refusal(self, reason: str, /) -> bytes:
        """Write the reply that ends a conversation: no message, but the reason (:mod:`spillway.protocol.refusal`)."""
        ...


class SimulatorSide(Protocol):
    """What a simulator needs of a wire format."""

    def encode_message(self, message: Message, /) -> bytes:
        """Write a message as the simulator does; raise :class:`spillway.base.errors.LocalProtocolError`."""
        ...

    def decode_reply(self, data: bytes, /) -> Reply:
        """Read what the scheduler answered; raise :class:`spillway.base.errors.RemoteProtocolError` with the place."""
        ...


class _Codec(SchedulerSide, SimulatorSide, Protocol):
    """A wire format for both roles."""


class Conversation(Protocol):
    """One simulation's conversation (:class:`spillway.schedulers.core.session.Session`)."""

    finished: bool

    def handle(self, message: Message, /) -> Reply:
        """Digest one message and answer it."""
        ...
