"""A machine with some of its figures changed, as by an operator who buys, sells or rewires parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spillway.base import units
from spillway.experiments.run.errors import SpecError
from spillway.platforms.description.machine import Description, Rack

NODES = "nodes"
CAPACITY = "storage.capacity"
STORAGE_BANDWIDTH = "storage.bandwidth"
PFS_BANDWIDTH = "pfs.bandwidth"

QUANTITIES: Mapping[str, tuple[str, units.Scale | None]] = {
    NODES: ("compute nodes; storage nodes come with their switches", None),
    CAPACITY: ("capacity of each storage node", units.SIZE),
    STORAGE_BANDWIDTH: ("bandwidth of the link of each storage node", units.BANDWIDTH),
    PFS_BANDWIDTH: ("bandwidth of the file system", units.BANDWIDTH),
}
"""Quantities that can be changed: meaning, and units if any."""


def text_of(changes: Mapping[str, str]) -> str:
    """``storage.capacity=x1.2 nodes=120``."""
    return " ".join(f"{key}={value}" for key, value in changes.items())


def _new_value(key: str, text: str, now: float, scale: units.Scale | None = None) -> float:
    """The value that a text stands for (:func:`spillway.base.units.changed`).

    Raises
    ------
    SpecError
        The text is neither a change nor a value, or the result is not above 0.
    """
    try:
        return units.changed(text, now, scale)
    except ValueError as error:
        raise SpecError(f"{key}={text}: {error}") from None


def changed(
    source: str, base: Description, changes: Mapping[str, str], resized: Callable[[int], tuple[int, Description]] | None
) -> tuple[Description, tuple[str, ...]]:
    """Make a description with these changes, and notes that state both values of each.

    Parameters
    ----------
    source
        Names the machine in errors.
    resized
        Returns, for a number of nodes, the present number and the description with the new one; ``None`` if the
        description states the places of its nodes one by one.

    Raises
    ------
    SpecError
        The machine has no such part, or the value is wrong.
    """
    made, notes = base, []
    if NODES in changes:
        if resized is None:
            raise SpecError(
                f"{NODES}={changes[NODES]}: only a machine that is given by its number of nodes (the log's header, or "
                f"--nodes) can be resized; edit the description {source!r}"
            )
        made, note = _resized(base, changes[NODES], resized)
        notes.append(note)
    for key, (_, scale) in QUANTITIES.items():
        if key in changes and scale is not None:
            table, _, field = key.partition(".")
            part = _part(source, made, key)
            now = getattr(part, field)
            value = _new_value(key, changes[key], float(now), scale)
            value = round(value) if isinstance(now, int) else value
            fields: dict[str, Any] = {field: value}
            tables: dict[str, Any] = {table: replace(part, **fields)}
            made = replace(made, **tables)
            if key == CAPACITY:
                made = _own_capacities(made, changes[key], float(now))
            notes.append(f"{key} is {scale.write(float(value))}, not {scale.write(float(now))}")
    return made, tuple(notes)


def _own_capacities(machine: Description, text: str, now: float) -> Description:
    """Racks that state a capacity change as the others do: by the same factor, or to the same value (bytes)."""

    def changed_rack(rack: Rack) -> Rack:
        if rack.capacity is None:
            return rack
        own = rack.capacity if units.change_of(text, units.SIZE).factor else now
        return replace(rack, capacity=round(_new_value(CAPACITY, text, own, units.SIZE)))

    return replace(
        machine,
        cluster=tuple(
            replace(tree_cluster, rack=tuple(map(changed_rack, tree_cluster.rack))) for tree_cluster in machine.cluster
        ),
    )


def _resized(
    base: Description, text: str, resized: Callable[[int], tuple[int, Description]]
) -> tuple[Description, str]:
    """Change the number of nodes; the file system and each storage node stay as they are."""
    now, _ = resized(1)
    nodes = _new_value(NODES, text, now)
    if not units.change_of(text).start:  # a factor
        nodes = max(1.0, round(nodes))
    if nodes != round(nodes):
        raise SpecError(f"{NODES}={text}: expected a whole number of nodes")
    _, made = resized(int(nodes))
    storage = made.storage
    if storage is not None and base.storage is not None:
        storage = replace(storage, capacity=base.storage.capacity)
    return replace(made, storage=storage, pfs=base.pfs), f"it has {int(nodes)} compute nodes, not {now}"


def _part(source: str, machine: Description, key: str) -> Any:
    """The table that a key is in."""
    part = machine.storage if key.startswith("storage.") else machine.pfs
    if part is None:
        raise SpecError(
            f"{key}: the machine {source!r} has no {'storage nodes' if 'storage' in key else 'file system'}"
        )
    if key == STORAGE_BANDWIDTH and machine.topology == "dragonfly":
        raise SpecError(
            f"{key}: the machine {source!r} is a Dragonfly: its storage nodes share the links of its routers; a "
            "description of its own (--platform FILE.toml) can change dragonfly.bandwidth"
        )
    if key == STORAGE_BANDWIDTH and machine.storage is not None and machine.storage.has_devices:
        raise SpecError(
            f"{key}: the storage nodes of the machine {source!r} state the bandwidths of their devices; edit "
            "storage.read_bandwidth and storage.write_bandwidth in a description of its own (--platform FILE.toml)"
        )
    return part
