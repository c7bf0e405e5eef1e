"""Reads tables of a TOML file into frozen dataclasses, strictly: unknown keys, wrong types and values are errors.

Each field of such a dataclass is made by :func:`setting`, with the way in which its value is read. Nothing here depends
on what the tables mean.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from spillway.base import units
from spillway.base.hostlist import expanded
from spillway.base.near import near
from spillway.platforms.errors import PlatformError

Parser = Callable[[Any], Any]
"""Turns a TOML value into a field's value; raises ValueError saying what was expected and what came."""

_PARSER, _REQUIRED = "parser", dataclasses.MISSING


def setting(parser: Parser | type, default: Any = _REQUIRED) -> Any:
    """A field read by ``parser``; a dataclass type stands for a table, ``[type]`` in a list for several tables.

    The default is a TOML value and goes through the parser too; ``None`` stays ``None``.
    """
    if default is _REQUIRED:
        return dataclasses.field(metadata={_PARSER: parser})
    if _is_table(parser) and default is not None:
        return dataclasses.field(default_factory=lambda: read_table(parser, default, ""), metadata={_PARSER: parser})
    value = None if default is None else parser(default)
    return dataclasses.field(default=value, metadata={_PARSER: parser})


def parser_of(field: dataclasses.Field[Any]) -> Any:
    """The way in which a field's value is read: a :data:`Parser`, a dataclass for a table, or :class:`Several`."""
    return field.metadata[_PARSER]


def read_table(kind: Any, table: Any, where: str) -> Any:
    """Read a TOML table into an instance of the dataclass ``kind``.

    Parameters
    ----------
    where
        Path of the table for messages, such as ``node`` or ``cluster[1]``.

    Raises
    ------
    PlatformError
        Naming the key, what was expected and what came.
    """
    if not isinstance(table, Mapping):
        raise PlatformError(f"{where}: expected a table, got {table!r}")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for key in table:
        if key not in fields:
            raise PlatformError(f"{_join(where, key)}: unknown key; known here: {', '.join(fields)}{near(key, fields)}")
    values: dict[str, Any] = {}
    for name, field in fields.items():
        if name in table:
            values[name] = _read_value(field.metadata[_PARSER], table[name], _join(where, name))
        elif field.default is _REQUIRED and field.default_factory is _REQUIRED:
            raise PlatformError(f"{_join(where, name)}: this key is missing")
    try:
        return kind(**values)
    except ValueError as error:
        raise PlatformError(f"{where}: {error}" if where else str(error)) from None


def _read_value(parser: Any, value: Any, where: str) -> Any:
    if isinstance(parser, Several):
        if not isinstance(value, list) or not value:
            raise PlatformError(f"{where}: expected one table or more in a list, got {value!r}")
        return tuple(read_table(parser.kind, item, f"{where}[{index}]") for index, item in enumerate(value))
    if _is_table(parser):
        return read_table(parser, value, where)
    try:
        return parser(value)
    except ValueError as error:
        raise PlatformError(f"{where}: {error}") from None


def _is_table(parser: Any) -> bool:
    return isinstance(parser, type) and dataclasses.is_dataclass(parser)


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


@dataclasses.dataclass(frozen=True)
class Several:
    """A list of tables, at least one, read into a tuple of instances of ``kind``."""

    kind: Any

    def __call__(self, value: Any) -> Any:
        """For defaults only: an empty tuple."""
        return tuple(value)


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A text with a unit (``"1250MBps"``), or a number in the base unit; greater than 0, or at least 0."""

    scale: units.Scale
    zero: bool = False

    def __call__(self, value: Any) -> float:
        """See :data:`Parser`."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f"expected a text with a unit or a number, got {value!r}")
        number = self.scale.read(value) if isinstance(value, str) else self.scale.parse(repr(value))
        if number == 0 and not self.zero:
            raise ValueError(f"must be greater than 0, got {value!r}")
        return number


@dataclasses.dataclass(frozen=True)
class Whole:
    """A whole number between two bounds."""

    least: int
    most: int

    def __call__(self, value: Any) -> int:
        """See :data:`Parser`."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            raise ValueError(f"expected a whole number from {self.least} to {self.most}, got {value!r}")
        return value


@dataclasses.dataclass(frozen=True)
class Choice:
    """One of several texts."""

    values: tuple[str, ...]

    def __call__(self, value: Any) -> str:
        """See :data:`Parser`."""
        if value not in self.values:
            raise ValueError(f"must be one of {', '.join(self.values)}, got {value!r}")
        return str(value)


def flag(value: Any) -> bool:
    """True or false; see :data:`Parser`."""
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {value!r}")
    return value


def free_text(value: Any) -> str:
    """Any text; see :data:`Parser`."""
    if not isinstance(value, str):
        raise ValueError(f"expected a text, got {value!r}")
    return value


def identifier(value: Any) -> str:
    """A text that may be part of a host's name and of an ``io_path``; see :data:`Parser`."""
    if not isinstance(value, str) or not value or not all(char.isalnum() or char in "_-." for char in value):
        raise ValueError(f"expected a name of letters, digits, '_', '-' and '.', got {value!r}")
    return value


def host_names(value: Any) -> tuple[str, ...]:
    """Names of hosts, such as ``node[1-16,18]``; see :data:`Parser`."""
    return tuple(identifier(name) for name in expanded(free_text(value)))


def watts(value: Any) -> str:
    """Power of a host in W, ``IDLE:EPSILON:ALLCORES`` or ``IDLE:ALLCORES``; see :data:`Parser`."""
    try:
        numbers = [float(part) for part in value.split(":")] if isinstance(value, str) else []
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(0 <= number < float("inf") for number in numbers):
        raise ValueError(f"expected watts as IDLE:EPSILON:ALLCORES or IDLE:ALLCORES, got {value!r}")
    return str(value)


def whole_bytes(value: Any) -> int:
    """Whole bytes; see :data:`Parser`."""
    return round(Quantity(units.SIZE, zero=True)(value))
