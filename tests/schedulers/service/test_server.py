"""The service over real ZeroMQ sockets on the loopback address, with a scripted simulator at the other end."""

import queue
import signal
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import zmq

from spillway.base.errors import DecisionRefused, InputError, PeerLost, RemoteProtocolError, ServiceStop
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import JobSubmitted, Message, Request
from spillway.protocol.refusal import reason_of
from spillway.protocol.transcript import Recorder, read_transcript
from spillway.schedulers.service.server import BUSY, serve
from tests.schedulers.scripted import BEGINS, CONVERSATION, ENDS, SUBMITTED, Scripted

ANYWHERE = "tcp://127.0.0.1:*"
PATIENCE_S = 600.0
"""After so long something hangs, on the slowest machine, too."""


class Service:
    """The service in a thread, and a simulator's socket connected to it."""

    def __init__(self, session: Scripted, bind: str = ANYWHERE, **options: Any) -> None:
        self.outcome: Any = None
        endpoints: queue.Queue[str] = queue.Queue()

        def run() -> None:
            try:
                self.outcome = serve(session, bind, batsim4, on_bound=endpoints.put, **options)
            except Exception as error:
                self.outcome = error
                endpoints.put("")

        self._thread = threading.Thread(target=run)
        self._thread.start()
        self.endpoint = endpoints.get(timeout=PATIENCE_S)
        self._context = zmq.Context()
        self.socket = self._context.socket(zmq.REQ)
        self.socket.linger = 0
        self.socket.rcvtimeo = 600_000
        if self.endpoint:
            self.socket.connect(self.endpoint)

    def exchange(self, data: bytes) -> bytes:
        """Send a message and wait for the answer."""
        self.socket.send(data)
        return self.socket.recv()

    def play(self, messages: Iterable[Message]) -> Any:
        """Exchange all messages; return the service's result."""
        for message in messages:
            self.exchange(batsim4.encode_message(message))
        return self.wait()

    @property
    def alive(self) -> bool:
        """Whether the service still runs."""
        return self._thread.is_alive()

    def wait(self) -> Any:
        """Wait for the service's end; return its number of exchanges or its error."""
        self._thread.join(timeout=PATIENCE_S)
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
        early.rcvtimeo = 600_000
        early.connect(endpoint)
        early.send(batsim4.encode_message(BEGINS))
        second = services(Scripted(), bind=endpoint)
        assert early.recv() == b'{"now":0.0,"events":[]}'
        for message in (SUBMITTED, ENDS):
            early.send(batsim4.encode_message(message))
            early.recv()
        assert second.wait() == 3


def test_a_taken_port_is_the_users_error(services: Any) -> None:
    """The message states the endpoint and the remedy."""
    first = services(Scripted())
    second = services(Scripted(), bind=first.endpoint)
    error = second.wait()
    assert isinstance(error, InputError)
    assert error.exit_code == 2
    assert str(error).startswith(f"cannot listen on {first.endpoint!r}: the address is in use")
    first.play(CONVERSATION)


@pytest.mark.parametrize(
    "bind", ["", "nonsense", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "gopher://x:1", "tcp://203.0.113.1:5"]
)
def test_a_wrong_endpoint_is_the_users_error(bind: str) -> None:
    """ZeroMQ's error is reported as one clear line."""
    with pytest.raises(InputError, match="cannot listen on"):
        serve(Scripted(), bind, batsim4)


def test_the_watchdog_bites_when_nobody_comes() -> None:
    """No message at all within the time."""
    with pytest.raises(PeerLost, match=r"no message of a simulator in 0\.05 s") as caught:
        serve(Scripted(), ANYWHERE, batsim4, watchdog_s=0.05)
    assert caught.value.exit_code == 3


def test_the_watchdog_bites_when_the_simulator_falls_silent(services: Any) -> None:
    """The message says after how many exchanges and at which simulated time."""
    service = services(Scripted(), watchdog_s=0.2)
    for message in CONVERSATION[:2]:
        service.exchange(batsim4.encode_message(message))
    error = service.wait()
    assert isinstance(error, PeerLost)
    assert "silent for 0.2 s after 2 exchanges, at t = 1 s" in str(error)


