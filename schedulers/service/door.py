"""The service's only socket: a ZeroMQ ROUTER, which distinguishes its clients and detects when one has disconnected.

To a REQ socket (Batsim's, spillway's simulator's) it looks like a REP socket: an empty frame, then one frame of text.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket as sockets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import zmq

from spillway.base.errors import InputError
from spillway.base.socket_events import read_event
from spillway.protocol.limits import MAX_MESSAGE_BYTES

DEFAULT_BIND = "tcp://127.0.0.1:28000"
"""Batsim's own default port, on the loopback address."""

_SURELY_DROPPED = 2
"""Messages of up to this many times the limit are received, and refused with the reason; larger ones are dropped."""

MOST_CONNECTIONS = 128
"""Most connections open at a time: each takes a descriptor, and the service needs some itself."""

HANDSHAKE_MS = 5000
"""Time after which a connection without ZeroMQ's handshake is closed (ms); ZeroMQ's sockets send it at once."""

LINGER_MS = 5000
"""Longest time that closing the socket waits for the last reply to be sent (ms)."""


class Call(NamedTuple):
    """Received frames.

    Attributes
    ----------
    peer
        Identity of the sender.
    body
        The text; empty in case of a fault.
    fault
        Reason why it cannot be a message, whatever its text; "" without a fault.
    connection
        Number of its connection, and the count of accepted connections up to that one (0: closed before its message was
        read).
    """

    peer: bytes
    body: bytes
    fault: str
    connection: tuple[int, int]


class Door:
    """A bound socket.

    Parameters
    ----------
    bind
        ZeroMQ endpoint to listen on. The file of an ``ipc://`` endpoint is accessible only to its owner (0600) and
        removed at the end.
    max_message_bytes
        Largest message read.

    Attributes
    ----------
    endpoint
        Its address, with the port that the system chose.
    unread
        Number of connections closed without a readable message: not ZeroMQ, or a message far beyond the limit.

    Raises
    ------
    InputError
        The endpoint is wrong or taken.
    """

    def __init__(self, bind: str, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_message_bytes
        self._accepted = 0
        self._open: dict[int, int] = {}
        self._silent: set[int] = set()
        self._file: Path | None = None
        self.unread = 0
        self._context = zmq.Context()
        try:
            self._make_sockets(max_message_bytes)
            self.endpoint = _bind(self._socket, bind)
            self._file = _file_of(bind)
        except BaseException:  # also a signal's: a context that is collected waits for its open sockets
            self._context.destroy(0)
            raise

    def _make_sockets(self, max_message_bytes: int) -> None:
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = LINGER_MS
        self._socket.handshake_ivl = HANDSHAKE_MS
        self._socket.router_mandatory = True  # a reply to a disconnected client is an error
        self._socket.maxmsgsize = min(_SURELY_DROPPED * max_message_bytes, (1 << 63) - 1)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        self._gate = self._context.socket(zmq.REP)
        self._gate.bind("inproc://zeromq.zap.01")
        self._socket.zap_domain = b"spillway"
        self._poller = zmq.Poller()
        self._poller.register(self._gate, zmq.POLLIN)
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)

    def receive(self, wait_ms: int) -> Call | None:
        """Wait for a call; ``None`` without a call in that time, or when only connections changed."""
        ready = dict(self._poller.poll(wait_ms))
        if self._monitor in ready:  # before the message: its connection may be a new one with an old number
            self._note_connections()
        if self._gate in ready:
            self._admit()
        if self._socket not in ready:
            return None
        frames = self._socket.recv_multipart(copy=False)
        connection = _connection_of(frames[0])
        self._silent.discard(connection)
        fault = self._fault(frames)
        body = b"" if fault else frames[-1].bytes
        return Call(frames[0].bytes, body, fault, (connection, self._open.get(connection, 0)))

    def send(self, peer: bytes, frame: bytes) -> bool:
        """Send a reply; return whether the client is still connected."""
        try:
            self._socket.send_multipart([peer, b"", frame], zmq.NOBLOCK)
        except zmq.ZMQError as error:
            if error.errno not in (zmq.EHOSTUNREACH, zmq.EAGAIN):
                raise
            return False
        return True

    def has_closed(self, call: Call) -> bool:
        """Whether the connection of a call has been closed."""
        self._note_connections()
        connection, accepted = call.connection
        return connection != _UNKNOWN and self._open.get(connection, -1) != accepted

    def close(self) -> None:
        """Send the last reply, close the socket, remove its file."""
        if self._file is not None:  # still ours: once the socket is closed, another service may use the path
            self._file.unlink(missing_ok=True)
        try:
            self._socket.disable_monitor()
            self._monitor.close(0)
            self._gate.close(0)
        finally:
            self._context.destroy()

    def _note_connections(self) -> None:
        while self._monitor.poll(0):
            event, connection = read_event(self._monitor.recv_multipart())
            if event == zmq.EVENT_ACCEPTED:
                self._accepted += 1
                self._open[connection] = self._accepted
                self._silent.add(connection)
                continue
            self._open.pop(connection, None)
            if connection in self._silent:
                self._silent.discard(connection)
                self.unread += 1

    def _admit(self) -> None:
        """Accept connections after their handshake, or refuse them temporarily (ZeroMQ's RFC 27, ZAP)."""
        while self._gate.poll(0):
            number = self._gate.recv_multipart()[1]
            self._note_connections()
            few = len(self._open) <= MOST_CONNECTIONS
            self._gate.send_multipart([b"1.0", number, b"200" if few else b"300", b"", b"", b""])

    def _fault(self, frames: list[zmq.Frame]) -> str:
        size = sum(len(frame) for frame in frames[1:])
        if size > self._max_bytes:
            return (
                f"expected a message of at most {self._max_bytes} bytes (option --max-message-bytes), got {size} bytes"
            )
        if len(frames) < 3 or len(frames[1]) > 0:
            return f"expected an empty frame and a message, as a REQ socket sends, got {len(frames) - 1} frames"
        if len(frames) > 3:
            return f"expected a message of one frame, got {len(frames) - 2} frames"
        return ""


