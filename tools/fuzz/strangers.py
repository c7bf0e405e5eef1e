"""Strangers at the service's socket: ``python -m tools.fuzz strangers``.

A service of ours and our simulator hold a conversation over a socket, while other sockets, of ZeroMQ and plain ones,
send it texts, valid openings, several frames, messages beyond the limit, bytes that are not ZeroMQ, and vanish. Each
kind has rounds until all messages are sent; every round's table of jobs must be, byte for byte, that of a conversation
without strangers. The printed table has kind, messages, conversations, those in which the service noted a stranger,
equal results and errors. Messages that ZeroMQ itself drops are not noted.
"""

from __future__ import annotations

import argparse
import json
import queue
import random
import socket as sockets
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import zmq

from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import Message as WireMessage
from spillway.protocol.messages import ResourceInfo, SimulationBegins
from spillway.schedulers.service.command import build_session, session_parser
from spillway.schedulers.service.server import serve
from spillway.simulator.engines.native import FixedEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.zmq_link import ZmqLink

LIMIT_BYTES = 100_000
JOBS = 60
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="main" routing="Full">
<host id="m" speed="1Gf"><prop id="role" value="master"/></host>
<host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/><host id="n2" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="0us" sharing_policy="FATPIPE"/>
<route src="m" dst="n0"><link_ctn id="l"/></route><route src="m" dst="n1"><link_ctn id="l"/></route>
<route src="m" dst="n2"><link_ctn id="l"/></route><route src="n0" dst="n1"><link_ctn id="l"/></route>
<route src="n0" dst="n2"><link_ctn id="l"/></route><route src="n1" dst="n2"><link_ctn id="l"/></route>
</zone></platform>
"""
BEGINS = batsim4.encode_message(WireMessage(0.0, (SimulationBegins(0.0, (ResourceInfo(0, "n0"),), ()),)))


class Stranger:
    """Sockets of one stranger, with the sending of messages."""

    def __init__(self, endpoint: str, rng: random.Random) -> None:
        self.endpoint = endpoint
        self.rng = rng
        self.context = zmq.Context()
        self._dealer: zmq.Socket[bytes] | None = None

    def dealer(self) -> zmq.Socket[bytes]:
        """A socket that sends without waiting, connected once."""
        if self._dealer is None:
            self._dealer = self.context.socket(zmq.DEALER)
            self._dealer.linger = 0
            self._dealer.connect(self.endpoint)
        return self._dealer

    def bytes(self, most: int = 200) -> bytes:
        """Random bytes."""
        return self.rng.randbytes(self.rng.randrange(most))

    def send(self, *frames: bytes) -> None:
        """Send frames, and read the answers so far."""
        socket = self.dealer()
        socket.send_multipart(frames)
        while socket.poll(0):
            socket.recv_multipart()

    def close(self) -> None:
        """Close everything."""
        if self._dealer is not None:
            self._dealer.close(0)
        self.context.term()


def _text(one: Stranger) -> None:
    one.send(b"", b"stray")


def _garbage(one: Stranger) -> None:
    one.send(b"", b"\xff" + one.bytes())  # never Batsim 5's greeting, which any peer may send


def _opening(one: Stranger) -> None:
    one.send(b"", BEGINS)


def _frames(one: Stranger) -> None:
    one.send(*[one.bytes() for _ in range(one.rng.randrange(2, 9))], b"x", b"y")


def _undelimited(one: Stranger) -> None:
    one.send(b"\xff" + one.bytes())


def _large(one: Stranger) -> None:
    one.send(b"", b" " * (LIMIT_BYTES + 1))


def _huge(one: Stranger) -> None:
    with one.context.socket(zmq.REQ) as socket:
        socket.linger = 50
        socket.connect(one.endpoint)
        socket.send(b" " * (LIMIT_BYTES * 5))


def _vanishing(one: Stranger) -> None:
    with one.context.socket(zmq.REQ) as socket:
        socket.linger = 20
        socket.connect(one.endpoint)
        socket.send(b"gone")


def _plain(one: Stranger) -> None:
    host, _, port = one.endpoint.removeprefix("tcp://").rpartition(":")
    with sockets.create_connection((host, int(port)), 5) as socket:
        socket.sendall(one.rng.choice((b"GET / HTTP/1.1\r\n\r\n", one.bytes(), b"\xff" + b"\0" * 8 + b"\x7f\x03")))


KINDS: dict[str, tuple[Callable[[Stranger], None], bool]] = {
    "a stray text": (_text, True),
    "garbage": (_garbage, True),
    "another SIMULATION_BEGINS": (_opening, False),
    "several frames": (_frames, True),
    "no delimiter": (_undelimited, True),
    "beyond the limit": (_large, True),
    "far beyond the limit": (_huge, True),
    "a peer that vanishes": (_vanishing, True),
    "bytes that are no ZeroMQ": (_plain, True),
}
"""Messages of strangers, and whether before the simulator's first message too (an opening would make it the peer)."""


