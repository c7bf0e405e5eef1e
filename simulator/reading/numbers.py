"""Numbers as Batsim prints them: six decimals for every real number, integers as they are.

Whatever is printed is rounded, so the broker rounds whatever it hands out; what Batsim writes and reads again before it
uses it (registered jobs and profiles) is rounded as well.
"""

from __future__ import annotations

from typing import Any

PRINTABLE_LIMIT = 1e24
"""Batsim's number buffer has 32 bytes: a real number from here on makes it abort when it must be printed."""

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1


def round6(value: float) -> float:
    """The real number that remains after printing with ``%6f`` and reading back."""
    return round(value, 6)


def rewritten(value: Any) -> Any:
    """A JSON value after Batsim has written and read it: real numbers rounded, integers beyond 64 bits made real.

    Raises
    ------
    ValueError
        A real number of :data:`PRINTABLE_LIMIT` or more, which Batsim cannot print.
    """
    kind = type(value)
    if kind is float:
        if not -PRINTABLE_LIMIT < value < PRINTABLE_LIMIT:
            raise ValueError(f"the number {value!r} has too many digits to be printed (limit {PRINTABLE_LIMIT:g})")
        return round(value, 6)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if _INT_MIN <= value <= _INT_MAX else rewritten(float(value))
    if kind is dict:
        return {key: rewritten(item) for key, item in value.items()}
    if kind in (list, tuple):
        return [rewritten(item) for item in value]
    raise ValueError(f"a value of type {kind.__name__} is no JSON")
