"""How a session ends that a launcher of pybatsim has started: in one line, and with the reason for Batsim."""

from __future__ import annotations

from collections.abc import Callable

from spillway.base.arguments import complain
from spillway.base.errors import SpillwayError


class OneLineErrors:
    """Ends the program with one line and the error's exit code; the launcher would print a traceback.

    Parameters
    ----------
    refuse
        Gets the reason, for a peer that waits for an answer.
    """

    def __init__(self, refuse: Callable[[str], None] = lambda _: None) -> None:
        self._refuse = refuse

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            self._refuse(str(error) if isinstance(error, SpillwayError) else f"{type(error).__name__}: {error}")
        if isinstance(error, SpillwayError):
            complain(error)
            raise SystemExit(error.exit_code) from None
