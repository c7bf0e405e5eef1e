"""Measurement of decisions from outside: the scheduler's core has no clock."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

from spillway.protocol.messages import Message, Reply
from spillway.schedulers.core.session import Session
from spillway.schedulers.model.machine import Machine

_REPORT_EVERY_S = 0.25

BLOCK = 256
"""Answers between two readings of the thread's CPU time, which are system calls: one for each answer took a seventh of
a run of short passes. Within a block CPU time is divided in proportion to real time."""


class TimedSession:
    """A session whose answers are timed; links and servers use it in place of the session.

    Parameters
    ----------
    session
        Answers the messages.
    report
        Called a few times per second by :meth:`handle`, with the simulated time.
    on_machine
        Called once, with the machine, when the first message has been answered.

    Attributes
    ----------
    cpu_s
        CPU seconds that this thread spent in answers so far: the CPU time of each block of :data:`BLOCK` answers, times
        the share of the answers in its real time.
    """

    def __init__(
        self, session: Session, report: Callable[[float], None], on_machine: Callable[[Machine], None] | None = None
    ) -> None:
        self._session = session
        self._report = report
        self._on_machine = on_machine
        self._times_ns = array("q")
        self._next_report_ns = 0
        self._cpu_ns = 0.0
        self._answered = self._answered_ns = 0
        self._block_ns = self._block_cpu_ns = 0

    @property
    def finished(self) -> bool:
        """Whether the conversation is over."""
        return self._session.finished

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the thread within answers."""
        return (self._cpu_ns + self._block_cpu()) / 1e9

    def _block_cpu(self) -> float:
        """CPU nanoseconds of the answers of this block."""
        passed_ns = time.perf_counter_ns() - self._block_ns
        return (time.thread_time_ns() - self._block_cpu_ns) * self._answered_ns / passed_ns if self._answered else 0.0

    def _next_block(self) -> None:
        self._cpu_ns += self._block_cpu()
        self._answered = self._answered_ns = 0
        self._block_ns, self._block_cpu_ns = time.perf_counter_ns(), time.thread_time_ns()

    @property
    def times_ns(self) -> array[int]:
        """Wall-clock nanoseconds of every answer, in order."""
        return self._times_ns

    def handle(self, message: Message) -> Reply:
        """Pass the message on and measure the answer."""
        if self._answered % BLOCK == 0:
            self._next_block()
        begin = time.perf_counter_ns()
        reply = self._session.handle(message)
        end = time.perf_counter_ns()
        self._answered += 1
        self._answered_ns += end - begin
        self._times_ns.append(end - begin)
        if self._on_machine is not None:
            self._on_machine(self._session.machine)
            self._on_machine = None
        if end >= self._next_report_ns:
            self._next_report_ns = end + int(_REPORT_EVERY_S * 1e9)
            self._report(message.now)
        return reply
