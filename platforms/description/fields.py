"""Format of a machine's description, derived from the dataclasses that read it: tables, keys, values, defaults.

The page of the format and commented descriptions are made from it, so that neither can differ from the reader.
"""

from __future__ import annotations

import inspect
import json
from typing import Any, NamedTuple

from spillway.base.options import OptionInfo, describe
from spillway.platforms.description.machine import Description


class Key(NamedTuple):
    """One key of a table.

    Attributes
    ----------
    name
        Name in the file.
    value
        Kind and range of its value, in words.
    unit
        Unit of a bare number; "" for values without unit.
    default
        As TOML; "" for a key that must be given, :data:`ABSENT` for one that may be left out.
    meaning
        In words.
    example
        A value, as TOML; "" for tables.
    info
        The option that the value is read into.
    """

    name: str
    value: str
    unit: str
    default: str
    meaning: str
    example: str
    info: OptionInfo


class Table(NamedTuple):
    """One table.

    Attributes
    ----------
    path
        Dotted; "" for the top of the file.
    several
        Whether it may occur several times (``[[cluster]]``).
    summary
        First paragraph of the docstring of its class.
    keys
        In the order of the reader.
    """

    path: str
    several: bool
    summary: str
    keys: tuple[Key, ...]

    @property
    def title(self) -> str:
        """Heading in the file: ``[storage]``, ``[[cluster.levels]]``."""
        return f"[[{self.path}]]" if self.several else f"[{self.path}]"


ABSENT = "absent"


def tables(kind: type = Description, path: str = "", several: bool = False) -> list[Table]:
    """All tables, each before those in it."""
    meanings = meanings_of(kind)
    infos = describe(kind)
    keys = tuple(_key(info, meanings.get(info.name, "")) for info in infos)
    found = [Table(path, several, first_paragraph(kind), keys)]
    for info in infos:
        if info.is_table:
            found += tables(info.type, f"{path}.{info.name}" if path else info.name, info.several)
    return found


def meanings_of(kind: type) -> dict[str, str]:
    """Meaning of each attribute, from the docstring of its class."""
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


def toml(info: OptionInfo, value: Any) -> str:
    """A value as a description has it, with its unit."""
    return json.dumps(_plain(info, value))


def table_of(value: Any) -> dict[str, Any]:
    """A description, or a table of one, as TOML has it; absent values are left out."""
    found: dict[str, Any] = {}
    for info in describe(type(value)):
        given = getattr(value, info.name)
        if given is None or given == ():
            continue
        if info.several:
            found[info.name] = [table_of(member) for member in given]
        else:
            found[info.name] = table_of(given) if info.is_table else _plain(info, given)
    return found


def _plain(info: OptionInfo, value: Any) -> Any:
    return value if info.form is None else info.form.write(value)


class _Words(NamedTuple):
    value: str
    unit: str
    example: str


_PLAIN = {bool: _Words("true or false", "", "true"), str: _Words("text", "", '"a machine of ours"')}


def _key(info: OptionInfo, meaning: str) -> Key:
    words = _words(info)
    return Key(info.name, words.value, words.unit, _default(info), meaning, words.example, info)


def _words(info: OptionInfo) -> _Words:
    if info.is_table:
        return _Words("tables, at least one" if info.several else "table", "", "")
    if info.form is not None:
        return _Words(info.form.expected, info.form.unit, json.dumps(info.form.example))
    if info.choices:
        return _Words(" or ".join(json.dumps(value) for value in info.choices), "", json.dumps(info.choices[0]))
    if info.type is int:
        return _Words(f"whole number from {info.low:,} to {info.high:,}", "", str(info.low))
    return _PLAIN[info.type]


def _default(info: OptionInfo) -> str:
    if info.required:
        return ""
    if info.default is None or info.default == ():
        return ABSENT
    return "its defaults" if info.is_table else toml(info, info.default)


def first_paragraph(kind: type) -> str:
    """The first paragraph of a class's docstring, on one line."""
    return " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
