"""The service: it exchanges messages between a session and one simulator, and refuses all other clients.

Batsim connects with a REQ socket and sends first; messages and replies alternate. Nothing here depends on the meaning
of messages, except of the first: the peer is the client that sends a greeting or SIMULATION_BEGINS. A conversation that
cannot continue ends with a reply that states the reason (:mod:`spillway.protocol.refusal`).
"""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from spillway.base.errors import PeerLost, RemoteProtocolError, ServiceStop, SpillwayError
from spillway.base.signals import held_back, raising
from spillway.base.users_line import users_line
from spillway.protocol.format import Conversation, SchedulerSide
from spillway.protocol.limits import MAX_MESSAGE_BYTES
from spillway.protocol.messages import Message, SimulationBegins
from spillway.protocol.refusal import refusal
from spillway.schedulers.service.door import Call, Door

_SLICE_MS = 500
"""Longest delay until the service notices a signal, and interval of checks that the simulator still runs (ms)."""

LAST_WORDS_S = 8.0
"""Longest wait of a service stopped by a signal for the simulator's next message, to answer with the reason (s).

Less than the 10 s after which containers are killed; a second signal ends it at once.
"""

BUSY = "this service has another simulation; one service serves one"
"""Reason sent to clients that connect after the peer."""


class Tape(Protocol):
    """Record of the bytes of both sides (:class:`spillway.protocol.transcript.Recorder`)."""

    def received(self, data: bytes, /) -> None:
        """Keep a message of the simulator, before it is read."""
        ...

    def sent(self, data: bytes, /) -> None:
        """Keep an answer, before it is sent."""
        ...


def _nothing(*_: object) -> None:
    pass


def serve(
    session: Conversation,
    bind: str,
    codec: SchedulerSide,
    *,
    watchdog_s: float | None = None,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    recorder: Tape | None = None,
    on_bound: Callable[[str], None] = _nothing,
    check_alive: Callable[[], None] = _nothing,
    note: Callable[[str], None] = _nothing,
) -> int:
    """Serve one simulation and return when its end has been answered.

    Parameters
    ----------
    session
        Answers the messages; its ``finished`` ends the service once the answer is sent.
    bind
        ZeroMQ endpoint to listen on (``tcp://127.0.0.1:28000``; with the port ``*`` the system chooses one;
        ``ipc:///path``).
    codec
        Wire format.
    watchdog_s
        Longest silence of the simulator in seconds, from the start as well; ``None`` waits for ever. The session's own
        time does not count.
    max_message_bytes
        Largest message of the simulator, in bytes.
    recorder
        Receives every message of the simulator and every answer.
    on_bound
        Called with the real endpoint once the service listens.
    check_alive
        Called about twice a second while the simulator is silent; raises when no further message can come.
    note
        Receives one line about messages of other clients that were refused: the first, the tenth, the hundredth ...

    Returns
    -------
    int
        Number of exchanges.

    Raises
    ------
    InputError
        The endpoint is wrong or taken.
    PeerLost
        The simulator's connection was closed before its simulation ended, or the watchdog expired.
    ServiceStop
        A signal (SIGINT, SIGTERM) arrived.
    SpillwayError
        Any error of the codec and the session: the conversation cannot continue. The simulator has received the reason.
    """
    with (
        raising(ServiceStop, (signal.SIGINT, signal.SIGTERM)) as heard,
        contextlib.ExitStack() as stack,
    ):
        with held_back():  # a signal between its making and the block would leave it open
            door = stack.enter_context(contextlib.closing(Door(bind, max_message_bytes)))
        on_bound(door.endpoint)
        return _Service(door, session, codec, watchdog_s, recorder, check_alive, note, heard).run()


