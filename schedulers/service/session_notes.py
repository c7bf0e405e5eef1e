"""Notes at the beginning of a session, and one-line errors of sessions under pybatsim's launchers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spillway.base.arguments import complain
from spillway.base.errors import SpillwayError
from spillway.base.users_line import users_line

if TYPE_CHECKING:
    from spillway.schedulers.assembly import SessionSpec


def say_notes(spec: SessionSpec) -> None:
    """Print the notes of a session, before it begins, on the standard error stream."""
    for note in spec.notes():
        complain(f"note: {note}", is_error=False)


class OneLineErrors:
    """Ends the program with one line and the error's exit code; the launcher would print a traceback.

    Parameters
    ----------
    refuse
        Receives the reason, for a peer that waits for an answer.
    """

    def __init__(self, refuse: Callable[[str], None] = lambda _: None) -> None:
        self._refuse = refuse

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            self._refuse(
                str(error)
                if isinstance(error, SpillwayError)
                else f"{type(error).__name__}: {error}{users_line(error)}"
            )
        if isinstance(error, SpillwayError):
            complain(error)
            raise SystemExit(error.exit_code) from None
