"""Choice of the wire format by the first frame: Batsim 4 begins with a JSON object, Batsim 5 with a length."""

from __future__ import annotations

from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim5 import codec as batsim5
from spillway.protocol.format import SchedulerSide
from spillway.protocol.messages import Message, Reply


class AnyBatsim:
    """A codec that becomes Batsim 4's or Batsim 5's with the first frame.

    Parameters
    ----------
    dynamic_jobs
        Whether to request the registration of jobs from Batsim 5 (Batsim 4 decides it on its command line).
    """

    def __init__(self, *, dynamic_jobs: bool = False) -> None:
        self._dynamic_jobs = dynamic_jobs
        self._codec: SchedulerSide = batsim4

    def greet(self, first: bytes, /) -> bytes | None:
        """Choose the format; answer the handshake where there is one."""
        if batsim5.is_hello(first):
            self._codec = batsim5.Batsim5(dynamic_jobs=self._dynamic_jobs)
        return self._codec.greet(first)

    def decode_message(self, data: bytes, /) -> Message:
        """Read a message in the chosen format."""
        return self._codec.decode_message(data)

    def encode_reply(self, reply: Reply, /) -> bytes:
        """Write a reply in the chosen format."""
        return self._codec.encode_reply(reply)

    def encode_refusal(self, reason: str, /) -> bytes:
        """Write the reply that ends the conversation in the chosen format."""
        return self._codec.encode_refusal(reason)
