"""What can go wrong with an experiment; the message has what was expected, what came, where, and what to do."""

from __future__ import annotations

import signal

from spillway.base.errors import InputError, SpillwayError


class SpecError(InputError):
    """A campaign file or the command line names something that does not exist or does not fit together."""


class RunFailed(SpillwayError):
    """A run could not be finished; the message is its cause."""


class Interrupted(SpillwayError):
    """A signal stopped the campaign; what is finished stays.

    Parameters
    ----------
    message
        What is finished and what is left.
    number
        The signal; the exit code is the shell's for it.
    """

    def __init__(self, message: str, number: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.exit_code = 128 + number


class ClusterLost(SpillwayError):
    """The cluster that runs were given to is gone or has no worker; these runs are left undone, not failed."""
