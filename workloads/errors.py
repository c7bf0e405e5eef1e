"""Error of this package: one class, because all its messages are for the author of the input."""

from __future__ import annotations

from spillway.base.errors import SpillwayError


class WorkloadError(SpillwayError, ValueError):
    """A log, workload, option or catalogue name given by the user is wrong.

    Parameters
    ----------
    message
        The expected and the given input, and the remedy.
    where
        File, and line or JSON path, of the fault; empty where there is no such place.
    """

    exit_code = 2

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
