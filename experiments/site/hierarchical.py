"""Hierarchical resources (HRES) from ``resources.yaml``.

References
----------
SchedMD, *Hierarchical Resource (HRES) Scheduling*; manual page *resources.yaml(5)*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spillway.base.errors import InputError, shown
from spillway.base.hostlist import expanded
from spillway.experiments.site import yaml_subset
from spillway.experiments.site.pieces import Pieces
from spillway.schedulers.model.site_parts import Layer, Resource

_MODES = {"MODE_1": 1, "MODE_2": 2, "MODE_3": 3}


def read_resources(text: str, name: str, pieces: Pieces) -> None:
    """``resources.yaml``.

    Raises
    ------
    InputError
        The text is malformed; names the line, or the place in the lists.
    """
    found = yaml_subset.parse(text, name)
    for number, one in enumerate(_list(found, name)):
        pieces.resources.append(_resource(one, f"{name}: [{number}]", pieces))


def _resource(value: Any, where: str, pieces: Pieces) -> Resource:
    table = _mapping(value, where)
    name, mode = table.get("resource"), table.get("mode")
    if not isinstance(name, str):
        raise InputError(f"{where}: expected the key 'resource' with a name, got {shown(name)}")
    if not isinstance(mode, str) or mode.upper() not in _MODES:
        raise InputError(f"{where}.mode: expected one of {', '.join(_MODES)}, got {shown(mode)}")
    if table.get("disable_hres") is True:
        pieces.notes.append(f"resource {name}: it is disabled at the site, and kept here")
    if table.get("topology"):
        pieces.notes.append(f"resource {name}: its block topology is not kept")
    layers = [
        _layer(one, place, f"{where}.layers[{place}]")
        for place, one in enumerate(_list(table.get("layers"), f"{where}.layers"))
    ]
    return Resource(name, _MODES[mode.upper()], tuple(layers), _values(table.get("variables"), f"{where}.variables"))


def _layer(value: Any, place: int, where: str) -> Layer:
    table = _mapping(value, where)
    nodes = table.get("nodes") or []
    text = ",".join(map(str, nodes)) if isinstance(nodes, list) else str(nodes)
    try:
        expanded(text)
    except ValueError as error:
        raise InputError(f"{where}.nodes: {error}") from None
    count = table.get("count", 0)
    if type(count) is not int or count < -1:
        raise InputError(f"{where}.count: expected a whole number of at least -1, got {shown(count)}")
    if table.get("disable_layer") is True:
        count = 0
    return Layer(
        str(table.get("layer_name") or f"layer{place}"),
        text,
        count,
        str(table.get("parent_name") or ""),
        sum(_values(table.get("base"), f"{where}.base").values()),
    )


def _values(value: Any, where: str) -> dict[str, int]:
    """Names with values, of a list of both."""
    found: dict[str, int] = {}
    for place, one in enumerate(_list(value, where) if value is not None else ()):
        table = _mapping(one, f"{where}[{place}]")
        name, number = table.get("name"), table.get("value", table.get("count"))
        if not isinstance(name, str) or type(number) is not int or number < 0:
            raise InputError(f"{where}[{place}]: expected a name and a whole number of at least 0, got {shown(table)}")
        found[name] = number
    return found


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{where}: expected a list, got {shown(value)}")
    return value


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected keys and values, got {shown(value)}")
    return value
