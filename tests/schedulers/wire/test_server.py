"""The service over real ZeroMQ sockets on the loopback address, with a scripted simulator at the other end."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from schedulers.errors import DecisionRefused, InputError, PeerLost, RemoteProtocolError, SpillwayError
from schedulers.wire.batsim4 import codec as batsim4
from schedulers.wire.messages import JobSubmitted, Request
from schedulers.wire.server import serve
from schedulers.wire.transcript import Recorder, read_transcript
from tests.schedulers.scripted import BEGINS, CONVERSATION, ENDS, SUBMITTED, Scripted

ANYWHERE = "tcp://127.0.0.1:*"


class Service:
    """The service in a thread, and a simulator's socket connected to it."""

    def __init__(self, session: Scripted, bind: str = ANYWHERE, **options: Any) -> None:
        self.outcome: Any = None
        endpoints: queue.Queue[str] = queue.Queue()

        def run() -> None:
            try:
                self.outcome = serve(session, bind, batsim4, on_bound=endpoints.put, **options)
            except SpillwayError as error:
                self.outcome = error
                endpoints.put("")

        self._thread = threading.Thread(target=run)
        self._thread.start()
        self.endpoint = endpoints.get(timeout=10)
        self._context = zmq.Context()
        self.socket = self._context.socket(zmq.REQ)
        self.socket.linger = 0
        self.socket.rcvtimeo = 10_000
        if self.endpoint:
            self.socket.connect(self.endpoint)

    def exchange(self, data: bytes) -> bytes:
        """Send a message and wait for the answer."""
        self.socket.send(data)
        return self.socket.recv()

    def wait(self) -> Any:
        """Wait for the service's end; return its number of exchanges or its error."""
        self._thread.join(timeout=10)
        assert not self._thread.is_alive()
        return self.outcome

    def close(self) -> None:
        """Close the simulator's end."""
        self.socket.close()
        self._context.term()


@pytest.fixture
def services() -> Iterator[Any]:
    """Make services that are closed at the end."""
    made: list[Service] = []

    def make(*arguments: Any, **options: Any) -> Service:
        made.append(Service(*arguments, **options))
        return made[-1]

    yield make
    for service in made:
        service.close()
        service.wait()


def test_a_conversation_from_start_to_end(services: Any) -> None:
    """Every message is answered in lock-step, the last one too; then the service returns."""
    session = Scripted()
    service = services(session)
    answers = [service.exchange(batsim4.encode_message(message)) for message in CONVERSATION]
    assert service.wait() == len(CONVERSATION)
    assert session.seen == list(CONVERSATION)
    assert answers[1] == (
        b'{"now":1.0,"events":[{"timestamp":1.0,"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"0-1"}}]}'
    )
    assert answers[-1] == b'{"now":5.5,"events":[]}'


def test_the_last_answer_arrives_even_when_it_is_fetched_late(services: Any) -> None:
    """The service lingers until its last answer has left."""
    service = services(Scripted())
    for message in CONVERSATION[:-1]:
        service.exchange(batsim4.encode_message(message))
    service.socket.send(batsim4.encode_message(ENDS))
    assert service.wait() == len(CONVERSATION)
    assert service.socket.recv() == b'{"now":5.5,"events":[]}'


def test_the_simulator_may_start_first(services: Any) -> None:
    """ZeroMQ connects as soon as a peer listens."""
    with zmq.Context() as context, context.socket(zmq.REQ) as early:
        probe = services(Scripted())
        endpoint = probe.endpoint
        for message in CONVERSATION:
            probe.exchange(batsim4.encode_message(message))
        probe.wait()
        early.linger = 0
        early.rcvtimeo = 10_000
        early.connect(endpoint)
        early.send(batsim4.encode_message(BEGINS))
        second = services(Scripted(), bind=endpoint)
        assert early.recv() == b'{"now":0.0,"events":[]}'
        early.close()
        for message in (SUBMITTED, ENDS):
            second.exchange(batsim4.encode_message(message))
        assert second.wait() == 3


