"""A bound in seconds on the search of a pass, for services that must answer in time.

A clock makes decisions depend on the machine's speed: so there is none unless a session is given one, and none is read
in this package. A bound that gives the same decisions everywhere is a policy's number of evaluations (``steps``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

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
        return f"the pass limit ended {self.ended} of {self.made} searches before all evaluations were made"


@runtime_checkable
class Limitable(Protocol):
    """A policy whose search can be bounded."""

    def limited(self, limit: PassLimit) -> Self:
        """Return the same policy with a bound."""
        ...
