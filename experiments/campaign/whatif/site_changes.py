"""A site with some of its values changed: partitions, licences, weights, limits, reservations.

A value is named as in the site's file, ``TABLE[.NAME].KEY``: ``partition.batch.longest_s``, ``priority.age``,
``qos.high.limits.user_jobs``, ``license.matlab`` (its count). ``none`` removes a limit or a whole entry.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from spillway.base import units
from spillway.base.errors import OptionError
from spillway.base.near import near
from spillway.experiments.run.errors import SpecError
from spillway.protocol.intervals import format_intervals, parse_intervals
from spillway.schedulers.model.site import Association, License, Partition, Site, parse_site, site_text
from spillway.schedulers.model.site_parts import Limits
from spillway.schedulers.site_file import SINGLE, TABLES

LIMITS = "limits"
"""The setting that removes all limits (``limits=none``)."""

NONE = "none"
_COUNT, _NODES = "count", "nodes"

S = TypeVar("S", bound=msgspec.Struct)

TABLES_SET = (*(name for name in TABLES if name not in ("gpu", "resource")), "account")
"""First words of settings of a site; ``account`` is another word for ``association``."""

EXAMPLES = ("partition.NAME.nodes", "license.NAME", "priority.age", LIMITS)
"""Settings of a site, for near misses."""


def is_of_site(name: str) -> bool:
    """Whether a setting is one of the site's values."""
    return name == LIMITS or name.partition(".")[0] in TABLES_SET


def changed(site: Site, name: str, text: str) -> Site:
    """The site with one value changed.

    Parameters
    ----------
    name, text
        The value and its change (:func:`spillway.base.units.change_of`), its new text, or ``none``.

    Raises
    ------
    SpecError
        The site has no such value, or the change is wrong; names the known ones.
    """
    where = f"{name}={text}"
    if name == LIMITS:
        if text != NONE:
            raise SpecError(
                f"{where}: expected {LIMITS}={NONE}; one limit is a value such as qos.NAME.limits.user_jobs"
            )
        return _without_limits(site)
    table, _, rest = name.partition(".")
    table = "association" if table == "account" else table
    field, kind = TABLES[table]
    if table in SINGLE:
        new: Any = _with(getattr(site, field), rest, text, where, table)
        return _checked(_replaced(site, **{field: new}), where)
    several: tuple[Any, ...] = getattr(site, field)
    place, key = _entry(several, rest, where, table)
    entry = several[place]
    if not key and text == NONE:
        return _checked(_replaced(site, **{field: several[:place] + several[place + 1 :]}), where)
    if kind is License:
        key = key or _COUNT
    if kind is Partition and key == _NODES:
        return _checked(_resized(site, entry, text, where), where)
    new = _with(entry, key, text, where, f"{table}.{_name(entry)}")
    return _checked(_replaced(site, **{field: (*several[:place], new, *several[place + 1 :])}), where)


def partitions_to_resize(site: Site) -> list[str]:
    """Settings of the sizes of partitions, of a site that says where its nodes belong."""
    return [f"partition.{partition.name}.{_NODES}" for partition in site.partitions]


def _entry(several: tuple[Any, ...], rest: str, where: str, table: str) -> tuple[int, str]:
    """Place of the named entry, and the key after its name; names may contain dots."""
    for place, entry in sorted(enumerate(several), key=lambda item: -len(_name(item[1]))):
        if rest == _name(entry) or rest.startswith(f"{_name(entry)}."):
            return place, rest[len(_name(entry)) + 1 :]
    names, given = [_name(entry) for entry in several], rest.partition(".")[0]
    known = ", ".join(names) or "none"
    raise SpecError(f"{where}: the site has no {table} {given!r}{near(given, names)}; it has {known}")


def _name(entry: Any) -> str:
    if isinstance(entry, Association):
        return f"{entry.account}/{entry.user}".rstrip("/")
    return str(entry.name)


def _with(value: Any, path: str, text: str, where: str, said: str) -> Any:
    """A table with the value at a path changed."""
    key, _, below = path.partition(".")
    fields = {field_info.name: field_info for field_info in msgspec.structs.fields(type(value))}
    if key not in fields or key in ("name", _NODES):
        known = [item for item in fields if item not in ("name", _NODES, "user", "account")]
        raise SpecError(f"{where}: {said} has no value {key!r}{near(key, known)}; known: {', '.join(known)}")
    now = getattr(value, key)
    if isinstance(now, msgspec.Struct):
        new = _with(now, below, text, where, f"{said}.{key}") if below or text != NONE else type(now)()
    elif isinstance(now, dict):
        new = _amount(now, below, text, where)
    elif text == NONE:
        new = fields[key].default
    elif now is None or (isinstance(now, int | float) and not isinstance(now, bool)):
        whole = isinstance(now, int) if now is not None else int in _plain_types(fields[key].type)
        new = _number(key, now, text, where, whole=whole)
    else:
        new = _TEXTS[type(now)](text)
    return _replaced(value, **{key: new})


