"""Words for the faults that the compiled core finds: it states codes and numbers."""

from __future__ import annotations

import math


class Overbooked(ValueError):
    """A booking that conflicts with earlier ones.

    Attributes
    ----------
    until_s
        Start of the first later interval of the same length in which the booking may succeed (s); infinity if there is
        no such interval.
    """

    def __init__(self, words: str, until_s: float = math.inf) -> None:
        super().__init__(words)
        self.until_s = until_s


def lives(name: str, expected: str, value: float) -> ValueError:
    """Lives out of range."""
    return ValueError(f"{name} must be {expected}, got {value}")