BAD = b'{"now":1,"events":[{"timestamp":1,"type":"NOTIFY","data":[]}]}'


def test_a_message_of_two_frames_is_refused(services: Any) -> None:
    """Batsim sends one frame."""
    service = services(Scripted())
    service.exchange(batsim4.encode_message(BEGINS))
    service.socket.send_multipart([b"{}", b"{}"])
    assert "got 2 frames" in str(reason_of(service.socket.recv()))
    error = service.wait()
    assert isinstance(error, RemoteProtocolError)
    assert "got 2 frames" in str(error)


def test_an_error_of_the_session_ends_the_service(services: Any) -> None:
    """A policy's fault passes unchanged to the caller, and its reason to the simulator."""

    def refuse(event: JobSubmitted) -> tuple[Request, ...]:
        raise DecisionRefused(event.job_id, "no")

    service = services(Scripted(refuse))
    service.exchange(batsim4.encode_message(BEGINS))
    answer = service.exchange(batsim4.encode_message(SUBMITTED))
    error = service.wait()
    assert isinstance(error, DecisionRefused)
    assert reason_of(answer) == str(error)


def test_a_bug_is_said_to_the_simulator_too(services: Any) -> None:
    """An exception that nothing expects (a policy of a user's own) ends both sides."""

    def stumble(event: JobSubmitted) -> tuple[Request, ...]:
        raise ZeroDivisionError("oh")

    service = services(Scripted(stumble))
    service.exchange(batsim4.encode_message(BEGINS))
    reason = reason_of(service.exchange(batsim4.encode_message(SUBMITTED)))
    assert reason.startswith("ZeroDivisionError: oh (test_server.py, line ")
    assert isinstance(service.wait(), ZeroDivisionError)


@contextmanager
def stranger(endpoint: str, kind: int = zmq.REQ) -> Iterator[zmq.Socket[bytes]]:
    """Another user's socket."""
    with zmq.Context() as context, context.socket(kind) as socket:
        socket.linger = 0
        socket.rcvtimeo = 600_000
        socket.connect(endpoint)
        yield socket


@pytest.mark.parametrize("opening", [b"", b"stray", b"{}", BAD, batsim4.encode_message(SUBMITTED)])
def test_garbage_before_the_first_message_does_not_end_the_service(services: Any, opening: bytes) -> None:
    """A message that opens no conversation is refused with the reason; the simulator that comes next is served."""
    notes: list[str] = []
    service = services(Scripted(), note=notes.append)
    with stranger(service.endpoint) as other:
        for _ in range(10):
            other.send(opening)
            assert reason_of(other.recv())
    assert service.play(CONVERSATION) == len(CONVERSATION)
    assert len(notes) == 2
    assert notes[1].startswith("refused a message of another client (10 so far): ")


def test_only_the_first_peer_is_served(services: Any) -> None:
    """Others are refused, and none of their messages changes the conversation."""
    session = Scripted()
    service = services(session)
    alone = [service.exchange(batsim4.encode_message(BEGINS))]
    with stranger(service.endpoint) as other, stranger(service.endpoint, zmq.DEALER) as dealer:
        for message in CONVERSATION[1:]:
            for frame in (b"stray", batsim4.encode_message(BEGINS), batsim4.encode_message(ENDS)):
                other.send(frame)
                assert reason_of(other.recv()) == BUSY
            dealer.send_multipart([b"no delimiter", b"x"])
            assert reason_of(dealer.recv_multipart()[-1]) == BUSY
            alone.append(service.exchange(batsim4.encode_message(message)))
    assert service.wait() == len(CONVERSATION)
    assert session.seen == list(CONVERSATION)
    assert alone[-1] == b'{"now":5.5,"events":[]}'


def test_strangers_do_not_feed_the_watchdog(services: Any) -> None:
    """Only the simulator's messages count, not those of others."""
    service = services(Scripted(), watchdog_s=0.3)
    service.exchange(batsim4.encode_message(BEGINS))
    with stranger(service.endpoint, zmq.DEALER) as other:
        until = time.monotonic() + PATIENCE_S
        while service.alive and time.monotonic() < until:
            other.send_multipart([b"", b"stray"])
            time.sleep(0.05)
        assert not service.alive, "messages of a stranger keep a dead conversation alive"
    error = service.wait()
    assert isinstance(error, PeerLost)
    assert "silent for 0.3 s after 1 exchanges" in str(error)


