"""SIGTERM and SIGHUP end a command as Ctrl-C does: runs are ended, what is finished stays, one line says so."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

_STOPPING = (signal.SIGTERM, signal.SIGHUP)


class StopSignal(KeyboardInterrupt):
    """A signal to stop arrived; whatever handles Ctrl-C handles it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Raise :class:`StopSignal` on SIGTERM and SIGHUP in the main thread; one that is ignored (``nohup``) stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _stop) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def number_of(stop: KeyboardInterrupt) -> int:
    """Give the signal behind an interruption."""
    return stop.number if isinstance(stop, StopSignal) else signal.SIGINT


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise StopSignal(number)