class Row(NamedTuple):
    """Results of a kind of stranger."""

    kind: str
    messages: int
    conversations: int
    noted: int
    equal: int
    errors: list[str]


def converse(folder: Path, disturb: Callable[[str, bool], None]) -> tuple[bytes, list[str], list[str]]:
    """One conversation; ``disturb`` gets the endpoint, before the simulator starts and before each message.

    Returns the bytes of the table of jobs, the errors of either side, and the service's notes about strangers.
    """
    endpoints: queue.Queue[str] = queue.Queue()
    errors: list[str] = []
    notes: list[str] = []

    def service() -> None:
        try:
            session = build_session(session_parser().parse_args(["easy"]))
            serve(
                session,
                "tcp://127.0.0.1:*",
                batsim4,
                max_message_bytes=LIMIT_BYTES,
                on_bound=endpoints.put,
                note=notes.append,
            )
        except Exception as error:
            errors.append(f"service: {type(error).__name__}: {error}")

    thread = threading.Thread(target=service, daemon=True)
    thread.start()
    endpoint = endpoints.get(timeout=30)
    disturb(endpoint, True)
    link = _DisturbedLink(endpoint, disturb)
    try:
        platform = load_platform(folder / "platform.xml")
        options = SimulationOptions(export=str(folder / "out"), master="m", wall_clock=False)
        Simulation(platform, [load_workload(folder / "workload.json")], FixedEngine(platform), link, options).run()
    except Exception as error:
        errors.append(f"simulator: {type(error).__name__}: {error}")
    finally:
        link.close()
    thread.join(30)
    if thread.is_alive():
        errors.append("service: still runs")
    return (folder / "out_jobs.csv").read_bytes(), errors, notes


class _DisturbedLink(ZmqLink):
    def __init__(self, endpoint: str, disturb: Callable[[str, bool], None]) -> None:
        super().__init__(endpoint, timeout_s=30)
        self._disturb = disturb
        self._begun = False

    def exchange_bytes(self, frame: bytes) -> bytes:
        if self._begun:
            self._disturb(self._endpoint, False)
        self._begun = True
        return super().exchange_bytes(frame)


def fuzz(messages: int, seed: int, folder: Path) -> list[Row]:
    """Play every kind of stranger, with ``messages`` messages in all."""
    rng = random.Random(seed)
    write_inputs(folder, rng)
    alone, errors, notes = converse(folder, lambda endpoint, early: None)
    assert not errors, errors
    assert not notes, notes
    return [_play_kind(kind, -(-messages // len(KINDS)), rng, folder, alone) for kind in KINDS]


def _play_kind(kind: str, messages: int, rng: random.Random, folder: Path, alone: bytes) -> Row:
    send, early = KINDS[kind]
    sent = conversations = noted = equal = 0
    errors: list[str] = []
    while sent < messages:
        strangers: list[Stranger] = []

        def disturb(endpoint: str, before: bool, strangers: list[Stranger] = strangers) -> None:
            nonlocal sent
            if before and not early:
                return
            if not strangers:
                strangers.append(Stranger(endpoint, rng))
            for _ in range(min(3, messages - sent)):
                send(strangers[0])
                sent += 1

        table, found, notes = converse(folder, disturb)
        for stranger in strangers:
            stranger.close()
        conversations += 1
        noted += bool(notes)
        equal += table == alone and not found
        errors += found
    return Row(kind, sent, conversations, noted, equal, errors)


def write_inputs(folder: Path, rng: random.Random) -> None:
    """A small machine and enough jobs for a conversation of some length."""
    (folder / "platform.xml").write_text(PLATFORM)
    jobs = [
        {"id": str(at), "subtime": 3 * at, "res": rng.randint(1, 3), "walltime": 40, "profile": f"p{at % 5}"}
        for at in range(JOBS)
    ]
    profiles = {f"p{at}": {"type": "delay", "delay": 2.5 * (at + 1)} for at in range(5)}
    (folder / "workload.json").write_text(json.dumps({"nb_res": 3, "jobs": jobs, "profiles": profiles}))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if a result differs or an error occurred."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz strangers")
    parser.add_argument("--messages", type=int, default=10_000, help="messages of strangers in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of their messages (%(default)s)")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        rows = fuzz(given.messages, given.seed, Path(folder))
    print(f"{'strangers':28}{'messages':>10}{'conversations':>15}{'noted':>8}{'equal':>8}{'errors':>8}")
    for row in rows:
        print(f"{row.kind:28}{row.messages:>10}{row.conversations:>15}{row.noted:>8}{row.equal:>8}{len(row.errors):>8}")
        for error in row.errors[:3]:
            print(f"    {error[:200]}")
    messages, conversations, noted, equal = (sum(column) for column in zip(*(row[1:5] for row in rows), strict=True))
    print(f"{'all':28}{messages:>10}{conversations:>15}{noted:>8}{equal:>8}")
    return int(any(row.equal < row.conversations for row in rows))
