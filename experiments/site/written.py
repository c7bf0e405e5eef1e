"""A site's description as TOML, with the meanings of its keys as comments: to be edited by its operator."""

from __future__ import annotations

import functools
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from spillway.base.errors import printable
from spillway.base.options import first_paragraph
from spillway.base.units import duration
from spillway.schedulers.model.site import Partition, Site
from spillway.schedulers.model.site_parts import Gpus, Reservation
from spillway.schedulers.site_file import SINGLE, START, TABLES

HEAD = (
    "A site for spillway: --site FILE. Nodes are given by name; the list 'nodes' has their places in the machine. "
    "A key that is absent from a table has its default. Times are in seconds, sizes in bytes. "
    "'spillway site show FILE' prints the contents, and the parts that are not played yet."
)
WIDTH = 100
_READABLE_S = 120.0
_IN_THE_FILE: Mapping[tuple[type[msgspec.Struct], str], str] = {
    (Partition, "nodes"): "Names of nodes; absent: all nodes. Partitions may overlap.",
    (Gpus, "nodes"): "Names of nodes; absent: all nodes.",
    (Reservation, "nodes"): "Names of nodes; absent: no nodes, or all of them where it has the flag ALL_NODES.",
    (Reservation, "start_s"): "Its begin: a date with a time, without a zone as logs have them.",
}
"""Meanings of fields that have another form in the file."""


def written(site: Site, nodes: str, assumed: Mapping[str, str], notes: Sequence[str]) -> str:
    """The text of the file.

    Parameters
    ----------
    site
        Values of the site, with the names of nodes in place of their places.
    nodes
        Names of the machine's nodes as a list of hosts; "": as many as the machine has.
    assumed
        Assumption for each table that no file states, by its name in the file.
    notes
        Omissions.
    """
    lines = [*_comment(HEAD), ""]
    lines += [line for note in notes for line in _comment(f"NOTE: {printable(note)}")]
    lines += [f"name = {_value(site.name)}"] if site.name else []
    lines += _comment(f"ASSUMED: {assumed['nodes']}") if "nodes" in assumed else []
    lines += [f"nodes = {_value(nodes)}"] if nodes else []
    for key, (name, kind) in TABLES.items():
        value = getattr(site, name)
        lines += ["", *_comment(first_paragraph(kind)), *_meanings(kind)]
        lines += _comment(f"ASSUMED: {assumed[key]}") if key in assumed else []
        if key in SINGLE:
            lines += [f"[{key}]", *_keys(value)]
        for table in () if key in SINGLE else value:
            lines += [f"[[{key}]]", *_keys(table), ""]
    return "\n".join(lines).rstrip() + "\n"


def _meanings(kind: type[msgspec.Struct]) -> Iterator[str]:
    """The keys of a table with their meanings; keys of one meaning together."""
    by_meaning: dict[str, list[str]] = {}
    found = _meanings_of(kind)
    for name in kind.__struct_fields__:
        words = found.get(name, "").replace("``None``", "absent").replace("()", "[]")
        key = START if name == "start_s" else name
        by_meaning.setdefault(_IN_THE_FILE.get((kind, name), words), []).append(key)
    for meaning, names in by_meaning.items():
        yield from _comment(f"- {', '.join(names)}: {meaning}" if meaning else f"- {', '.join(names)}", "  ")


def _meanings_of(kind: type) -> dict[str, str]:
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


def _keys(value: msgspec.Struct) -> Iterator[str]:
    """Lines ``key = value`` of all values that differ from their defaults."""
    for name, found in changed(value).items():
        if name == "start_s":
            yield f"{START} = {datetime.fromtimestamp(found, UTC):%Y-%m-%dT%H:%M:%S}"
            continue
        readable = isinstance(found, float) and name.endswith("_s") and found >= _READABLE_S
        yield f"{name} = {_value(found)}{f'  # {duration(found)}' if readable else ''}"


def changed(value: msgspec.Struct) -> dict[str, Any]:
    """Fields that differ from their defaults, by name."""
    defaults = _defaults_of(type(value))
    fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
    return {name: found for name, found in fields if name not in defaults or found != defaults[name]}


@functools.cache
def _defaults_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Defaults of the fields that have one."""
    return {
        field.name: field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        for field in msgspec.structs.fields(kind)
        if not field.required
    }


def _value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, msgspec.Struct):
        return "{ " + ", ".join(line.partition("  #")[0] for line in _keys(value)) + " }"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(member)}" for key, member in value.items()) + " }"
    if isinstance(value, tuple | list):
        if value and isinstance(value[0], msgspec.Struct):
            return "[\n" + "".join(f"    {_value(member)},\n" for member in value) + "]"
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # as in JSON, except for the one control character that JSON does not escape
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _comment(text: str, indent: str = "") -> list[str]:
    plain = text.replace("``", "'").replace("`", "'")
    return [f"# {line}" for line in textwrap.wrap(plain, WIDTH, subsequent_indent=indent)]
