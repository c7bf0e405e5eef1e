"""Random draws whose values depend on the seed alone: of Python's generator only ``random()`` is the same for ever."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Value = TypeVar("Value")


class Draws:
    """A stream of draws.

    Parameters
    ----------
    seed
        Text; equal texts give equal draws.
    """

    def __init__(self, seed: str) -> None:
        self._next = Random(seed).random

    def chance(self, probability: float) -> bool:
        """Whether something of that probability happens."""
        return self._next() < probability

    def whole(self, least: int, most: int) -> int:
        """A whole number between two, both included."""
        return least + int(self._next() * (most - least + 1))

    def between(self, least: float, most: float) -> float:
        """A number between two, with three decimals."""
        return round(least + self._next() * (most - least), 3)

    def one_of(self, values: Sequence[Value]) -> Value:
        """One of some values."""
        return values[self.whole(0, len(values) - 1)]

    def some_of(self, values: Sequence[Value], count: int) -> list[Value]:
        """Several different ones of some values, in the order drawn."""
        left = list(values)
        return [left.pop(self.whole(0, len(left) - 1)) for _ in range(count)]
