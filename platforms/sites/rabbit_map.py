"""A compute-to-rabbit map: the storage node of each compute node, and the capacity of each storage node.

A JSON object with ``computes`` (rabbit by node) and ``rabbits`` (``capacity`` in bytes and ``hostlist`` by rabbit);
both must agree.

References
----------
flux-framework/flux-coral2, ``flux-rabbitmapping``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spillway.base.hostlist import expanded
from spillway.platforms.description.forms import identifier
from spillway.platforms.errors import PlatformError
from spillway.platforms.sites.inventory import Inventory, RackFacts


def is_map(data: Any) -> bool:
    """Whether a JSON value looks like such a map."""
    return isinstance(data, dict) and ("rabbits" in data or "computes" in data)


def read_map(data: Mapping[str, Any], source: str) -> Inventory:
    """Read a map.

    Raises
    ------
    PlatformError
        The data are not a map, or its two tables contradict each other; the message names the key.
    """
    computes, rabbits = (_table(data.get(key), key, source) for key in ("computes", "rabbits"))
    racks = []
    for name, entry in rabbits.items():
        where = f"rabbits.{_name(name, 'rabbits', source)}"
        table = _table(entry, where, source)
        nodes = _hosts(table.get("hostlist"), f"{where}.hostlist", source)
        for node in nodes:
            if computes.get(node) != name:
                stated = repr(computes[node]) if node in computes else "nothing"
                raise PlatformError(f"{where}.hostlist: node {node!r}: 'computes' says {stated}", source)
        racks.append(RackFacts(nodes, name, _capacity(table.get("capacity"), f"{where}.capacity", source)))
    served = {node for rack in racks for node in rack.nodes}
    for node, rabbit in computes.items():
        if node not in served:
            raise PlatformError(f"computes.{node}: {rabbit!r} does not name this node in its 'hostlist'", source)
    if not racks:
        raise PlatformError("rabbits: expected one rabbit or more, got an empty table", source)
    inventory = Inventory("", tuple(racks), rack_word="chassis")
    inventory.refuse_twins(source)
    return inventory


def _table(value: Any, where: str, source: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PlatformError(f"{where}: expected an object, got {_shown(value)}", source)
    return value


def _name(value: str, where: str, source: str) -> str:
    try:
        return identifier(value)
    except ValueError as error:
        raise PlatformError(f"{where}: {error}", source) from None


def _hosts(value: Any, where: str, source: str) -> tuple[str, ...]:
    if not isinstance(value, str):
        raise PlatformError(f"{where}: expected host names such as n[1-16], got {_shown(value)}", source)
    try:
        return tuple(identifier(name) for name in expanded(value))
    except ValueError as error:
        raise PlatformError(f"{where}: {error}", source) from None


def _capacity(value: Any, where: str, source: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise PlatformError(f"{where}: expected whole bytes, at least 0 and below 2^53, got {_shown(value)}", source)
    return value


def _shown(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