def _plain_types(annotation: Any) -> set[Any]:
    """Types in an annotation, below its unions and bounds."""
    inner = typing.get_args(annotation)
    return {annotation, *inner}.union(*map(_plain_types, inner)) if inner else {annotation}


_TEXTS: Mapping[type, Callable[[str], Any]] = {
    bool: lambda text: {"true": True, "false": False}.get(text, text),
    str: str,
    tuple: lambda text: tuple(text.split()),
}
"""Readers of values that are not numbers; the description of the site checks them."""


def _amount(now: dict[str, int], name: str, text: str, where: str) -> dict[str, int]:
    """Amounts by name, with one of them changed."""
    if not name:
        raise SpecError(f"{where}: expected an amount by its name, such as {where.partition('=')[0]}.node=+8")
    kept = {key: count for key, count in now.items() if key != name}
    return kept if text == NONE else {**kept, name: _number(name, now.get(name), text, where, whole=True)}


def _number(key: str, now: float | None, text: str, where: str, *, whole: bool) -> Any:
    scale = units.TIME if key.endswith("_s") else units.SIZE if key == "mem" or key.startswith("bb/") else None
    try:
        change = units.change_of(text, scale)
        if now is None and change.factor:
            raise ValueError(f"no limit is stated that {text} could change; expected a value")
        value = change.of(float(now or 0.0))
    except ValueError as error:
        raise SpecError(f"{where}: {error}") from None
    if not whole:
        return value
    if change.start and value != round(value):
        raise SpecError(f"{where}: expected a whole number")
    return round(value)


def _resized(site: Site, partition: Partition, text: str, where: str) -> Site:
    """The site with a partition of another size: new nodes come after all others, the last of its nodes go."""
    if not site.nodes:
        raise SpecError(f"{where}: the site does not state its nodes (key 'nodes' at the top of its file)")
    own = parse_intervals(partition.nodes) if partition.nodes else tuple(range(site.nodes))
    count = _number(_NODES, len(own), text, where, whole=True)
    if count < 1:
        raise SpecError(f"{where}: expected at least one node to remain of {len(own)}")
    gone = set(own[count:])
    place = {node: place for place, node in enumerate(node for node in range(site.nodes) if node not in gone)}
    added = range(len(place), len(place) + max(count - len(own), 0))

    def moved(text: str, more: range = range(0)) -> str:
        return format_intervals([place[node] for node in parse_intervals(text) if node in place] + [*more])

    kept = []
    for item in site.partitions:
        nodes = moved(item.nodes, added if item is partition else range(0)) if item.nodes else ""
        if item.nodes and not nodes:
            raise SpecError(f"{where}: partition {item.name!r} would have no node")
        kept.append(_replaced(item, nodes=nodes))
    others = {
        "gpus": tuple(_replaced(gpu, nodes=moved(gpu.nodes)) for gpu in site.gpus),
        "reservations": tuple(
            _replaced(reservation, nodes=moved(reservation.nodes)) for reservation in site.reservations
        ),
        "resources": tuple(
            _replaced(resource, layers=tuple(_replaced(layer, nodes=moved(layer.nodes)) for layer in resource.layers))
            for resource in site.resources
        ),
    }
    return _replaced(site, nodes=len(place) + len(added), partitions=tuple(kept), **others)


def _without_limits(site: Site) -> Site:
    """The site without limits of users, accounts and QOS, and without longest walltimes of partitions."""
    return _replaced(
        site,
        associations=tuple(_replaced(association, limits=Limits()) for association in site.associations),
        qos=tuple(_replaced(qos, limits=Limits()) for qos in site.qos),
        partitions=tuple(
            _replaced(partition, longest_s=None, most_nodes=None, fewest_nodes=1) for partition in site.partitions
        ),
    )


def limits_of(site: Site) -> Iterator[str]:
    """Names of the entries that state limits."""
    for key in ("association", "qos"):
        for entry in getattr(site, TABLES[key][0]):
            if entry.limits != Limits():
                yield f"{key}.{_name(entry)}"
    for partition in site.partitions:
        if partition.longest_s is not None or partition.most_nodes is not None:
            yield f"partition.{partition.name}"


def _checked(site: Site, where: str) -> Site:
    try:
        return parse_site(site_text(site))
    except OptionError as error:
        raise SpecError(f"{where}: {str(error).removeprefix('setting site: ')}") from None


def _replaced(value: S, **fields: Any) -> S:
    return msgspec.structs.replace(value, **fields)
