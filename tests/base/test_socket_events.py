"""Events of ZeroMQ's sockets."""

import zmq
from zmq.utils.monitor import parse_monitor_message

from spillway.base.socket_events import read_event


def test_events_are_read_as_zeromqs_own_reader_reads_them() -> None:
    """Both readers agree on every event of a connection that is made and closed."""
    with zmq.Context() as context, context.socket(zmq.REP) as server, context.socket(zmq.REQ) as client:
        monitor = server.get_monitor_socket()
        port = server.bind_to_random_port("tcp://127.0.0.1")
        client.connect(f"tcp://127.0.0.1:{port}")
        client.send(b"")
        server.recv()
        client.close(0)
        seen = set()
        while zmq.EVENT_DISCONNECTED not in seen:
            assert monitor.poll(10_000)
            frames = monitor.recv_multipart()
            theirs = parse_monitor_message(frames)
            assert read_event(frames) == (theirs["event"], theirs["value"])
            seen.add(read_event(frames)[0])
        assert {zmq.EVENT_LISTENING, zmq.EVENT_ACCEPTED, zmq.EVENT_HANDSHAKE_SUCCEEDED} <= seen
        server.disable_monitor()
        monitor.close(0)