def _connection_of(frame: zmq.Frame) -> int:
    """Number of a frame's connection."""
    try:
        return int(frame.get(zmq.SRCFD))
    except zmq.ZMQError:
        return _UNKNOWN


def _bind(socket: zmq.Socket[bytes], endpoint: str) -> str:
    port = _TCP_PORT.fullmatch(endpoint)
    if port is not None and int(port[1]) > 65535:  # ZeroMQ would wrap it around
        raise InputError(f"cannot listen on {endpoint!r}: a port is a number up to 65535, or * for a free one")
    file = _file_of(endpoint)
    if file is not None:
        _make_way(file, endpoint)
    try:
        with _for_the_user_alone():
            socket.bind(endpoint)
        if file is not None:
            file.chmod(0o600)
    except zmq.ZMQError as error:
        hint = _BIND_HINTS.get(error.errno or 0, f"{error.strerror}; expected an endpoint such as {DEFAULT_BIND}")
        raise InputError(f"cannot listen on {endpoint!r}: {hint}") from None
    return str(socket.getsockopt_string(zmq.LAST_ENDPOINT)).rstrip("\0")


def _file_of(endpoint: str) -> Path | None:
    """The file of an endpoint that names one."""
    match = _IPC_FILE.fullmatch(endpoint)
    return None if match is None else Path(match[1])


def _make_way(path: Path, endpoint: str) -> None:
    """Refuse a path with any other file than an unused socket, as ZeroMQ deletes whatever is at the path."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if not stat.S_ISSOCK(mode):
        raise InputError(f"cannot listen on {endpoint!r}: there is a file that is no socket; choose another path")
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe, contextlib.suppress(OSError):
        probe.connect(str(path))
        raise InputError(f"cannot listen on {endpoint!r}: {_BIND_HINTS[zmq.EADDRINUSE]}")


@contextlib.contextmanager
def _for_the_user_alone() -> Iterator[None]:
    """Deny others access to files made meanwhile (the socket of an ``ipc://`` endpoint, the folder of ``ipc://*``)."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


_UNKNOWN = -1
"""A connection's number where ZeroMQ's first protocol does not state it."""

_TCP_PORT = re.compile(r"tcp://.*:([0-9]+)")
_IPC_FILE = re.compile(r"ipc://([^@*].*)")
_BIND_HINTS = {
    zmq.EADDRINUSE: "the address is in use; does another scheduler still run? Choose another port, or * for a free one",
    zmq.EADDRNOTAVAIL: "this machine has no such address",
    errno.ENODEV: "this machine has no such address",
    errno.ENAMETOOLONG: "the path of a socket has at most 107 characters; choose a shorter one",
    errno.ENOENT: "its folder does not exist",
    errno.EACCES: "you may not write to its folder",
}
