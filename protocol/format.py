"""Interface of a wire format: between bytes and the neutral messages, for both roles.

Decoding any bytes gives a message or raises ``RemoteProtocolError``, never anything else. A module with these functions
is a codec (:mod:`spillway.protocol.batsim4.codec`). A :class:`Conversation` answers the messages.
"""

from __future__ import annotations

from typing import Protocol

from spillway.protocol.messages import Message, Reply


class SchedulerSide(Protocol):
    """Functions of a wire format that the service needs."""

    def greet(self, first: bytes, /) -> bytes | None:
        """Read the first frame; return the answer to a handshake, or ``None`` for an ordinary message."""
        ...

    def decode_message(self, data: bytes, /) -> Message:
        """Read a message of the simulator; raise :class:`spillway.base.errors.RemoteProtocolError` with the place."""
        ...

    def encode_reply(self, reply: Reply, /) -> bytes:
        """Write a reply as a scheduler does; raise :class:`spillway.base.errors.LocalProtocolError`."""
        ...

    def encode_refusal(self, reason: str, /) -> bytes:
        """Write the reply that ends a conversation: no message, but the reason (:mod:`spillway.protocol.refusal`)."""
        ...


class SimulatorSide(Protocol):
    """Functions of a wire format that a simulator needs."""

    def encode_message(self, message: Message, /) -> bytes:
        """Write a message as the simulator does; raise :class:`spillway.base.errors.LocalProtocolError`."""
        ...

    def decode_reply(self, data: bytes, /) -> Reply:
        """Read a reply of the scheduler; raise :class:`spillway.base.errors.RemoteProtocolError` with the place."""
        ...


class _Codec(SchedulerSide, SimulatorSide, Protocol):
    """A wire format for both roles."""


class Conversation(Protocol):
    """One simulation's conversation (:class:`spillway.schedulers.core.session.Session`)."""

    @property
    def finished(self) -> bool:
        """Whether it is over: nothing may follow."""
        ...

    def handle(self, message: Message, /) -> Reply:
        """Process one message and return the reply."""
        ...
