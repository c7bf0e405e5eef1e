"""Reading members of JSON objects with one clear message for each thing that can be wrong."""

from __future__ import annotations

import math
from typing import Any

from spillway.base.errors import shown
from spillway.protocol.limits import time_fault
from spillway.protocol.messages import JsonObject

INT32 = 2**31 - 1


class Fields:
    """Typed access to one JSON object.

    Parameters
    ----------
    data
        The object.
    where
        What it is, for messages (``profile 'p'``).

    Raises
    ------
    ValueError
        By every reader: the member is missing, of the wrong kind, or out of range.
    """

    __slots__ = ("data", "where")

    def __init__(self, data: JsonObject, where: str) -> None:
        self.data = data
        self.where = where

    def required(self, key: str) -> Any:
        """The member, of any kind."""
        try:
            return self.data[key]
        except KeyError:
            raise ValueError(f"{self.where} has no field {key!r}") from None

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        value = self.data.get(key, default) if default is not None else self.required(key)
        return self.as_number(value, key)

    def as_number(self, value: Any, key: str) -> float:
        """Check that a value is a finite number."""
        if type(value) is int or type(value) is float:
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if math.isfinite(number):
                return number
        raise self.wrong(key, "a number", value)

    def amount(self, key: str, default: float | None = None) -> float:
        """A number of at least 0."""
        value = self.number(key, default)
        if value < 0:
            raise self.wrong(key, "a number of at least 0", value)
        return value

    def positive(self, key: str, default: float | None = None) -> float:
        """A number above 0."""
        value = self.number(key, default)
        if not value > 0:
            raise self.wrong(key, "a number above 0", value)
        return value

    def time(self, key: str, default: float | None = None) -> float:
        """A time or a duration in seconds, within :data:`spillway.protocol.limits.LATEST_S`."""
        value = self.number(key, default)
        fault = time_fault(value)
        if fault is not None:
            raise ValueError(f"{self.where}: field {key!r} {fault}")
        return value

    def duration(self, key: str, default: float | None = None) -> float:
        """A duration in seconds, above 0."""
        value = self.time(key, default)
        if not value > 0:
            raise self.wrong(key, "a number above 0", value)
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number of 32 bits; 1.0 is none."""
        value = self.data.get(key, default) if default is not None else self.required(key)
        if type(value) is not int or not -INT32 - 1 <= value <= INT32:
            raise self.wrong(key, "a whole number", value)
        return int(value)

    def text(self, key: str, default: str | None = None) -> str:
        """A text."""
        value = self.data.get(key, default) if default is not None else self.required(key)
        if not isinstance(value, str):
            raise self.wrong(key, "a text", value)
        return value

    def array(self, key: str) -> list[Any]:
        """An array."""
        value = self.required(key)
        if not isinstance(value, list):
            raise self.wrong(key, "an array", value)
        return value

    def mapping(self, key: str) -> JsonObject:
        """An object."""
        value = self.required(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "an object", value)
        return value

    def wrong(self, key: str, expected: str, value: Any) -> ValueError:
        """The error for a member that is not what was expected."""
        return ValueError(f"{self.where}: field {key!r} must be {expected}, got {shown(value)}")
