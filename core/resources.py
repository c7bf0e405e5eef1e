"""Kinds of resources."""

from __future__ import annotations

import enum


class Resource(enum.Flag):
    """A kind of resource; a reservation covers a union of kinds."""

    NODES = 1
    """Compute nodes, by identity."""
    BURST_BUFFERS = 2
    """Bytes on storage nodes."""
    BANDWIDTH = 4
    """Bytes per second on the links above the nodes."""
    POOLS = 8
    """Counted pools (licenses)."""
    ALL = NODES | BURST_BUFFERS | BANDWIDTH | POOLS
