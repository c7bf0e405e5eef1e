"""Errors of experiments; each message states the expectation, the input, its place and the remedy."""

from __future__ import annotations

import signal

from spillway.base.errors import InputError, SpillwayError


class SpecError(InputError):
    """A campaign file or the command line names something that does not exist or does not fit together."""


class RunFailed(SpillwayError):
    """A run could not be finished; the message is its cause."""


class Interruption(SpillwayError):
    """A signal stopped the campaign; finished runs stay.

    Parameters
    ----------
    message
        Finished and remaining runs.
    number
        The signal; the exit code is the shell's for it.
    """

    def __init__(self, message: str, number: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.exit_code = 128 + number


class ClusterLost(SpillwayError):
    """The cluster that received the runs is gone or has no worker; its runs are left undone, not failed."""
