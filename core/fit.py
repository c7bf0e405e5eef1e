"""Answers of searches in a timeline."""

from __future__ import annotations

from typing import NamedTuple

from spillway.core._native import Allocation


class Fit(NamedTuple):
    """The earliest start of a job and its allocation there.

    Attributes
    ----------
    start_s
        Start in seconds; of the burst buffer, where the holdings have lives of their own.
    allocation
        Nodes, storages and bandwidth, of the covered resources only.
    """

    start_s: float
    allocation: Allocation


class Free(NamedTuple):
    """Resources that are free without interruption over some time.

    Attributes
    ----------
    nodes
        Indices of the free nodes, ascending.
    free_bytes
        Bytes per storage node.
    bandwidths
        Bytes per second per link.
    pools
        Amounts of each counted pool.
    """

    nodes: tuple[int, ...]
    free_bytes: list[int]
    bandwidths: list[int]
    pools: list[int]


DemandRow = tuple[int, int, int, int, int, int]
"""A job's request in whole numbers, as searches over many jobs take them (``JobDemand`` in ``book/machine.hpp``)."""
