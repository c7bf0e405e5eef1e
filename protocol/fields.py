"""Reading of members of JSON objects, with a clear message for each fault."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from spillway.base.errors import shown
from spillway.protocol.limits import LATEST_S, time_fault
from spillway.protocol.messages import JsonObject

INT32 = 2**31 - 1
_INT63 = 2**63 - 1
_LARGEST = math.nextafter(math.inf, 0.0)

WHOLE: TypeAlias = Annotated[int, Meta(ge=-_INT63, le=_INT63)]
"""Type of what :func:`is_whole` accepts."""

NUMBER: TypeAlias = WHOLE | float
"""Type of numbers as :meth:`Fields.number` reads them, but for integers of more digits than a file has."""

AMOUNT: TypeAlias = Annotated[int, Meta(ge=0, le=_INT63)] | Annotated[float, Meta(ge=0.0)]
"""Type of numbers as :meth:`Fields.amount` reads them."""

INSTANT: TypeAlias = Annotated[int, Meta(ge=0, le=int(LATEST_S))] | Annotated[float, Meta(ge=0.0, le=LATEST_S)]
"""Type of times from 0 on as :meth:`Fields.time` reads them."""

DURATION: TypeAlias = Annotated[int, Meta(gt=0, le=int(LATEST_S))] | Annotated[float, Meta(gt=0.0, le=LATEST_S)]
"""Type of times as :meth:`Fields.duration` reads them."""


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number (``true`` is not)."""
    if type(value) is not int and type(value) is not float:
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_whole(value: Any) -> bool:
    """Whether a JSON value is a whole number of at most 63 bits written as one (1.0 is not)."""
    return type(value) is int and abs(value) < 2**63


class Fields:
    """Typed access to one JSON object. Subclasses with other error texts override :meth:`required` and :meth:`fault`.

    Parameters
    ----------
    data
        The object.
    where
        Name of the object, for messages (``profile 'p'``).

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
        kind = type(value)
        if (kind is float or kind is int) and -_LARGEST <= value <= _LARGEST:  # nearly all numbers; false for nan
            return float(value)
        return self.as_number(value, key)

    def as_number(self, value: Any, key: str) -> float:
        """Check that a value is a finite number."""
        if is_number(value):
            return float(value)
        raise self.wrong(key, "a number", value)

    def amount(self, key: str, default: float | None = None) -> float:
        """A number of at least 0."""
        value = self.number(key, default)
        if value < 0:
            raise self.wrong(key, "a number of at least 0", self.data.get(key, default))
        return value

    def time(self, key: str, default: float | None = None) -> float:
        """A time or a duration in seconds, within :data:`spillway.protocol.limits.LATEST_S`."""
        value = self.number(key, default)
        fault = time_fault(value)
        if fault is not None:
            raise self.fault(key, fault)
        return value

    def duration(self, key: str, default: float | None = None) -> float:
        """A duration in seconds, above 0."""
        value = self.time(key, default)
        if not value > 0:
            raise self.wrong(key, "a number above 0", self.data.get(key, default))
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number of 32 bits; 1.0 is refused."""
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

    def mapping(self, key: str, default: None = None) -> JsonObject:
        """An object."""
        value = self.required(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "an object", value)
        return value

    def amounts(self, key: str, default: None = None) -> list[float]:
        """An array of numbers of at least 0, at least one."""
        values = self.array(key)
        if not values:
            raise self.fault(key, "must not be empty")
        numbers = [self.as_number(value, f"{key}[{index}]") for index, value in enumerate(values)]
        for index, number in enumerate(numbers):
            if number < 0:
                raise self.wrong(f"{key}[{index}]", "a number of at least 0", values[index])
        return numbers

    def names(self, key: str, default: None = None) -> tuple[str, ...]:
        """An array of names of profiles, at least one."""
        names = self.array(key)
        if not names or not all(isinstance(name, str) for name in names):
            raise self.wrong(key, "an array of profile names, at least one", names)
        return tuple(names)

    def count(self, key: str, default: int | None = None) -> int:
        """A whole number of at least 1."""
        value = self.integer(key, default)
        if value < 1:
            raise self.wrong(key, "a whole number of at least 1", value)
        return value

    def pattern(self, key: str, default: str | None = None) -> re.Pattern[str]:
        """A regular expression."""
        text = self.text(key, default)
        try:
            return re.compile(text)
        except re.error as fault:
            raise self.wrong(key, f"a regular expression ({fault})", text) from None

    def wrong(self, key: str, expected: str, value: Any) -> ValueError:
        """The error for a member with an unexpected value."""
        return self.fault(key, f"must be {expected}, got {shown(value)}")

    def fault(self, key: str, text: str) -> ValueError:
        """The error for a member; ``text`` states the fault."""
        return ValueError(f"{self.where}: field {key!r} {text}")
