"""Reads tables of a TOML file into frozen dataclasses whose fields are options (:mod:`spillway.base.options`).

A field whose type is such a dataclass is a table in the table; a tuple of them is a list of tables, at least one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spillway.base.errors import OptionError, shown
from spillway.base.near import near
from spillway.base.options import OptionInfo, describe, value_of


def read_table(kind: Any, table: Any, where: str = "") -> Any:
    """Read a table, strictly: unknown keys, wrong types and values are errors.

    Parameters
    ----------
    kind
        The dataclass.
    table
        Contents of the TOML file.
    where
        Path of the table for messages, such as ``node`` or ``cluster[1]``.

    Raises
    ------
    OptionError
        The table is wrong; the message names the key, the expected and the actual value.
    """
    if not isinstance(table, Mapping):
        raise OptionError(f"{where}: expected a table, got {shown(table)}")
    infos = {info.name: info for info in describe(kind)}
    for key in table:
        if key not in infos:
            raise OptionError(f"{_join(where, key)}: unknown key; known here: {', '.join(infos)}{near(key, infos)}")
    values: dict[str, Any] = {}
    for name, info in infos.items():
        if name in table:
            values[name] = _value(info, table[name], _join(where, name))
        elif info.required:
            raise OptionError(f"{_join(where, name)}: this key is missing")
    try:
        return kind(**values)
    except ValueError as error:
        raise OptionError(f"{where}: {error}" if where else str(error)) from None


def _value(info: OptionInfo, value: Any, where: str) -> Any:
    if info.several:
        if not isinstance(value, list) or not value:
            raise OptionError(f"{where}: expected one table or more in a list, got {shown(value)}")
        return tuple(read_table(info.type, item, f"{where}[{index}]") for index, item in enumerate(value))
    if info.is_table:
        return read_table(info.type, value, where)
    try:
        return value_of(info, value, typed=True)
    except ValueError as error:
        raise OptionError(f"{where}: {error}") from None


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
