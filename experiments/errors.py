"""What can go wrong with an experiment; the message has what was expected, what came, where, and what to do."""

from __future__ import annotations

from schedulers.errors import InputError, SpillwayError


class SpecError(InputError):
    """A campaign file or the command line names something that does not exist or does not fit together."""


class RunFailed(SpillwayError):
    """A run could not be finished; the message is its cause."""


class Interrupted(SpillwayError):
    """The user stopped the campaign; what is finished stays."""

    exit_code = 130
