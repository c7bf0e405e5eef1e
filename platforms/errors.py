"""The one error of this package."""

from __future__ import annotations

from spillway.base.errors import SpillwayError


class PlatformError(SpillwayError, ValueError):
    """A platform file or description that cannot be used.

    Parameters
    ----------
    message
        The expected input, the actual input, and the remedy.
    source
        File name, if known.
    line
        Line number in that file (from 1), if known.
    """

    exit_code = 2

    def __init__(self, message: str, source: str = "", line: int = 0):
        self.source, self.line = source, line
        where = source and (f"{source}, line {line}: " if line else f"{source}: ")
        super().__init__(where + message)
