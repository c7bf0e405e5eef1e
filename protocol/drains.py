"""The external event that drains a part of storage nodes: spillway's own, forwarded by Batsim unchanged.

A line of a file of events is ``{"timestamp": 600, "type": "storage_drained", "resources": "8-9", "bytes": 5000000}``:
from then on this total number of bytes of each of these storage nodes is not available to jobs; ``"bytes": 0`` makes
all of them available again. Batsim does not have this event, so it needs ``--forward-unknown-events``; a NOTIFY then
carries the whole object.
"""

from __future__ import annotations

from typing import NamedTuple

from spillway.base.errors import shown
from spillway.protocol.intervals import parse_intervals
from spillway.protocol.messages import JsonObject

STORAGE_DRAINED = "storage_drained"
"""Type of the event."""


class Drain(NamedTuple):
    """Resource ids of storage nodes, and the number of bytes of each that are drained from now on."""

    resources: tuple[int, ...]
    drained_bytes: int


def read_drain(data: JsonObject) -> Drain:
    """Read the event; raise ValueError that names the field. Whole numbers may be written with decimals."""
    resources: object = data.get("resources")
    size: object = data.get("bytes")
    if not isinstance(resources, str) or not resources.strip():
        raise ValueError(f"field 'resources' must be ids of storage nodes such as '8-9', got {shown(resources)}")
    if isinstance(size, float) and size.is_integer():
        size = int(size)
    if type(size) is not int or not 0 <= size < 2**63:
        raise ValueError(f"field 'bytes' must be a whole number of at least 0, got {shown(size)}")
    return Drain(parse_intervals(resources), size)
