"""The service's only door: a ZeroMQ REP socket; bytes in, session, bytes out.

Batsim connects with a REQ socket and sends first; everything is lock-step. Nothing here depends on what messages mean.
"""

from __future__ import annotations

import errno
import math
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, Protocol

import zmq

from schedulers.errors import InputError, PeerLost, RemoteProtocolError, Stopped
from schedulers.wire.format import Conversation, SchedulerSide

DEFAULT_BIND = "tcp://127.0.0.1:28000"
"""Batsim's own default port, on the loopback address."""

LINGER_MS = 5000
"""How long the last reply may take to leave (ms) before the socket is closed."""

SLICE_MS = 500
"""How long the service may be deaf to signals (ms)."""


class Tape(Protocol):
    """Where the bytes of both sides are kept (:class:`schedulers.wire.transcript.Recorder`)."""

    def received(self, data: bytes, /) -> None:
        """Keep a message of the simulator, before it is read."""
        ...

    def sent(self, data: bytes, /) -> None:
        """Keep an answer, before it is sent."""
        ...


def serve(
    session: Conversation,
    bind: str,
    codec: SchedulerSide,
    *,
    watchdog_s: float | None = None,
    recorder: Tape | None = None,
    on_bound: Callable[[str], None] | None = None,
) -> int:
    """Serve one simulation and return when its end has been answered.

    Parameters
    ----------
    session
        Answers the messages; its ``finished`` ends the service once the answer is sent.
    bind
        ZeroMQ endpoint to listen on (``tcp://127.0.0.1:28000``; with the port ``*`` the system chooses one).
    codec
        Wire format.
    watchdog_s
        Longest silence of the simulator in seconds, from the start as well; ``None`` waits for ever. Batsim sends
        nothing when it dies or deadlocks: silence is the only sign.
    recorder
        Gets every message as it passes.
    on_bound
        Called with the real endpoint once the service listens.

    Returns
    -------
    int
        Number of exchanges.

    Raises
    ------
    InputError
        The endpoint is wrong or taken.
    PeerLost
        The watchdog bit.
    Stopped
        A signal (SIGINT, SIGTERM) arrived.
    SpillwayError
        Whatever the codec and the session raise: the conversation cannot go on.
    """
    context = zmq.Context()
    socket = context.socket(zmq.REP)
    socket.linger = LINGER_MS
    try:
        with stopping_on_signals():
            endpoint = _bind(socket, bind)
            if on_bound is not None:
                on_bound(endpoint)
            return _loop(socket, session, codec, watchdog_s, recorder)
    finally:
        socket.close()
        context.term()


def _loop(
    socket: zmq.Socket[bytes],
    session: Conversation,
    codec: SchedulerSide,
    watchdog_s: float | None,
    recorder: Tape | None,
) -> int:
    exchanges = 0
    now_s = 0.0
    socket.rcvtimeo = SLICE_MS if watchdog_s is None else max(1, min(SLICE_MS, math.ceil(watchdog_s * 1000)))
    while not session.finished:
        data = _receive(socket, watchdog_s)
        if data is None:
            raise PeerLost(_silence(watchdog_s, exchanges, now_s))
        if recorder is not None:
            recorder.received(data)
        answer = codec.greet(data) if exchanges == 0 else None
        if answer is None:
            message = codec.decode_message(data)
            answer = codec.encode_reply(session.handle(message))
            now_s = message.now
        if recorder is not None:
            recorder.sent(answer)
        socket.send(answer)
        exchanges += 1
    return exchanges


def _receive(socket: zmq.Socket[bytes], watchdog_s: float | None) -> bytes | None:
    """Wait for a message, ``None`` when the watchdog bites.

    Waits in slices: a signal that comes just before the system call would else go unnoticed.
    """
    deadline = math.inf if watchdog_s is None else time.monotonic() + watchdog_s
    while True:
        try:
            frames = socket.recv_multipart()
            break
        except zmq.Again:
            if time.monotonic() >= deadline:
                return None
    if len(frames) != 1:
        raise RemoteProtocolError(f"expected a message of one frame, got {len(frames)} frames")
    return frames[0]


def _silence(watchdog_s: float | None, exchanges: int, now_s: float) -> str:
    if exchanges == 0:
        return f"no simulator has spoken within {watchdog_s:g} s: was it started, and with this endpoint?"
    return (
        f"the simulator has been silent for {watchdog_s:g} s after {exchanges} exchanges, at t = {now_s:g} s: "
        "it died, or its simulation deadlocked because nothing that waits can ever start"
    )


def _bind(socket: zmq.Socket[bytes], endpoint: str) -> str:
    port = _TCP_PORT.fullmatch(endpoint)
    if port is not None and int(port[1]) > 65535:  # ZeroMQ would wrap it around
        raise InputError(f"cannot listen on {endpoint!r}: a port is a number up to 65535, or * for a free one")
    try:
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        hint = _BIND_HINTS.get(error.errno or 0, f"{error.strerror}; expected an endpoint such as {DEFAULT_BIND}")
        raise InputError(f"cannot listen on {endpoint!r}: {hint}") from None
    return str(socket.getsockopt_string(zmq.LAST_ENDPOINT)).rstrip("\0")


_TCP_PORT = re.compile(r"tcp://.*:([0-9]+)")
_BIND_HINTS = {
    zmq.EADDRINUSE: "the address is in use; does another scheduler still run? Choose another port, or * for a free one",
    zmq.EADDRNOTAVAIL: "this machine has no such address",
    errno.ENODEV: "this machine has no such address",
}


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Raise :class:`Stopped` on SIGINT and SIGTERM (in the main thread; elsewhere signals are left alone)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped(number)
