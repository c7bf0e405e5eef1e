"""What a wire format must do: the interface between bytes and the neutral messages, for both roles.

The scheduler's service uses :meth:`Codec.decode_message` and :meth:`Codec.encode_reply`, the simulator the other two. A
module with these four functions is a codec (:mod:`schedulers.protocol.batsim4`). What answers the messages is a
:class:`Conversation`.
"""

from __future__ import annotations

from typing import Protocol

from schedulers.protocol.messages import Message, Reply


class Codec(Protocol):
    """A wire format. Whatever the bytes are, decoding gives a message or raises ``RemoteProtocolError``."""

    def decode_message(self, data: bytes, /) -> Message:
        """Read what the simulator sent; raise :class:`schedulers.errors.RemoteProtocolError` with the place."""
        ...

    def encode_message(self, message: Message, /) -> bytes:
        """Write a message as the simulator does; raise :class:`schedulers.errors.LocalProtocolError`."""
        ...

    def decode_reply(self, data: bytes, /) -> Reply:
        """Read what the scheduler answered; raise :class:`schedulers.errors.RemoteProtocolError` with the place."""
        ...

    def encode_reply(self, reply: Reply, /) -> bytes:
        """Write a reply as a scheduler does; raise :class:`schedulers.errors.LocalProtocolError`."""
        ...


class Conversation(Protocol):
    """One simulation's conversation (:class:`schedulers.session.Session`)."""

    finished: bool

    def handle(self, message: Message, /) -> Reply:
        """Digest one message and answer it."""
        ...
