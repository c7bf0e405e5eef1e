"""Text forms of the values of a machine's description: quantities with units, names, lists of hosts, watts."""

from __future__ import annotations

import math
from typing import Any

from spillway.base import units
from spillway.base.hostlist import compressed, expanded
from spillway.base.options import Form


def identifier(value: Any) -> str:
    """A text that may be part of a host's name and of an ``io_path``; else :class:`ValueError`."""
    if not isinstance(value, str) or not value or not all(char.isalnum() or char in "_-." for char in value):
        raise ValueError(f"expected a name of letters, digits, '_', '-' and '.', got {value!r}")
    return value


def _quantity(scale: units.Scale, unit: str, *, zero: bool = False) -> Form:
    """A text with a unit (``"1250MBps"``), or a number in the base unit; greater than 0, or at least 0."""

    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f"expected a text with a unit or a number, got {value!r}")
        number = scale.read(value) if isinstance(value, str) else scale.parse(repr(value))
        if number == 0 and not zero:
            raise ValueError(f"must be greater than 0, got {value!r}")
        return number

    words = f"text with a unit, or a number, {'at least 0' if zero else 'above 0'}"
    return Form(read, lambda value: scale.write(float(value)), words, scale.example, unit)


def _host_names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, got {value!r}")
    return tuple(identifier(name) for name in expanded(value))


def _watts(value: Any) -> str:
    try:
        numbers = [float(part) for part in value.split(":")] if isinstance(value, str) else []
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(0 <= number < math.inf for number in numbers):
        raise ValueError(f"expected watts as IDLE:EPSILON:ALLCORES or IDLE:ALLCORES, got {value!r}")
    return str(value)


SPEED = _quantity(units.SPEED, "flop/s")
BANDWIDTH = _quantity(units.BANDWIDTH, "bytes/s")
LATENCY = _quantity(units.TIME, "s", zero=True)
_SIZE = _quantity(units.SIZE, "bytes", zero=True)
BYTES = Form(lambda value: round(_SIZE.read(value)), _SIZE.write, _SIZE.expected, _SIZE.example, _SIZE.unit)
"""Whole bytes."""
NAME = Form(identifier, str, "name: letters, digits, `_`, `-`, `.`", "name")
HOST_NAMES = Form(_host_names, compressed, "names of hosts, numbers in brackets", "node[1-16]")
"""Names of hosts, such as ``node[1-16,18]``."""
WATTS = Form(_watts, str, "text `IDLE:ALLCORES` or `IDLE:EPSILON:ALLCORES`", "100:200", "W")
"""Power of a host, ``IDLE:EPSILON:ALLCORES`` or ``IDLE:ALLCORES``."""
