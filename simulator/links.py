"""How a message reaches the scheduler: in process, or over ZeroMQ."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import zmq

from schedulers.errors import InputError, PeerLost
from schedulers.wire.batsim4.codec import decode_reply, encode_message
from schedulers.wire.messages import Message, Reply


class Link(Protocol):
    """A conversation partner. Both kinds get the same messages: numbers are rounded before they come here."""

    def exchange(self, message: Message) -> Reply:
        """Send a message, wait for the reply."""

    def close(self) -> None:
        """Give everything back; closing twice does no harm."""


class InProcessLink:
    """A scheduler in the same process.

    Parameters
    ----------
    handle
        Answers a message (:meth:`schedulers.core.session.Session.handle`).
    """

    def __init__(self, handle: Callable[[Message], Reply]) -> None:
        self._handle = handle

    def exchange(self, message: Message) -> Reply:
        """Call the scheduler."""
        return self._handle(message)

    def close(self) -> None:
        """Nothing is open."""


class ZmqLink:
    """A scheduler behind a ZeroMQ request socket, in Batsim 4's JSON.

    As with Batsim, it does not matter which side starts first, and without a time limit a missing scheduler is waited
    for.

    Parameters
    ----------
    endpoint
        Where the scheduler listens (``tcp://localhost:28000``, ``ipc:///tmp/x``).
    timeout_s
        Give up when a reply takes longer; None: never.

    Raises
    ------
    InputError
        The endpoint cannot be used.
    """

    def __init__(self, endpoint: str, timeout_s: float | None = None) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        try:
            self._socket.connect(endpoint)
        except zmq.ZMQError as fault:
            self.close()
            raise InputError(
                f"cannot connect to the scheduler's endpoint {endpoint!r}: {fault}; expected such as tcp://localhost:28000"
            ) from None

    def exchange(self, message: Message) -> Reply:
        """Send, wait, decode; :class:`schedulers.errors.PeerLost` after the time limit."""
        return decode_reply(self.exchange_bytes(encode_message(message)))

    def exchange_bytes(self, frame: bytes) -> bytes:
        """Send and receive one frame as it is."""
        self._socket.send(frame)
        deadline = None if self._timeout_s is None else time.monotonic() + self._timeout_s
        while True:
            wait_ms = 1000
            if deadline is not None:
                wait_ms = min(wait_ms, max(0, round((deadline - time.monotonic()) * 1000)))
            if self._socket.poll(wait_ms):
                parts = self._socket.recv_multipart()
                return parts[0] if len(parts) == 1 else b"".join(parts)
            if deadline is not None and time.monotonic() >= deadline:
                raise PeerLost(
                    f"no reply from the scheduler at {self._endpoint} within {self._timeout_s:g} s (--peer-timeout)"
                )

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
        self._context.term()
