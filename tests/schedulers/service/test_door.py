"""The service's socket: endpoints of the file system."""

import os
import socket
import stat
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import zmq

from spillway.base.errors import InputError, ServiceStop
from spillway.schedulers.service import door
from spillway.schedulers.service.door import MOST_CONNECTIONS, Door


def test_a_socket_of_the_file_system_is_the_users_alone(tmp_path: Path) -> None:
    """Readable and writable by its owner, removed at the end, and a REQ socket is answered through it."""
    path = tmp_path / "door"
    with closing(Door(f"ipc://{path}")) as door, zmq.Context() as context, context.socket(zmq.REQ) as peer:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        peer.rcvtimeo = 600_000
        peer.connect(door.endpoint)
        peer.send(b"hello")
        call = door.receive(10_000)
        while call is None:
            call = door.receive(10_000)
        assert (call.body, call.fault) == (b"hello", "")
        assert door.send(call.peer, b"welcome")
        assert peer.recv() == b"welcome"
    assert not path.exists()


@pytest.mark.parametrize("endpoint", ["tcp://127.0.0.1:*", "ipc://*"])
def test_a_message_read_after_its_connection_was_closed_does_not_open_it(endpoint: str) -> None:
    """The end of a connection may be noted before the last message that came through it is read."""
    with closing(Door(endpoint)) as door, zmq.Context() as context:
        peer = context.socket(zmq.REQ)
        peer.connect(door.endpoint)
        peer.send(b"last words")
        while not door._open:
            assert door._gate.poll(600_000)
            door._admit()
            door._note_connections()
        while not door._socket.poll(1):  # the message has come, and is not read
            door._admit()
        peer.close(linger=600_000)
        while door._open:
            assert door._monitor.poll(600_000)
            door._note_connections()
        call = door.receive(600_000)
        while call is None:
            call = door.receive(600_000)
        assert call.body == b"last words"
        assert door.has_closed(call)


def test_a_free_place_is_chosen_in_a_private_folder() -> None:
    """``ipc://*``: nothing there is open to other users."""
    with closing(Door("ipc://*")) as door:
        path = Path(door.endpoint.removeprefix("ipc://"))
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert not path.exists()


def test_no_file_is_deleted_for_a_socket(tmp_path: Path) -> None:
    """ZeroMQ would delete any file there."""
    path = tmp_path / "thesis.tex"
    path.write_text("four years")
    with pytest.raises(InputError, match="there is a file that is no socket"):
        Door(f"ipc://{path}")
    assert path.read_text() == "four years"


def test_a_taken_socket_is_in_use_and_a_stale_one_is_replaced(tmp_path: Path) -> None:
    """ZeroMQ would take the place of a service that runs."""
    path = tmp_path / "door"
    with closing(Door(f"ipc://{path}")):
        with pytest.raises(InputError, match="the address is in use"):
            Door(f"ipc://{path}")
        assert path.exists()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))
    with closing(Door(f"ipc://{path}")) as door:
        assert door.receive(0) is None
    assert not path.exists()


@pytest.mark.parametrize(
    ("place", "hint"), [("x" * 120, "at most 107 characters"), ("no/such/folder", "its folder does not exist")]
)
def test_an_impossible_path_is_the_users_error(tmp_path: Path, place: str, hint: str) -> None:
    """One clear line."""
    with pytest.raises(InputError, match=hint):
        Door(f"ipc://{tmp_path / place}")


def test_the_umask_is_left_as_it_was(tmp_path: Path) -> None:
    """Files made later have the user's own permissions."""
    before = os.umask(0o022)
    try:
        Door(f"ipc://{tmp_path / 'door'}").close()
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


@pytest.mark.parametrize("step", ["_bind", "_file_of"])
def test_a_signal_while_it_is_made_leaves_no_socket(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A context that is collected waits for its open sockets: a program might not end."""
    made: list[zmq.Context[zmq.Socket[bytes]]] = []
    context = zmq.Context

    def noted() -> zmq.Context[zmq.Socket[bytes]]:
        made.append(context())
        return made[-1]

    def stopped(*_: object) -> None:
        raise ServiceStop(15)

    monkeypatch.setattr(door.zmq, "Context", noted)
    monkeypatch.setattr(door, step, stopped)
    with pytest.raises(ServiceStop):
        Door("tcp://127.0.0.1:*")
    assert [context.closed for context in made] == [True]


@pytest.mark.parametrize("kind", ["tcp", "ipc"])
def test_connections_are_bounded(kind: str, tmp_path: Path) -> None:
    """Those beyond the bound are refused; when others have closed, the simulator's message is received."""
    with closing(Door("tcp://127.0.0.1:*" if kind == "tcp" else f"ipc://{tmp_path}/door")) as door:
        with zmq.Context() as context, ExitStack() as stack:
            calls = []
            for _ in range(MOST_CONNECTIONS + 50):
                one = stack.enter_context(context.socket(zmq.DEALER))
                one.linger = 0
                one.connect(door.endpoint)
                one.send_multipart([b"", b"here"])
                calls.append(door.receive(1))
            heard = {call.peer for call in calls if call is not None}
            for _ in range(30_000):  # a minute on a slow machine
                if len(heard) > 0.8 * MOST_CONNECTIONS:
                    break
                heard |= {call.peer for call in (door.receive(2),) if call is not None}
            heard |= {call.peer for call in [door.receive(2) for _ in range(200)] if call is not None}
            assert 0.8 * MOST_CONNECTIONS < len(heard) <= MOST_CONNECTIONS + 1
        assert _heard(door) == b"hello"


def test_what_only_connects_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection without a ZeroMQ greeting is closed."""
    monkeypatch.setattr("spillway.schedulers.service.door.HANDSHAKE_MS", 200)
    with closing(Door("tcp://127.0.0.1:*")) as door:
        host, _, port = door.endpoint.removeprefix("tcp://").rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as idle:
            while idle.recv(1000):
                door.receive(10)
        assert _heard(door) == b"hello"


def _heard(door: Door) -> bytes:
    """The message received from a simulator that connects now."""
    with zmq.Context() as context, context.socket(zmq.REQ) as peer:
        peer.linger = 0
        peer.connect(door.endpoint)
        peer.send(b"hello")
        calls = (door.receive(100) for _ in range(200))
        return next(call.body for call in calls if call is not None and call.body != b"here")
