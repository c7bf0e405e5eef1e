"""A description as TOML with the meaning, unit and default of every key, to be edited by hand."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from spillway.base.options import OptionInfo
from spillway.platforms.description.fields import (
    ABSENT,
    Table,
    default_of,
    example_of,
    tables,
    toml,
    unit_of,
    values_of,
)
from spillway.platforms.description.machine import Description

HEAD = (
    "A machine for spillway. Every key is listed with its meaning; a key that is commented out has the value that "
    "follows '=', which is its default. Quantities are texts with a unit, or numbers in the unit that is named. "
    "'spillway platform show FILE' prints the machine."
)
WIDTH = 100
_FEW = 8
"""Most tables of a list that all explain their keys; in a longer list only the first does."""
_OF_TOPOLOGY = ("dragonfly", "cluster")
"""Tables of one topology; they are left out for machines of another."""


def commented(description: Description, remarks: Mapping[str, str] | None = None) -> str:
    """Text of the whole description; tables that it does not have are written as comments.

    Parameters
    ----------
    remarks
        Further remarks on single keys (such as the source of a value), by dotted key.
    """
    found = {table.path: table for table in tables()}
    lines = [*_comment(HEAD), "", *_table(found[""], description, remarks or {}, found)]
    return "\n".join(lines) + "\n"


def _table(
    table: Table, value: Any, remarks: Mapping[str, str], found: Mapping[str, Table], heading: bool = True
) -> Iterator[str]:
    """A table with its keys, then the tables in it; if ``value`` is ``None``, all of it as a comment."""
    if table.path and heading:
        yield ""
        yield from _comment(table.summary)
        yield table.title if value is not None else f"# {table.title}"
    inner: list[tuple[OptionInfo, Table]] = []
    for key in table.keys:
        path = f"{table.path}.{key.name}" if table.path else key.name
        if path in found:
            inner.append((key, found[path]))
            continue
        yield from _comment(_words(key, remarks.get(path, "")))
        yield _line(key, value)
    for key, below in inner:
        part = None if value is None else getattr(value, key.name)
        if not part and key.name in _OF_TOPOLOGY:
            continue
        many = part if isinstance(part, tuple) and part else [None if isinstance(part, tuple) else part]
        for number, entry in enumerate(many):
            brief = number > 0 and len(many) > _FEW
            yield from _brief(below, entry) if brief else _table(below, entry, remarks, found)


def _brief(table: Table, value: Any) -> Iterator[str]:
    """A table that is like the one before it: only the keys that are given."""
    yield table.title
    yield from (line for line in (_line(key, value) for key in table.keys) if not line.startswith("#"))


def _line(key: OptionInfo, value: Any) -> str:
    """``key = value``, commented out if the value is the default or the table is absent."""
    given = None if value is None else getattr(value, key.name)
    default = default_of(key)
    if given is None:
        return f"# {key.name} = {default if default not in ('', ABSENT) else example_of(key)}"
    text = toml(key, given)
    return f"# {key.name} = {text}" if text == default else f"{key.name} = {text}"


def _words(key: OptionInfo, remark: str) -> str:
    default = {"": "must be given", ABSENT: "may be left out"}.get(default_of(key), f"default {default_of(key)}")
    unit = f"; a bare number is in {unit_of(key)}" if unit_of(key) else ""
    meaning = f"{key.help[:1].upper()}{key.help[1:]}."
    return f"{meaning} ({values_of(key)}{unit}; {default}){f' {remark}' if remark else ''}"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text.replace("``", "'").replace("`", "'"), WIDTH)]