class _Service:
    """One simulation at a socket."""

    def __init__(
        self,
        door: Door,
        session: Conversation,
        codec: SchedulerSide,
        watchdog_s: float | None,
        recorder: Tape | None,
        check_alive: Callable[[], None],
        note: Callable[[str], None],
        heard: Sequence[int],
    ) -> None:
        self._heard = heard
        self._door = door
        self._session = session
        self._codec = codec
        self._watchdog_s = watchdog_s
        self._recorder = recorder
        self._check_alive = check_alive
        self._note = note
        self._peer: Call | None = None
        self._turned_away = 0
        self._refused = False
        self._exchanges = 0
        self._now_s = 0.0
        self._wait_ms = _SLICE_MS if watchdog_s is None else max(1, min(_SLICE_MS, math.ceil(watchdog_s * 1000)))

    def run(self) -> int:
        """Serve until the end; return the number of exchanges."""
        try:
            self._serve()
        except ServiceStop as stop:
            if self._peer is not None and not self._refused:
                self._refuse_next(self._peer, stop)
            raise
        return self._exchanges

    def _serve(self) -> None:
        deadline, look = self._deadline(), time.monotonic()
        while not self._session.finished:
            if self._heard:  # a module that was being imported has caught the exception
                raise ServiceStop(self._heard[0])
            call = self._door.receive(self._wait_ms)
            if call is not None and self._is_of_the_peer(call):
                self._answer(call)
                deadline = self._deadline()
            elif call is None or time.monotonic() >= min(deadline, look):  # also while other clients keep sending
                self._judge_silence(deadline)
                look = time.monotonic() + _SLICE_MS / 1000

    def _refuse_next(self, peer: Call, stop: ServiceStop) -> None:
        """Answer the simulator's next message with the reason: a real Batsim would wait for ever."""
        deadline = time.monotonic() + LAST_WORDS_S
        while time.monotonic() < deadline and not self._door.has_closed(peer):
            call = self._door.receive(_SLICE_MS)
            if call is not None and call.peer == peer.peer:
                self._door.send(peer.peer, self._codec.encode_refusal(_reason(stop)))
                return

    # ------------------------------------------------------------------ the peer

    def _is_of_the_peer(self, call: Call) -> bool:
        """Whether a call is the peer's; calls of other clients are refused."""
        if self._peer is None:
            reason = self._not_an_opening(call)
            if not reason:
                self._peer = call
        else:
            reason = "" if call.peer == self._peer.peer else BUSY
        if reason:
            self._door.send(call.peer, refusal(reason))
            self._count_stranger(reason)
        return not reason

    def _not_an_opening(self, call: Call) -> str:
        """Reason why a call does not open a conversation; "" if it does."""
        if call.fault:
            return call.fault
        try:
            if self._codec.greet(call.body) is None:
                _require_beginning(self._codec.decode_message(call.body))
        except RemoteProtocolError as error:
            return str(error)
        return ""

    def _count_stranger(self, reason: str) -> None:
        self._turned_away += 1
        if str(self._turned_away).strip("0") == "1":
            count = f" ({self._turned_away} so far)" if self._turned_away > 1 else ""
            self._note(f"refused a message of another client{count}: {reason}")

    # ------------------------------------------------------------------ answers

    def _answer(self, call: Call) -> None:
        """Make one exchange; on any error, send the reason to the simulator before raising it."""
        try:
            answer = self._answer_to(call)
        except BaseException as error:
            with contextlib.suppress(Exception):
                self._refused = self._door.send(call.peer, self._codec.encode_refusal(_reason(error)))
            raise
        if not self._door.send(call.peer, answer) and not self._session.finished:
            raise PeerLost(self._gone())
        self._exchanges += 1

    def _answer_to(self, call: Call) -> bytes:
        if self._recorder is not None:
            self._recorder.received(call.body)
        if call.fault:
            raise RemoteProtocolError(call.fault)
        answer = self._codec.greet(call.body) if self._exchanges == 0 else None
        if answer is None:
            message = self._codec.decode_message(call.body)
            answer = self._codec.encode_reply(self._session.handle(message))
            self._now_s = message.now
        if self._recorder is not None:
            self._recorder.sent(answer)
        return answer

    # ------------------------------------------------------------------ silence

    def _deadline(self) -> float:
        return math.inf if self._watchdog_s is None else time.monotonic() + self._watchdog_s

    def _judge_silence(self, deadline: float) -> None:
        """Raise when no further message of the simulator will come; messages sent before it closed are read first."""
        if self._peer is not None and self._door.has_closed(self._peer):
            call = self._door.receive(0)
            while call is not None and call.peer != self._peer.peer:
                call = self._door.receive(0)
            if call is None:
                raise PeerLost(self._gone())
            self._answer(call)
            return
        if time.monotonic() >= deadline:
            raise PeerLost(self._silence())
        self._check_alive()

    def _gone(self) -> str:
        return (
            f"the simulator closed its connection after {self._exchanges} exchanges, at t = {self._now_s:g} s: it "
            "died, its simulation deadlocked because nothing that waits can ever start, or it sent a message far "
            "beyond --max-message-bytes"
        )

    def _silence(self) -> str:
        if self._exchanges == 0:
            seen = f"; {self._turned_away} messages of other clients were refused" if self._turned_away else ""
            if self._door.unread:
                seen += (
                    f"; {self._door.unread} connections were closed without a message that can be read "
                    "(or with one far beyond --max-message-bytes)"
                )
            return f"no message of a simulator in {self._watchdog_s:g} s: was it started, and with this endpoint?{seen}"
        return (
            f"the simulator has been silent for {self._watchdog_s:g} s after {self._exchanges} exchanges, "
            f"at t = {self._now_s:g} s: it hangs, or its simulation takes longer (option --watchdog)"
        )


def _require_beginning(message: Message) -> None:
    first = message.events[0] if message.events else None
    if type(first) is not SimulationBegins:
        came = "a message without events" if first is None else type(first).__name__
        raise RemoteProtocolError(f"expected a conversation to begin with SIMULATION_BEGINS, got {came}")


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, SpillwayError) else f"{type(error).__name__}: {error}{users_line(error)}"
