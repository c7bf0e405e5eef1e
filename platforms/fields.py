"""What a machine's description may say, read off the dataclasses that read it: tables, keys, values, defaults.

The page of the format and commented descriptions are made of this, so that neither can differ from the reader.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from spillway.base import units
from spillway.base.hostlist import compressed
from spillway.platforms.description import Description
from spillway.platforms.settings import (
    Choice,
    Quantity,
    Several,
    Whole,
    flag,
    free_text,
    host_names,
    identifier,
    parser_of,
    watts,
    whole_bytes,
)


class Key(NamedTuple):
    """One key of a table.

    Attributes
    ----------
    name
        As it is written.
    value
        Kind and range of its value, in words.
    unit
        Of a bare number; "" where it has none.
    default
        As TOML; "" for a key that must be given, :data:`ABSENT` for one that may be left out.
    meaning
        In words.
    example
        A value, as TOML; "" for tables.
    parser
        Reads it.
    """

    name: str
    value: str
    unit: str
    default: str
    meaning: str
    example: str
    parser: Any


class Table(NamedTuple):
    """One table.

    Attributes
    ----------
    path
        Dotted; "" for the top of the file.
    several
        Whether it may stand several times (``[[cluster]]``).
    summary
        What it describes.
    keys
        In the order of the reader.
    """

    path: str
    several: bool
    summary: str
    keys: tuple[Key, ...]

    @property
    def title(self) -> str:
        """As it is written: ``[storage]``, ``[[cluster.levels]]``."""
        return f"[[{self.path}]]" if self.several else f"[{self.path}]"


ABSENT = "absent"


def tables(kind: type = Description, path: str = "", several: bool = False) -> list[Table]:
    """All tables, each before those in it."""
    meanings = meanings_of(kind)
    fields = dataclasses.fields(kind)
    keys = tuple(_key(field, meanings.get(field.name, "")) for field in fields)
    found = [Table(path, several, first_paragraph(kind), keys)]
    for field in fields:
        inner = parser_of(field)
        many = isinstance(inner, Several)
        inner = inner.kind if many else inner
        if isinstance(inner, type):
            found += tables(inner, f"{path}.{field.name}" if path else field.name, many)
    return found


def meanings_of(kind: type) -> dict[str, str]:
    """What each attribute means, from the docstring of its class."""
    section = (inspect.getdoc(kind) or "").partition("Attributes\n----------\n")[2]
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line.startswith(" "):
            for name in names:
                found.setdefault(name, []).append(line.strip())
        elif line:
            names = [name.strip() for name in line.split(",")]
    return {name: " ".join(lines) for name, lines in found.items()}


def toml(parser: Any, value: Any) -> str:
    """A value as a description has it, with its unit."""
    if isinstance(parser, Quantity):
        return json.dumps(parser.scale.write(float(value)))
    if parser is host_names:
        return json.dumps(compressed(value))
    return json.dumps(units.SIZE.write(float(value)) if parser is whole_bytes else value)


def table_of(value: Any) -> dict[str, Any]:
    """A description, or a table of one, as TOML has it; what is absent is left out."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        parser, given = parser_of(field), getattr(value, field.name)
        if given is None or given == ():
            continue
        if isinstance(parser, Several):
            found[field.name] = [table_of(one) for one in given]
        elif isinstance(parser, type):
            found[field.name] = table_of(given)
        else:
            found[field.name] = json.loads(toml(parser, given))
    return found


class _Words(NamedTuple):
    value: str
    unit: str
    example: str


_BASES = {units.BANDWIDTH: "bytes/s", units.SPEED: "flop/s", units.TIME: "s", units.SIZE: "bytes"}
"""Units of bare numbers, in words."""

_PLAIN: Mapping[Callable[..., Any], _Words] = {
    flag: _Words("true or false", "", "true"),
    free_text: _Words("text", "", '"a machine of ours"'),
    host_names: _Words("names of hosts, numbers in brackets", "", '"node[1-16]"'),
    identifier: _Words("name: letters, digits, `_`, `-`, `.`", "", '"name"'),
    watts: _Words("text `IDLE:ALLCORES` or `IDLE:EPSILON:ALLCORES`", "W", '"100:200"'),
    whole_bytes: _Words("text with a unit, or a number, at least 0", "bytes", '"40GB"'),
}


def _key(field: dataclasses.Field[Any], meaning: str) -> Key:
    parser = parser_of(field)
    words = _words(parser)
    return Key(field.name, words.value, words.unit, _default(field, parser), meaning, words.example, parser)


def _words(parser: Any) -> _Words:
    if isinstance(parser, Several):
        return _Words("tables, at least one", "", "")
    if isinstance(parser, type):
        return _Words("table", "", "")
    if isinstance(parser, Quantity):
        least = "at least 0" if parser.zero else "above 0"
        return _Words(f"text with a unit, or a number, {least}", _BASES[parser.scale], json.dumps(parser.scale.example))
    if isinstance(parser, Whole):
        return _Words(f"whole number from {parser.least:,} to {parser.most:,}", "", str(parser.least))
    if isinstance(parser, Choice):
        listed = " or ".join(json.dumps(value) for value in parser.values)
        return _Words(listed, "", json.dumps(parser.values[0]))
    return _PLAIN[parser]


def _default(field: dataclasses.Field[Any], parser: Any) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return "its defaults"
    if field.default is dataclasses.MISSING:
        return ""
    return ABSENT if field.default is None or field.default == () else toml(parser, field.default)


def first_paragraph(kind: type) -> str:
    """The first paragraph of a class's docstring, on one line."""
    return " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