def test_a_free_port_is_chosen_and_told(services: Any) -> None:
    """The port ``*`` becomes a real one."""
    service = services(Scripted(), watchdog_s=0.01)
    assert service.endpoint.startswith("tcp://127.0.0.1:")
    assert int(service.endpoint.rsplit(":", 1)[1]) > 0


def test_a_taken_port_is_the_users_error(services: Any) -> None:
    """The message names the endpoint and what to do."""
    first = services(Scripted())
    second = services(Scripted(), bind=first.endpoint)
    error = second.wait()
    assert isinstance(error, InputError)
    assert error.exit_code == 2
    assert str(error).startswith(f"cannot listen on {first.endpoint!r}: the address is in use")
    first.exchange(batsim4.encode_message(ENDS))


@pytest.mark.parametrize(
    "bind", ["", "nonsense", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "gopher://x:1", "tcp://203.0.113.1:5"]
)
def test_a_wrong_endpoint_is_the_users_error(bind: str) -> None:
    """Whatever ZeroMQ says about it, it comes as one clear line."""
    with pytest.raises(InputError, match="cannot listen on"):
        serve(Scripted(), bind, batsim4)


def test_the_watchdog_bites_when_nobody_comes() -> None:
    """No message at all within the time."""
    before = time.monotonic()
    with pytest.raises(PeerLost, match=r"no simulator has spoken within 0\.05 s") as caught:
        serve(Scripted(), ANYWHERE, batsim4, watchdog_s=0.05)
    assert caught.value.exit_code == 3
    assert time.monotonic() - before < 5


def test_the_watchdog_bites_when_the_simulator_falls_silent(services: Any) -> None:
    """The message says after how many exchanges and at which simulated time."""
    service = services(Scripted(), watchdog_s=0.2)
    for message in CONVERSATION[:2]:
        service.exchange(batsim4.encode_message(message))
    error = service.wait()
    assert isinstance(error, PeerLost)
    assert "silent for 0.2 s after 2 exchanges, at t = 1 s" in str(error)


def test_garbage_ends_the_service_with_its_place(services: Any) -> None:
    """Nothing is answered, the error says what came."""
    service = services(Scripted())
    service.socket.send(b'{"now":1,"events":[{"timestamp":1,"type":"NOTIFY","data":[]}]}')
    error = service.wait()
    assert isinstance(error, RemoteProtocolError)
    assert error.path == "$.events[0].data"


def test_a_message_of_two_frames_is_refused(services: Any) -> None:
    """Batsim sends one frame."""
    service = services(Scripted())
    service.socket.send_multipart([b"{}", b"{}"])
    error = service.wait()
    assert isinstance(error, RemoteProtocolError)
    assert "got 2 frames" in str(error)


def test_an_error_of_the_session_ends_the_service(services: Any) -> None:
    """The error passes unchanged to the caller of the service."""

    def refuse(event: JobSubmitted) -> tuple[Request, ...]:
        raise DecisionRefused(event.job_id, "no")

    service = services(Scripted(refuse))
    service.exchange(batsim4.encode_message(BEGINS))
    service.socket.send(batsim4.encode_message(SUBMITTED))
    assert isinstance(service.wait(), DecisionRefused)


def test_everything_is_recorded_the_fatal_message_too(services: Any, tmp_path: Path) -> None:
    """A recording holds what came before the crash, and what caused it."""
    with Recorder(tmp_path / "t.jsonl") as recorder:
        service = services(Scripted(), recorder=recorder)
        service.exchange(batsim4.encode_message(BEGINS))
        service.socket.send(b"garbage")
        service.wait()
    exchanges = list(read_transcript(tmp_path / "t.jsonl"))
    assert [(e.received, e.sent) for e in exchanges] == [
        (batsim4.encode_message(BEGINS), b'{"now":0.0,"events":[]}'),
        (b"garbage", None),
    ]
