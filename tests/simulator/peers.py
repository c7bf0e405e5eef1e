"""Schedulers behind a ZeroMQ socket, for tests of the command line."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import zmq

from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.format import SchedulerSide
from spillway.protocol.messages import Message, Reply, SimulationEnds


@contextmanager
def listening(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """A thread that answers frames until the block is left; gives its endpoint."""
    context = zmq.Context()
    socket = context.socket(zmq.REP)
    port = socket.bind_to_random_port("tcp://127.0.0.1")
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            if socket.poll(20):
                socket.send(answer(socket.recv()))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"tcp://127.0.0.1:{port}"
    finally:
        done.set()
        thread.join(10)
        socket.close(0)
        context.term()


def decoded(handle: Callable[[Message], Reply], codec: SchedulerSide = batsim4) -> Callable[[bytes], bytes]:
    """A scheduler of messages as one of frames."""
    return lambda frame: codec.encode_reply(handle(codec.decode_message(frame)))


def ends(message: Message) -> bool:
    """Whether a message is the last."""
    return any(isinstance(event, SimulationEnds) for event in message.events)
