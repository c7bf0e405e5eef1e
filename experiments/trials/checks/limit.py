"""A limit on CPU time: what goes on for ever in Python is interrupted."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

CPU_S = 3.0
"""Seconds of CPU time for the play of one world; those of the house's policies take less than 0.4."""

AGAIN_S = 0.5
"""After how much more CPU time (s) it is interrupted again, where the first time was caught."""


class Overdue(BaseException):
    """The time is over. No :class:`Exception`, so that a policy that catches those does not catch it."""


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`Overdue` in what runs after so much CPU time of this process (s), of all its threads.

    The clock is the process's own, so that a busy machine changes nothing. Signals reach Python between two of its
    steps: compiled code is interrupted when it returns. Only in the main thread is there a limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, former)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Overdue
