"""Processes that end with the one that started them, however that ends: no simulator is left behind by a kill."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import threading
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent ends (Linux; elsewhere nothing happens).

    Parameters
    ----------
    parent
        Id of the parent; where it is gone already, this process ends now.
    """
    if _LIBC is None:
        return
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def end_without_reader(pipe: int) -> None:
    """End this process at once when the last process that reads from a pipe of its own has gone, killed or not."""

    def watch() -> None:
        poll = select.poll()
        poll.register(pipe, 0)  # only an error wakes it: the other end was closed
        poll.poll()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def tied() -> Callable[[], None]:
    """Return what a child of this process runs between fork and exec, so that it ends with this process.

    The kernel goes by threads: the child also ends with the thread that started it.
    """
    parent = os.getpid()
    return lambda: die_with_parent(parent)
