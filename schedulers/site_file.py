"""A site from its file (TOML): partitions and accounts with the names of nodes, as ``spillway site import`` writes it.

Tables are named after their subject (``[[partition]]``), their keys are the fields of
:mod:`spillway.schedulers.model.site`. Nodes are given by name if the file names the machine's nodes, else by place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from spillway.base import limits
from spillway.base.dates import seconds_since_1970
from spillway.base.errors import InputError, shown
from spillway.base.files import parse_toml, read_file, text_of
from spillway.base.hostlist import expanded
from spillway.base.near import near
from spillway.protocol.intervals import format_intervals
from spillway.schedulers.model.site import (
    Association,
    License,
    Partition,
    Qos,
    Site,
    Weights,
    faults,
    parse_site,
    site_text,
)
from spillway.schedulers.model.site_parts import Buffers, Cpus, Gpus, Layer, Reservation, Resource, Scheduler

TABLES: Mapping[str, tuple[str, type[msgspec.Struct]]] = {
    "partition": ("partitions", Partition),
    "association": ("associations", Association),
    "qos": ("qos", Qos),
    "license": ("licenses", License),
    "resource": ("resources", Resource),
    "gpu": ("gpus", Gpus),
    "cpu": ("cpus", Cpus),
    "reservation": ("reservations", Reservation),
    "priority": ("weights", Weights),
    "scheduler": ("scheduler", Scheduler),
    "burst_buffer": ("buffers", Buffers),
}
"""Tables of the file, with the field of a site and the type of each."""

PLAYED: frozenset[str] = frozenset(
    {"association", "cpu", "gpu", "license", "partition", "priority", "qos", "reservation", "resource"}
)
"""Tables that are played: weights and shares by the order ``multifactor``, the others under every policy. Parts of
``scheduler`` are played, too, and the times ``setup_s`` and ``teardown_s`` of ``burst_buffer``."""

SINGLE = ("priority", "scheduler", "burst_buffer")
"""Tables that may occur once; the others may occur any number of times."""

START = "start"
"""Key of a reservation: its begin as a date with a time, in place of ``start_s``."""


def played_of(site: Site) -> set[str]:
    """Played tables for which the site states values."""
    return {key for key in PLAYED & TABLES.keys() if getattr(site, TABLES[key][0]) != getattr(Site(), TABLES[key][0])}


def site_setting(given: str) -> str:
    """Text of the setting ``site``: of a file, or the given text itself; "" for "".

    Raises
    ------
    InputError
        The file cannot be read, or is not a site.
    """
    return given if not given or given.lstrip().startswith("{") else site_text(read_site(Path(given)))


def read_site(path: Path) -> Site:
    """Read a site's file, or a file with its compact text, as in folders of results.

    Raises
    ------
    InputError
        The file cannot be read, or is not a site; the message has the file and the key.
    """
    try:
        text = text_of(read_file(path, limits.SITE_BYTES))
        if text.lstrip().startswith("{"):
            return parse_site(text)
        table = parse_toml(text, limits.SITE_BYTES)
    except limits.InputError as error:
        raise InputError(f"{path}: {error}; expected a site (spillway site import writes one)") from None
    return site_of(table, str(path))


def site_of(table: Mapping[str, Any], where: str) -> Site:
    """Make a site from the tables of its file.

    Raises
    ------
    InputError
        As for :func:`read_site`.
    """
    known = ("name", "nodes", *TABLES)
    for key in table:
        if key not in known:
            raise InputError(f"{where}: unknown key {shown(key)}{near(key, known)}; known: {', '.join(known)}")
    places = _Places(table.get("nodes", 0), where)
    found: dict[str, Any] = {"name": table.get("name", ""), "nodes": places.count}
    for key, (field, kind) in TABLES.items():
        if key not in table:
            continue
        if key in SINGLE:
            found[field] = _read(table[key], kind, f"{where}: {key}", places)
            continue
        if not isinstance(table[key], list):
            raise InputError(f"{where}: {key}: expected tables, written [[{key}]], got {shown(table[key])}")
        found[field] = tuple(
            _read(entry, kind, f"{where}: {key}[{number}]", places) for number, entry in enumerate(table[key])
        )
    site: Site = _converted(found, Site, where)
    for fault in faults(site):
        raise InputError(f"{where}: {fault}")
    return site


class _Places:
    """Places of nodes by name.

    Parameters
    ----------
    given
        The machine's nodes as in the file: a host list of names, or their number.
    """

    def __init__(self, given: Any, where: str) -> None:
        self._by_name: dict[str, int] | None = None
        self.count: int = 0
        if isinstance(given, str):
            names = _expanded(given, f"{where}: nodes")
            self._by_name = {name: place for place, name in enumerate(names)}
            self.count = len(names)
        elif type(given) is int and given >= 0:
            self.count = given
        else:
            raise InputError(
                f"{where}: nodes: expected the names of the machine's nodes, such as 'nid[0001-0100]', or their "
                f"number, got {shown(given)}"
            )

    def of(self, text: Any, where: str) -> Any:
        """Ranges of places, from names or such ranges; the reader of the table checks values that are not texts."""
        if self._by_name is None or not isinstance(text, str):
            return text
        names = _expanded(text, where)
        for name in names:
            if name not in self._by_name:
                raise InputError(
                    f"{where}: {shown(name)} is not a node of the machine (key 'nodes' at the top of the file)"
                )
        return format_intervals(self._by_name[name] for name in names)


def _expanded(text: str, where: str) -> tuple[str, ...]:
    try:
        return expanded(text)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _read(table: Any, kind: type[msgspec.Struct], where: str, places: _Places) -> Any:
    """Read a table as a value of its type."""
    if not isinstance(table, dict):
        raise InputError(f"{where}: expected a table, got {shown(table)}")
    known = [_WRITTEN.get((kind, name), name) for name in kind.__struct_fields__]
    for key in table:
        if key not in known:
            raise InputError(f"{where}: unknown key {shown(key)}{near(key, known)}; known: {', '.join(known)}")
    values = dict(table)
    if "nodes" in values:
        values["nodes"] = places.of(values["nodes"], f"{where}: nodes")
    if kind is Reservation and START in values:
        values["start_s"] = _seconds(values.pop(START), f"{where}: {START}")
    if kind is Resource and isinstance(values.get("layers"), list):
        values["layers"] = [
            _read(entry, Layer, f"{where}: layers[{number}]", places) for number, entry in enumerate(values["layers"])
        ]
    return _converted(values, kind, where)


_WRITTEN: Mapping[tuple[type[msgspec.Struct], str], str] = {(Reservation, "start_s"): START}
"""Fields with another key in the file."""


def _seconds(value: Any, where: str) -> float:
    """Seconds since 1970 of a date with a time; without a zone it is not converted, like times of logs."""
    if not isinstance(value, datetime):
        raise InputError(f"{where}: expected a date with a time such as 2026-12-01T08:00:00, got {shown(value)}")
    return seconds_since_1970(value)


def _converted(values: Any, kind: type[Any], where: str) -> Any:
    for key in _not_finite(values):
        raise InputError(f"{where}: {key}: expected a finite number")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        words, _, place = str(error).replace("`", "").partition(" - at $")
        key = f": {place.lstrip('.')}" if place else ""
        raise InputError(f"{where}{key}: {words[:1].lower()}{words[1:]}") from None


def _not_finite(values: Mapping[str, Any]) -> Iterator[str]:
    return (key for key, value in values.items() if isinstance(value, float) and not math.isfinite(value))
