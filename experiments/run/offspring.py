"""Processes that end with their parent, however it ends: no simulator is left behind by a kill."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from spillway.base.signals import held_back
from spillway.experiments.run.errors import RunFailed

GRACE_S = 10.0
"""Seconds that a process has to end after the request to."""

_LAST_LINES = 12
"""Lines of a log that a message quotes."""

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def own_modules() -> dict[str, str]:
    """Variables with which Python imports from where this process does, and not from the working folder.

    That may be a stranger's, with a ``spillway`` of its own.
    """
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent ends (Linux; elsewhere nothing happens).

    Parameters
    ----------
    parent
        Id of the parent; if it is gone already, this process ends now.
    """
    if _LIBC is None:
        return
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def end_without_reader(pipe: int) -> None:
    """End this process at once when the last process that reads from its pipe has ended, killed or not."""

    def watch() -> None:
        poll = select.poll()
        poll.register(pipe, 0)  # only an error wakes it: the other end was closed
        poll.poll()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _first(begin: Callable[[], None], *, tie: bool) -> Callable[[], None]:
    """Return the function that a child runs between fork and exec; with ``tie`` the child ends with this process.

    The kernel counts threads: the child also ends with the thread that started it.
    """
    parent = os.getpid()

    def first() -> None:
        begin()
        if tie:
            die_with_parent(parent)

    return first


@contextlib.contextmanager
def running(
    command: Sequence[str], log: int, *, tie: bool = True, whole_group: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process in a group of its own, and end it on the way out.

    Parameters
    ----------
    command
        Program and arguments.
    log
        File descriptor for its output.
    tie
        Whether it ends with this process, however that ends.
    whole_group
        Whether its own children are ended, too, and at once.

    Raises
    ------
    RunFailed
        It cannot be started.
    """
    is_ours = tuple(command[:2]) == (sys.executable, "-m") and command[2].partition(".")[0] == "spillway"
    with contextlib.ExitStack() as held:
        begin = held.enter_context(held_back())
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=os.environ | own_modules() if is_ours else None,
                preexec_fn=_first(begin, tie=tie),
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise RunFailed(f"cannot start {command[0]!r}: {getattr(error, 'strerror', error)}") from None
        signals = held.pop_all()
    try:
        signals.close()  # only here: an earlier signal would leave the process running
        yield process
    finally:
        if whole_group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        elif process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
        if process.poll() is None:
            process.kill()
        process.wait()


def tail(log: Path) -> str:
    """The last lines of a log, joined to one line."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return " | ".join(line.strip() for line in lines[-_LAST_LINES:] if line.strip()) or "no output"
