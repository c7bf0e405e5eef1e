"""Format of a machine's description, derived from the dataclasses that read it: tables, keys, values, defaults.

The page of the format and commented descriptions are made from it, so that neither can differ from the reader.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from spillway.base.options import OptionInfo, describe, first_paragraph
from spillway.platforms.description.machine import Description

ABSENT = "absent"
"""Default of a key that may be left out."""


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
    keys: tuple[OptionInfo, ...]

    @property
    def title(self) -> str:
        """Heading in the file: ``[storage]``, ``[[cluster.levels]]``."""
        return f"[[{self.path}]]" if self.several else f"[{self.path}]"


def tables(kind: type = Description, path: str = "", several: bool = False) -> list[Table]:
    """All tables, each before those in it."""
    found = [Table(path, several, first_paragraph(kind), tuple(describe(kind)))]
    for info in found[0].keys:
        if info.is_table:
            found += tables(info.type, f"{path}.{info.name}" if path else info.name, info.several)
    return found


def toml(info: OptionInfo, value: Any) -> str:
    """A value as a description has it, with its unit."""
    return json.dumps(value if info.form is None else info.form.write(value))


def table_of(value: Any) -> dict[str, Any]:
    """A description, or a table of one, as TOML has it; absent values are left out."""
    found: dict[str, Any] = {}
    for info in describe(type(value)):
        given = getattr(value, info.name)
        if given is None or given == ():
            continue
        if info.several:
            found[info.name] = [table_of(member) for member in given]
        elif info.is_table:
            found[info.name] = table_of(given)
        else:
            found[info.name] = given if info.form is None else info.form.write(given)
    return found


def values_of(info: OptionInfo) -> str:
    """Kind and range of a key's value, in words."""
    return info.expected if not info.is_table else "tables, at least one" if info.several else "table"


def unit_of(info: OptionInfo) -> str:
    """Unit of a bare number; "" for values without unit."""
    return "" if info.form is None else info.form.unit


def default_of(info: OptionInfo) -> str:
    """The default as TOML; "" for a key that must be given."""
    if info.required:
        return ""
    if info.default is None or info.default == ():
        return ABSENT
    return "its defaults" if info.is_table else toml(info, info.default)


def example_of(info: OptionInfo) -> str:
    """A value of a key that is no table, as TOML."""
    if info.form is not None:
        return json.dumps(info.form.example)
    return json.dumps(
        info.choices[0] if info.choices else {bool: True, str: "a machine of ours"}.get(info.type, info.low)
    )
