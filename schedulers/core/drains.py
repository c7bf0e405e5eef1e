"""Drains of parts of storage nodes: events are checked against the machine."""

from __future__ import annotations

from spillway.base.errors import RemoteProtocolError
from spillway.protocol.drains import read_drain
from spillway.protocol.messages import JsonObject
from spillway.schedulers.model.machine import Machine


def drained_by(machine: Machine, data: JsonObject) -> dict[int, int]:
    """Bytes that are drained from now on, by storage index.

    Raises
    ------
    RemoteProtocolError
        A field is wrong, a resource is no storage node with burst buffers, or it has less than is drained.
    """
    try:
        drain = read_drain(data)
    except ValueError as error:
        raise RemoteProtocolError(str(error), "$") from None
    places = {storage.resource_id: place for place, storage in enumerate(machine.storages)}
    for resource in drain.resources:
        if resource not in places:
            raise RemoteProtocolError(
                f"expected ids of storage nodes with burst buffers ({_few(sorted(places))}), got {resource}",
                "$.resources",
            )
        capacity = machine.storages[places[resource]].capacity_bytes
        if drain.drained_bytes > capacity:
            name = machine.storages[places[resource]].name
            raise RemoteProtocolError(
                f"storage node {name} has {capacity} bytes: {drain.drained_bytes} of them cannot be drained", "$.bytes"
            )
    return {places[resource]: drain.drained_bytes for resource in drain.resources}


def _few(ids: list[int]) -> str:
    shown = [str(one) for one in ids[:4]] + (["..."] if len(ids) > 4 else [])
    return ", ".join(shown) or "the machine has no such node"