def test_a_message_beyond_the_limit_names_limit_and_option(services: Any) -> None:
    """The simulator learns of it."""
    service = services(Scripted(), max_message_bytes=1000)
    service.exchange(batsim4.encode_message(BEGINS))
    answer = service.exchange(b" " * 1500)
    expected = "expected a message of at most 1000 bytes (option --max-message-bytes), got 1500 bytes"
    assert str(reason_of(answer)).startswith(expected)
    assert str(service.wait()).startswith(expected)


def test_a_message_far_beyond_the_limit_is_not_even_received(services: Any) -> None:
    """ZeroMQ drops the connection, and the service says so instead of waiting for ever."""
    service = services(Scripted(), max_message_bytes=1000)
    service.exchange(batsim4.encode_message(BEGINS))
    service.socket.send(b" " * 100_000)
    error = service.wait()
    assert isinstance(error, PeerLost)
    assert "far beyond --max-message-bytes" in str(error)


@pytest.mark.parametrize("plain", [b"GET / HTTP/1.1\r\n\r\n", b"\x01\x00\x01\x00", b"\x01\x00\x06\x00stray"])
def test_bytes_that_are_no_message_change_nothing(services: Any, plain: bytes) -> None:
    """Plain connections; the last two use ZeroMQ's first protocol, with messages that state no connection."""
    service = services(Scripted())
    host, _, port = service.endpoint.removeprefix("tcp://").rpartition(":")
    for message in CONVERSATION:
        with socket.create_connection((host, int(port)), 5) as other:
            other.sendall(plain)
            time.sleep(0.02)
        service.exchange(batsim4.encode_message(message))
    assert service.wait() == len(CONVERSATION)


def test_the_last_words_of_a_simulator_that_vanishes_are_heard(services: Any, tmp_path: Path) -> None:
    """A message that came before the connection closed is digested first."""
    session = Scripted()
    service = services(session)
    service.exchange(batsim4.encode_message(BEGINS))
    service.socket.linger = 1000
    service.socket.send(batsim4.encode_message(SUBMITTED))
    service.socket.close()
    assert isinstance(service.wait(), PeerLost)
    assert session.seen == list(CONVERSATION[:2])


class Swallowing(Scripted):
    """Gets a signal while it handles the second message, and takes its exception for one of its own."""

    def handle(self, message: Message) -> Any:
        """Answer; all but the first message with a signal before."""
        if self.seen:
            with suppress(Exception):
                signal.raise_signal(signal.SIGTERM)
        return super().handle(message)


def test_a_signal_whose_exception_was_caught_ends_the_service() -> None:
    """Failed before: the service went on to the end (an imported library may catch any exception)."""
    endpoints: queue.Queue[str] = queue.Queue()
    answers: list[bytes] = []

    def play() -> None:
        with zmq.Context() as context, context.socket(zmq.REQ) as peer:
            peer.rcvtimeo = 600_000
            peer.connect(endpoints.get(timeout=PATIENCE_S))
            for message in CONVERSATION[:3]:
                peer.send(batsim4.encode_message(message))
                answers.append(peer.recv())

    playing = threading.Thread(target=play)
    playing.start()
    with pytest.raises(ServiceStop, match="stopped by SIGTERM"):
        serve(Swallowing(), ANYWHERE, batsim4, on_bound=endpoints.put)
    playing.join(timeout=PATIENCE_S)
    assert [reason_of(answer) for answer in answers] == [None, None, "stopped by SIGTERM before the simulation ended"]


def test_what_looks_after_the_simulator_may_end_the_service(services: Any) -> None:
    """The driver sees that the simulator's process has ended."""

    def check() -> None:
        raise PeerLost("its process has ended")

    assert str(services(Scripted(), check_alive=check).wait()) == "its process has ended"


def test_everything_is_recorded_the_fatal_message_too(services: Any, tmp_path: Path) -> None:
    """A recording holds the messages before the crash, and the one that caused it."""
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
