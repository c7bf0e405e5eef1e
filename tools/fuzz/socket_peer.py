"""The same conversations over a ZeroMQ socket, with a service process each: ``tools.fuzz conversations --socket``.

A fault that must be refused has to end the service with exit code 2 and one line on its standard error stream, without
a traceback; the peer must never wait for ever.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import dataclass
from random import Random

import zmq

from spillway.base.errors import LocalProtocolError, RemoteProtocolError
from spillway.protocol.batsim4 import codec
from spillway.protocol.messages import Message, Reply
from tools.fuzz.faults import FAULTS, RequiredOutcome, Sent
from tools.fuzz.peer import IllegalRequest, Peer, Stall
from tools.fuzz.play import AcceptedFault, ConversationResults, LateReply
from tools.fuzz.setups import PAIRS, world
from tools.fuzz.table import Tally

PATIENCE_S = 60.0
"""Longest time to an answer, or to the end of the service (s)."""

JOBS = (150, 300)
"""Jobs of a conversation; a service takes seconds to start."""

FAULT_EVERY = 150
"""Messages from one fault to the next, on average."""


class Service:
    """A scheduler's process and the socket to it."""

    def __init__(self, policy: str, model: str) -> None:
        command = [sys.executable, "-m", "spillway", "serve", policy, "--model", model, "--bind", "tcp://127.0.0.1:*"]
        self._process = subprocess.Popen(
            [*command, "--watchdog", str(2 * PATIENCE_S)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.linger = 0
        self.said = ""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            found = re.search(r"listens on (\S+)", line)
            if found:
                self._socket.connect(found[1])
                return
            self.said += line
        raise AssertionError(f"the service did not start: {self.said}")

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def exchange(self, data: bytes) -> bytes | None:
        """Send a frame; return the answer, ``None`` if the service has ended without one."""
        self._socket.send(data)
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            if self._socket.poll(200):
                return self._socket.recv()
            if self._process.poll() is not None and not self._socket.poll(500):
                return None
        raise LateReply(f"no answer within {PATIENCE_S:g} s")

    def end(self) -> tuple[int, str]:
        """Exit code of the service, and its last output."""
        _, said = self._process.communicate(timeout=PATIENCE_S)
        return self._process.returncode, said.strip()

    def close(self) -> None:
        """End everything."""
        self._socket.close(0)
        self._context.term()
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


@dataclass
class _Answer:
    reply: Reply | None
    text: str = ""


def play_over_sockets(seed: int, messages: int, seconds: float | None) -> int:
    """Play conversations with at least ``messages`` messages; print the table; return 1 if there are findings."""
    tally = Tally()
    until_s = time.monotonic() + seconds if seconds else float("inf")
    number = 0
    while tally.messages < messages and time.monotonic() < until_s:
        rng = Random(f"{seed}/{number}/socket")
        policy, model = rng.choice(PAIRS)
        try:
            tally.add(play_one(rng, policy, model))
        except Exception as error:
            tally.found(error)
            print(
                f"conversation {number} ({policy}, {model}), seed {seed}: {type(error).__name__}: {error}", flush=True
            )
        number += 1
    print(tally)
    return 1 if tally.findings else 0


def play_one(rng: Random, policy: str, model: str) -> ConversationResults:
    """Play one conversation with one service."""
    peer = Peer(world(rng, model, dynamic=True, outages=True, jobs=rng.randint(*JOBS)), rng)
    played = ConversationResults((policy, model))
    service = Service(policy, model)
    try:
        message = peer.begin()
        while True:
            faulty = peer.begun and rng.random() < 1 / FAULT_EVERY  # a wrong beginning is a stranger's: see the server
            name = rng.choice(list(FAULTS)) if faulty else ""
            sent: Sent = FAULTS[name].make(rng, peer, message) if name else None
            answer = _answered(service, _frame(message if sent is None else sent, message))
            played.messages += 1
            if sent is not None:
                refused = answer.reply is None
                if FAULTS[name].then is (RequiredOutcome.SAME if refused else RequiredOutcome.REFUSED):
                    raise AcceptedFault(f"{name}: {answer}")
                played.faults.append((name, "refused" if refused else "answered", 0))
                peer.lenient |= FAULTS[name].then is RequiredOutcome.EITHER
                peer.ended |= name == "SIMULATION_ENDS too early" and not refused
            elif answer.reply is None and not peer.lenient:
                raise AssertionError(f"a legal message was refused: {answer.text}")
            if answer.reply is None or peer.ended:
                break
            peer.begun, peer.last_s = True, message.now if sent is None else peer.last_s
            try:
                peer.take(answer.reply)
                message = peer.next()
            except (Stall, IllegalRequest, KeyError):
                if not peer.lenient:
                    raise
                break
        _check_end(service, played, ended=peer.ended and answer.reply is not None, refused=answer.reply is None)
    finally:
        service.close()
    return played


def _frame(sent: Message | bytes, instead: Message) -> bytes:
    """Bytes of a message; values that Batsim could not print are written as other programs write them."""
    if isinstance(sent, bytes):
        return sent
    try:
        return codec.encode_message(sent)
    except LocalProtocolError:
        return codec.encode_message(instead).replace(b'{"now":', b'{"now":1e999,"was":', 1)


def _answered(service: Service, data: bytes) -> _Answer:
    frame = service.exchange(data)
    if frame is None:
        return _Answer(None, "the service ended")
    try:
        return _Answer(codec.decode_reply(frame))
    except RemoteProtocolError:
        return _Answer(None, frame[:300].decode(errors="replace"))


def _check_end(service: Service, played: ConversationResults, *, ended: bool, refused: bool) -> None:
    """After a refusal: exit code 2 and one line; after the end: 0."""
    if not (ended or refused):
        return
    code, said = service.end()
    if code != (2 if refused else 0) or "Traceback" in said or (refused and len(said.splitlines()) != 1):
        raise AssertionError(f"exit code {code} after {played.messages} messages: {said[-600:]}")
