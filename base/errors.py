"""The error tree: each class names the side at fault, each message the expected and the actual input, and the place.

::

    SpillwayError                  all errors that spillway raises on purpose
    +-- InputError                 a file, option or description given by the user is wrong (exit code 2)
    |   +-- OptionError            a command line, policy or campaign option
    +-- ProtocolError              the peer broke the protocol
    |   +-- RemoteProtocolError    a received message cannot be understood or is illegal in this state
    |   +-- LocalProtocolError     a message to be sent is illegal (spillway's own fault)
    +-- DecisionRefused            the guard refused a policy's decision (names the job and the reason)
    +-- PeerLost                   the peer went silent (exit code 3)
    +-- ServiceStop                a signal stopped the service (exit code 128 + signal)

``platforms``, ``workloads`` and ``analysis`` have ``PlatformError``, ``WorkloadError`` and ``AnalysisError``, with the
``exit_code`` of ``InputError``; :class:`spillway.base.limits.InputError` is one of a file. All of these are
``ValueError``, too.
"""

from __future__ import annotations

import re
import reprlib
import signal
from collections.abc import Coroutine
from typing import Any

MOST_SHOWN = 80
"""Most characters of input in the text of an error."""


class _Short(reprlib.Repr):
    """Reads only a few members of a few levels, however large the value is."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = self.maxlong = MOST_SHOWN

    def repr_int(self, value: int, level: int) -> str:
        """Integers beyond 64 bits are shown by their size: Python refuses to write very long ones."""
        bits = value.bit_length()
        return super().repr_int(value, level) if bits <= 64 else f"an integer of {bits} bits"


_SHORT = _Short()


def shown(value: Any) -> str:
    """A value of the input for the text of an error: its ``repr``, shortened to :data:`MOST_SHOWN` characters.

    Time and memory are bounded for any value.
    """
    kind = type(value)
    if kind is str and len(value) < MOST_SHOWN:  # names, which are in the place of each job and profile
        text = repr(value)
        if len(text) <= MOST_SHOWN:
            return text
    elif kind is int and value.bit_length() <= 64:
        return repr(value)
    text = _SHORT.repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


def printable(text: str) -> str:
    """A text with control characters that a terminal would obey (ESC, BEL ...) written as escapes."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """A text of several lines with the characters that a terminal would obey, and those that turn the direction of
    writing, as escapes; other signs, line ends and tabs stay.
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def shortened(text: str) -> str:
    """A text of the input without quotes, shortened to :data:`MOST_SHOWN` characters."""
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


LONGEST_PATH = 160
"""Most characters of a JSON path in the text of an error; names in it are the peer's."""


def returned(found: object) -> str:
    """Words for the result of a call that should yield; a coroutine is closed, as it warns where nobody awaits it."""
    if found is None:
        return "None: has it no yield?"
    kind = type(found).__name__
    if isinstance(found, Coroutine):
        found.close()
    return f"a{'n' if kind[0] in 'aeiou' else ''} {kind}: " + (
        "write 'def', not 'async def'" if kind in ("coroutine", "async_generator") else shown(found)
    )


class SpillwayError(Exception):
    """Base of all errors that spillway raises on purpose."""

    exit_code = 1


class InputError(SpillwayError):
    """A file, option or description given by the user is wrong."""

    exit_code = 2


class OptionError(InputError):
    """A command line, policy or campaign option is unknown or out of range."""


class ProtocolError(SpillwayError):
    """The conversation broke the protocol."""


class RemoteProtocolError(ProtocolError):
    """A message of the peer cannot be understood, or is illegal in this state.

    Parameters
    ----------
    message
        The expected and the actual input.
    path
        Its place as a JSON path (``$.events[2].data.job_id``).
    """

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(f"{message} (at {path if len(path) <= LONGEST_PATH else path[: LONGEST_PATH - 3] + '...'})")
        self.message = message
        self.path = path

    def under(self, place: str) -> RemoteProtocolError:
        """The same error in a larger object: its path continues ``place``."""
        return RemoteProtocolError(self.message, place + self.path.removeprefix("$"))


class LocalProtocolError(ProtocolError):
    """A message to be sent is illegal."""


class DecisionRefused(SpillwayError):
    """The guard refused a decision.

    Parameters
    ----------
    job_id
        The job of the decision; "" without one.
    reason
        Reason why the machine's state or the protocol forbids it.
    """

    def __init__(self, job_id: str, reason: str) -> None:
        super().__init__(
            f"decision on job {shown(job_id)} refused: {reason}" if job_id else f"decision refused: {reason}"
        )
        self.job_id = job_id
        self.reason = reason


class PeerLost(SpillwayError):
    """The peer went silent for longer than the watchdog allows."""

    exit_code = 3


class ServiceStop(SpillwayError):
    """A signal stopped the service; the exit code is the shell's for it.

    Parameters
    ----------
    number
        Number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name} before the simulation ended")
        self.number = number
        self.exit_code = 128 + number
