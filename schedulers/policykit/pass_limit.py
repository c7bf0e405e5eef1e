"""A bound in seconds on the search of a pass, or on what it looks for again, for services that must answer in time.

A clock makes decisions depend on the machine's speed: so there is none unless a session is given one, and none is read
in this package. A bound that gives the same decisions everywhere is a policy's number of evaluations (``steps``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

SERVICE_S = 10.0
"""Bound of a service that is given none (s)."""

SEARCHES = "searches"
"""Key of the notebook: how often the bound ended a search (:class:`Searches`)."""

Over = Callable[[], bool]
"""Whether a search is to end with the best found so far."""


def never() -> bool:
    """No bound."""
    return False


@dataclass(frozen=True)
class PassLimit:
    """How long the search of a pass may take.

    Attributes
    ----------
    seconds
        From the beginning of the search, above 0. What is being evaluated then is still evaluated to its end.
    clock
        Current time in seconds, from anywhere.
    """

    seconds: float
    clock: Callable[[], float]

    def begin(self) -> Over:
        """Begin to count."""
        until_s = self.clock() + self.seconds
        return lambda: self.clock() >= until_s


@dataclass(frozen=True)
class Searches:
    """How many passes of a conversation searched, and how many of these were ended by the limit."""

    made: int = 0
    ended: int = 0

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"the pass limit ended {self.ended} of {self.made} passes before all that they could look at was looked at"
        )


class Bounded:
    """The bound in one pass: whether it is over, and the account of it.

    Parameters
    ----------
    limit
        ``None``: it is never over, and there is no account.
    """

    def __init__(self, limit: PassLimit | None) -> None:
        self._over = never if limit is None else limit.begin()
        self._counts = limit is not None
        self.ended = False

    def over(self) -> bool:
        """Whether the search is to end now."""
        self.ended = self.ended or self._over()
        return self.ended

    def count(self, notebook: dict[str, Any]) -> None:
        """Count the pass."""
        if self._counts:
            before = notebook.get(SEARCHES, Searches())
            notebook[SEARCHES] = Searches(before.made + 1, before.ended + self.ended)


def told(notebook: Mapping[str, Any]) -> Iterable[str]:
    """How often the bound ended a search, where it did."""
    searches: Searches = notebook.get(SEARCHES, Searches())
    return (str(searches),) if searches.ended else ()


@runtime_checkable
class Limitable(Protocol):
    """A policy whose search can be bounded."""

    def limited(self, limit: PassLimit) -> Self:
        """Return the same policy with a bound."""
        ...
