"""One fuzzed conversation: a session against a random peer, with at most a few faults, and everything checked."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from types import FrameType
from typing import NoReturn

from spillway.base.errors import LocalProtocolError, OptionError, RemoteProtocolError
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.format import SchedulerSide, SimulatorSide
from spillway.protocol.messages import JobState, Message, Reply
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.lives import name_of, parse_life
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Running
from tools.fuzz.faults import FAULTS, NOT_IN_BATSIM_5, RequiredOutcome, Sent
from tools.fuzz.peer import Peer, Stall
from tools.fuzz.setups import PAIRS, Setup, draw

LONGEST_S = 10.0
"""CPU time that one message may take (s)."""

LARGEST = 400_000
"""Growth of the process's memory that one conversation may cause (kB)."""

LONGEST_TEXT = 700
"""Characters of the longest error text."""

FAULT_EVERY = 60
"""Messages from one fault to the next, on average."""

MOST_MESSAGES = 1500
"""A conversation that has not ended by then is given up: periodic calls can make it long."""


class LateReply(AssertionError):
    """A message was not answered within :data:`LONGEST_S`."""


class AcceptedFault(AssertionError):
    """A fault that must be refused was answered."""


class ExcessiveGrowth(AssertionError):
    """An error text or the process grew beyond its bound."""


class MissingRecord(AssertionError):
    """A job that ended left no record."""


@dataclass
class JobRecords(Observer):
    """Starts, ends and records of a session's jobs, which no fault may lose."""

    started_ids: set[str] = field(default_factory=set)
    ended_ids: set[str] = field(default_factory=set)
    records: set[str] = field(default_factory=set)

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Note a start."""
        self.started_ids.add(job.id)

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Note an end."""
        self.ended_ids.add(running.job.id)

    def record(self, record: JobRecord) -> None:
        """Note a record."""
        self.records.add(record.job.id)

    def lost(self, session: Session) -> int:
        """Jobs that started, are not at work any more, and left no end or no record."""
        gone = self.started_ids - set(session.book.running) if begun(session) else set()
        return len(gone - self.ended_ids) + len(self.ended_ids ^ self.records)


@dataclass
class ConversationResults:
    """Results of a conversation.

    Attributes
    ----------
    pair
        Policy and job model.
    life
        Of burst buffers.
    protocol
        Of the messages as bytes; 0: objects.
    messages
        Number of messages sent.
    stalls
        1 if waiting jobs were left behind under the published scheduler's rules, which allow this.
    faults
        (fault, outcome, jobs whose data was lost) of each fault.
    """

    pair: tuple[str, str]
    life: str = ""
    protocol: int = 4
    messages: int = 0
    stalls: int = 0
    faults: list[tuple[str, str, int]] = field(default_factory=list)


def play(rng: Random, number: int, *, outages: bool = True, check_every: int = 1) -> ConversationResults:
    """Play one conversation; every exception is a finding.

    Books are compared after every ``check_every``-th message; the peer checks each reply.
    """
    pair = PAIRS[number % len(PAIRS)]
    setup, session, kept = _assemble(rng, *pair, outages=outages)
    codecs = setup.codecs()
    peer = Peer(setup.world, rng, write=lambda message: codecs[1].encode_message(message).rstrip(b"\0"))
    played = ConversationResults(pair, name_of(parse_life(setup.spec.make_settings().bb_life)), setup.protocol)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    message = peer.begin()
    while played.messages < MOST_MESSAGES:
        name = _fault(rng, setup.protocol)
        sent: Sent = FAULTS[name].make(rng, peer, message) if name else None
        reply = _exchange(session, codecs if setup.protocol else None, message if sent is None else sent)
        played.messages += 1
        if sent is not None:
            outcome = _judge(name, sent, reply)
            played.faults.append((name, outcome, kept.lost(session)))
            if played.faults[-1][2]:
                raise MissingRecord(f"{name}: {played.faults[-1][2]} jobs")
            peer.lenient |= FAULTS[name].then is RequiredOutcome.EITHER
        elif isinstance(reply, RemoteProtocolError) and not peer.lenient:
            raise AssertionError(f"a legal message was refused: {reply}") from reply
        if isinstance(reply, RemoteProtocolError) or session.finished:
            break
        if played.messages % check_every == 0:
            _check(session)
        peer.begun, peer.last_s = True, message.now if sent is None else peer.last_s
        try:
            peer.take(reply)
            message = peer.next()
        except Stall:
            if not setup.may_stall:
                raise
            played.stalls += 1
            break
        except (AssertionError, KeyError):
            if peer.lenient:
                break
            raise
    if kept.lost(session):
        raise MissingRecord(f"{kept.lost(session)} jobs")
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory > LARGEST:
        raise ExcessiveGrowth("the process's memory grew")
    return played


def _assemble(rng: Random, policy: str, model: str, *, outages: bool) -> tuple[Setup, Session, JobRecords]:
    while True:
        setup = draw(rng, policy, model, outages=outages)
        kept = JobRecords()
        try:
            session = setup.spec.session(kept, on_record=kept.record)
        except OptionError:
            continue  # drawn options that exclude each other
        return setup, session, kept


def _fault(rng: Random, protocol: int) -> str:
    name = rng.choice(list(FAULTS)) if rng.random() < 1 / FAULT_EVERY else ""
    return "" if protocol == 5 and name in NOT_IN_BATSIM_5 else name


def _exchange(
    session: Session, codecs: tuple[SchedulerSide, SimulatorSide] | None, sent: Message | bytes
) -> Reply | RemoteProtocolError:
    """Send a message through the codecs or as an object; return the reply, or the one error that is allowed."""
    ours, theirs = codecs or (batsim4, batsim4)
    with _bounded():
        try:
            if isinstance(sent, bytes):
                sent = ours.decode_message(sent)
            elif codecs:
                with suppress(LocalProtocolError):  # Batsim could not print it: it stays an object
                    sent = ours.decode_message(theirs.encode_message(sent))
            reply = session.handle(sent)
            return theirs.decode_reply(ours.encode_reply(reply)) if codecs else reply
        except RemoteProtocolError as error:
            if len(str(error)) > LONGEST_TEXT or not error.path.startswith("$"):
                raise ExcessiveGrowth(f"an error of {len(str(error))} characters at {error.path[:100]}") from error
            return error


def _judge(name: str, sent: Message | bytes, reply: Reply | RemoteProtocolError) -> str:
    then = FAULTS[name].then
    refused = isinstance(reply, RemoteProtocolError)
    if then is RequiredOutcome.REFUSED and not refused:
        raise AcceptedFault(f"{name}: {str(sent)[:300]}")
    if then is RequiredOutcome.SAME and isinstance(reply, RemoteProtocolError):
        raise AssertionError(f"{name}: {reply}") from reply
    return "refused" if refused else "answered"


def _check(session: Session) -> None:
    """Books, cluster, timeline and runtime agree; nothing is over-committed."""
    if not begun(session):
        return
    session.check()
    check = getattr(session._runtime, "check", None)
    if check is not None:
        check()


def begun(session: Session) -> bool:
    """Whether a session has its machine."""
    return session.begun


@contextmanager
def _bounded() -> Iterator[None]:
    """Interrupt a call after :data:`LONGEST_S` of CPU time."""
    before = signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _too_long(number: int, frame: FrameType | None) -> NoReturn:
    raise LateReply(f"no reply within {LONGEST_S:g} s of CPU time")
