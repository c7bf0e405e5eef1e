"""Events of a ZeroMQ socket as its monitor reports them.

``zmq.utils.monitor`` reads them, too, but it imports asyncio and ssl, which take as long as a small simulation.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

_EVENT = struct.Struct("=Hi")
"""A report's first frame: the event and its value, in the machine's order (ZeroMQ, ``zmq_socket_monitor``)."""


def read_event(frames: Sequence[bytes]) -> tuple[int, int]:
    """Event of a report, and its value: the descriptor of a connection, where the event is about one."""
    event, value = _EVENT.unpack(frames[0])
    return event, value
