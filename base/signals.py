"""Signals that stop a program by an exception; they are sent again where Python cannot raise it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_AGAIN_S = 0.01
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def raising(stop: Callable[[int], BaseException], numbers: Collection[int]) -> Iterator[Sequence[int]]:
    """Raise ``stop(number)`` when one of the signals arrives (in the main thread; elsewhere signals are unchanged).

    Where Python cannot raise it (in a finaliser or a callback of the interpreter), it would print a traceback and
    continue: there the signal, or Ctrl-C, is sent again a moment later.

    Yields the numbers of the signals that have arrived, as any code may catch the exception.
    """
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return
    raised: list[BaseException] = []
    over = threading.Event()
    lost_ones: list[int] = []

    def come(number: int, frame: FrameType | None) -> NoReturn:
        heard.append(number)
        raised.append(stop(number))
        raise raised[-1]

    def send_again(lost: UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, KeyboardInterrupt) and lost.exc_value not in raised:
            number: int = signal.SIGINT
        elif lost.exc_value in raised:
            number = heard[-1]
        else:
            unraisable(lost)
            return
        lost_ones.append(number)
        threading.Thread(target=kill, args=(number,), daemon=True).start()
        lost_ones.pop()

    def kill(number: int) -> None:
        while lost_ones:  # a signal that came before the hook has ended would be lost, too
            over.wait(_AGAIN_S)
        if not over.wait(_AGAIN_S):
            os.kill(os.getpid(), number)

    unraisable, sys.unraisablehook = sys.unraisablehook, send_again
    before = {number: signal.signal(number, come) for number in numbers}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = unraisable
        over.set()


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Let signals that stop this process act when the block ends, in the main thread; elsewhere none acts anyway.

    Blocking them is not enough where there are other threads, to which the system then gives them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before: dict[int, Callable[[int, FrameType | None], object]] = {}
    try:
        for stopping in _STOPPING:
            if callable(handler := signal.getsignal(stopping)):
                before[stopping] = handler
                signal.signal(stopping, lambda number, _: came.append(number))
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


@contextlib.contextmanager
def held_back() -> Iterator[Callable[[], None]]:
    """Block signals that stop this process until the block ends, which makes something that must not be left half made.

    Between a fork and a child's own program, the child would raise exceptions that are meant for this process.

    Yields a function for the child: from its call on, signals act on the child as on a program that has just started.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)

    def in_child() -> None:
        for number in _STOPPING:
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        yield in_child
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
