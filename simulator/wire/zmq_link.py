"""The link to a scheduler in another process, over ZeroMQ.

It is separate from :mod:`spillway.simulator.wire.links`, because runs within one process need not load ZeroMQ.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import zmq

from spillway.base.errors import InputError, PeerLost
from spillway.base.socket_events import read_event
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.format import SimulatorSide
from spillway.protocol.limits import MAX_MESSAGE_BYTES
from spillway.protocol.messages import Message, Reply
from spillway.protocol.refusal import reason_of
from spillway.simulator.errors import SchedulerRefusal


class ZmqLink:
    """A scheduler behind a ZeroMQ request socket.

    As with Batsim, either side may start first, and without a time limit the link waits for a missing scheduler. A
    scheduler that has closed its connection can never answer: the reply would belong to another connection.

    Parameters
    ----------
    endpoint
        Address of the scheduler (``tcp://localhost:28000``, ``ipc:///tmp/x``).
    timeout_s
        Longest wait for a reply, s; ``None``: no limit.
    max_message_bytes
        Largest reply that is read.
    check_alive
        Called during the wait for a reply, about once a second; raises if no reply will come.
    codec
        The wire format.

    Raises
    ------
    InputError
        The endpoint cannot be used.
    """

    def __init__(
        self,
        endpoint: str,
        timeout_s: float | None = None,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        check_alive: Callable[[], None] = lambda: None,
        codec: SimulatorSide = batsim4,
    ) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.maxmsgsize = max_message_bytes
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._max_message_bytes = max_message_bytes
        self._check_alive = check_alive
        self._codec = codec
        self._met = False
        self._lost = False
        try:
            self._socket.connect(endpoint)
        except zmq.ZMQError as fault:
            self.close()
            raise InputError(
                f"cannot connect to the scheduler's endpoint {endpoint!r}: {fault}; expected such as tcp://localhost:28000"
            ) from None

    def exchange(self, message: Message) -> Reply:
        """Send, wait, decode.

        Raises
        ------
        PeerLost
            The scheduler has disconnected, or needs longer than the time limit.
        SchedulerRefusal
            The scheduler ended the conversation with a reason.
        RemoteProtocolError
            The reply is malformed.
        """
        return self._codec.decode_reply(self.exchange_bytes(self._codec.encode_message(message)))

    def exchange_bytes(self, frame: bytes) -> bytes:
        """Send and receive one frame as it is; raise as :meth:`exchange`."""
        self._socket.send(frame)
        deadline = math.inf if self._timeout_s is None else time.monotonic() + self._timeout_s
        while not self._socket.poll(0):
            self._check_alive()
            if self._lost:
                raise PeerLost(
                    f"the scheduler at {self._endpoint} closed the connection: it ended, or one of the two messages is "
                    f"beyond the limit of its reader (this one has {len(frame)} bytes; --max-message-bytes, on either "
                    f"side; here {self._max_message_bytes})"
                )
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise PeerLost(
                    f"no reply from the scheduler at {self._endpoint} within {self._timeout_s:g} s (--peer-timeout)"
                )
            self._poller.poll(math.ceil(min(left_s, 1.0) * 1000))
            self._note_connection()
        parts = self._socket.recv_multipart()
        received = parts[0] if len(parts) == 1 else b"".join(parts)
        reason = reason_of(received)
        if reason is not None:
            raise SchedulerRefusal(reason)
        return received

    def _note_connection(self) -> None:
        while self._monitor.poll(0):
            event, _ = read_event(self._monitor.recv_multipart())
            self._met = self._met or event == zmq.EVENT_HANDSHAKE_SUCCEEDED
            self._lost = self._lost or (self._met and event == zmq.EVENT_DISCONNECTED)

    def close(self) -> None:
        """Close the socket."""
        if not self._socket.closed:
            self._socket.disable_monitor()
            self._monitor.close(0)
        self._socket.close()
        self._context.term()
