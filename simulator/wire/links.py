"""Links to the scheduler: the one in process; over ZeroMQ see :mod:`spillway.simulator.wire.zmq_link`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from spillway.core import Scheduler
from spillway.protocol.batsim4 import codec
from spillway.protocol.messages import Message, Reply

Exchange: TypeAlias = Scheduler | Callable[[Message], Reply | None]
"""A scheduler of the core, or what sends a message and waits for the reply; ``None``: the reply comes by
:meth:`.broker.Simulation.answer`."""


class Link(Protocol):
    """The connection to a scheduler. All kinds get the same messages: numbers are rounded before they come here."""

    @property
    def exchange(self) -> Exchange:
        """The other side."""

    def close(self) -> None:
        """Release all resources; closing twice does no harm."""


class InProcessLink:
    """A scheduler in the same process.

    Parameters
    ----------
    exchange
        A session (:class:`spillway.schedulers.core.session.Session`), or a function that answers a message.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    @property
    def exchange(self) -> Exchange:
        """The scheduler."""
        return self._exchange

    def close(self) -> None:
        """Do nothing: no resource is open."""


class WireLink:
    """A scheduler in the same process that gets messages as bytes of Batsim 4's protocol, and gives replies so.

    Parameters
    ----------
    handle
        Answers a message.
    """

    def __init__(self, handle: Callable[[Message], Reply]) -> None:
        self._handle = handle

    def exchange(self, message: Message) -> Reply:
        """Pass a message on, and its reply back."""
        reply = self._handle(codec.decode_message(codec.encode_message(message)))
        return codec.decode_reply(codec.encode_reply(reply))

    def close(self) -> None:
        """Do nothing: no resource is open."""
