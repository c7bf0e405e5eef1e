"""SIGTERM and SIGHUP end a command as Ctrl-C does: runs are ended, finished ones stay, and one line says so."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from spillway.base.signals import raising

_STOPPING = (signal.SIGTERM, signal.SIGHUP)


class StopSignal(KeyboardInterrupt):
    """A signal to stop arrived; it is handled as Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Raise :class:`StopSignal` on SIGTERM and SIGHUP in the main thread; one that is ignored (``nohup``) stays so."""
    heard = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    with raising(StopSignal, heard):
        yield


def number_of(stop: KeyboardInterrupt) -> int:
    """Return the number of the signal behind an interruption."""
    return stop.number if isinstance(stop, StopSignal) else signal.SIGINT
