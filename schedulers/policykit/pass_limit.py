"""A bound in seconds on the searches of a pass, for services that must answer in time.

A clock makes decisions depend on the speed of the machine: so only a session with a given clock has this bound, and
this package reads no clock of its own. A policy's number of evaluations (``steps``) is a bound that gives the same
decisions everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

SERVICE_S = 10.0
"""Default bound of a service (s)."""

SEARCHES = "searches"
"""Key of the notebook: :class:`Searches`, the passes that the bound ended."""

Over = Callable[[], bool]
"""Whether a search has to end, with the best found so far."""


def never() -> bool:
    """Return false: no bound."""
    return False


@dataclass(frozen=True)
class PassLimit:
    """Bound on the time of a pass's search.

    Attributes
    ----------
    seconds
        From the beginning of the search, above 0. An evaluation that has begun is finished.
    clock
        Current time in seconds, from any origin.
    """

    seconds: float
    clock: Callable[[], float]

    def begin(self) -> Over:
        """Begin to count; return the test whether the time is over."""
        until_s = self.clock() + self.seconds
        return lambda: self.clock() >= until_s


@dataclass(frozen=True)
class Searches:
    """Number of passes of a conversation with a search, and of those that the limit ended."""

    made: int = 0
    ended: int = 0

    def __str__(self) -> str:
        """Describe both numbers in a line."""
        return f"the pass limit ended {self.ended} of {self.made} passes before their searches were complete"


class BoundedPass:
    """The bound in one pass: whether its time is over, and counts of passes.

    Parameters
    ----------
    limit
        ``None``: the time is never over, and passes are not counted.
    """

    def __init__(self, limit: PassLimit | None) -> None:
        self._over = never if limit is None else limit.begin()
        self._counts = limit is not None
        self.ended = False

    def over(self) -> bool:
        """Whether the search has to end now."""
        self.ended = self.ended or self._over()
        return self.ended

    def count(self, notebook: dict[str, Any]) -> None:
        """Count the pass."""
        if self._counts:
            before = notebook.get(SEARCHES, Searches())
            notebook[SEARCHES] = Searches(before.made + 1, before.ended + self.ended)


def told(notebook: Mapping[str, Any]) -> Iterable[str]:
    """State how many passes the bound ended; nothing for 0."""
    searches: Searches = notebook.get(SEARCHES, Searches())
    return (str(searches),) if searches.ended else ()


@runtime_checkable
class Limitable(Protocol):
    """A policy with a search that can be bounded."""

    def limited(self, limit: PassLimit) -> Self:
        """Return the same policy with a bound."""
        ...
