"""The arrays of a timeline that all kernels read: columns, codes, named groups of arguments.

``times: float64[capacity]``
    ``times[k]`` is the start of segment ``k``; the first ``count`` are used and ascend strictly. Segment ``k`` is
    ``[times[k], times[k + 1])``, the last one is endless.
``rows: int64[capacity, width]``
    ``rows[k]`` has the free resources of segment ``k``; ``width = HEAD + words + storages + links + pools``::

        rows[k, FREE_NODES]      number of free nodes       (the number of bits set in the words)
        rows[k, FREE_BYTES]      bytes free on all storages (the sum over them)
        rows[k, HEAD:]           ``words`` columns, the free nodes: node i is bit i % 64 of word i // 64
                                 ``storages`` columns, bytes free per storage node
                                 ``links`` columns, bytes per second left per link
                                 ``pools`` columns, amount left of each counted pool

``usage: int64[width]``
    Holdings of a job, in the same columns. Clearing the bit of a node that was free is a subtraction: booking is
    ``rows[k] -= usage`` and releasing ``rows[k] += usage``, in all columns alike.
``capacity: int64[width]``
    The row of the empty machine.
``nearest: int32[nodes, storages]``, ``node_link: int32[nodes]``
    As in :class:`spillway.schedulers.model.machine.Machine`.
``parents: int32[links]``
    The link above each link, -1 at a root. Every link comes after its parent.
``groups: int64[entries, 3]``
    ``(link, word, bits)``, ascending: the nodes of one bitset word that are directly under one link. Nodes without link
    have the link number ``links``.
``sets: int64[sets, HEAD + words + pools]``, with layered pools ``int64[sets, HEAD + 2 words + layers + pools]``
    Sets of nodes that jobs may be restricted to, as the beginnings of rows: the number of nodes, the number of
    following sets that the same job may use instead, the nodes; with layered pools the nodes that are taken first, of
    which the job needs at least one (all zero: no restriction), and its request for each of the ``layers``; last the
    amounts that it holds of each pool whatever its nodes. The first set is the whole machine, with nothing of any pool.
    The next rows are no sets but the ``layers`` themselves, those of resources in modes 2 and 3
    (:class:`spillway.schedulers.model.machine.Layered`): mode, place among the pools, the nodes.
``work: int64[BACK + count or more, width]``
    Scratch memory. ``work[FULL]`` is ``capacity``, but with the nodes of the current set; ``work[BELOW]`` has in its
    link columns the number of nodes below each link; both stay. The other rows mean nothing between calls.
``chosen: int32[2, nodes or storages]``
    Output: ``chosen[0, :r]`` the nodes, ascending, and ``chosen[1, :r]`` the storage of each (if any), or the storages
    of the stripes.

Neighbouring segments always differ: equal ones are joined. A timeline therefore depends only on its bookings, not on
their order, and every breakpoint is a real change.

:class:`spillway.schedulers.timeline.tables.Tables` ensures that no sum exceeds 64 bits and that storage sizes are exact
in a double.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FREE_NODES, FREE_BYTES, HEAD = 0, 1, 2
"""Columns of a row: the totals, and the first of the others."""

FULL, BELOW, FORWARD, WINDOW, SPARE, SINCE, TAKEN, BACK = 0, 1, 2, 3, 4, 5, 6, 7
"""Rows of ``work``: the empty machine, nodes below links, windows, scratch, the first segment with the final free bytes
of each storage node, the job's number of requests on each storage node, and from ``BACK`` on one window per segment."""

FIRST_FIT, SPREAD, PACK = 0, 1, 2
"""Codes of :class:`spillway.schedulers.timeline.placement.NodeOrder`."""

NEAREST, BY_ID, RACK, FULLEST, FULLEST_AT_END, EMPTIEST, LEAST_LOADED, COMPACT, SPREAD_OUT, EQUAL = range(10)
"""Codes of :class:`spillway.schedulers.timeline.placement.StorageOrder`: up to ``RACK`` the first one that fits is
taken, from ``EMPTIEST`` on the one with most bytes left is better."""

USE_NODES, USE_STORAGES, USE_LINKS, USE_POOLS = 1, 2, 4, 8
USE_ALL = 15
"""Resources of a search or a booking; the values of :class:`spillway.schedulers.timeline.placement.Resource`."""

STRIPED, LAYERED = 16, 32
"""Further flags: each request has a storage node of its own; the amounts held of pools depend on the job's nodes."""

MODE, POOL = 0, 1
"""Columns of rows of ``sets`` that are layers."""

BAD_NODE, BAD_STORAGE, BAD_COUNT = -1_000_000_001, -1_000_000_002, -1_000_000_003
"""Codes of faults of an allocation: unknown or repeated node, unknown storage, not one storage per node."""


class Demand(NamedTuple):
    """Demand of a job.

    Its nodes, bytes per request, I/O rate per node, resources that count (``USE_...``), requests, and the first of its
    alternative sets of nodes.

    ``USE_STORAGES`` if and only if ``bb_bytes > 0``; ``USE_LINKS`` if and only if ``io_rate > 0`` and there are links;
    ``USE_POOLS`` if and only if the job requests pools, ``LAYERED`` only with it and ``USE_NODES``; ``USE_NODES``
    unless nodes are to be ignored. There are as many requests as nodes unless they are ``STRIPED``; then at most as
    many as storage nodes.
    """

    nodes: int
    bb_bytes: int
    io_rate: int
    uses: int
    requests: int
    first_set: int


Row = tuple[int, int, int, int, int, int]
"""A :class:`Demand` as a plain tuple."""


class Machine(NamedTuple):
    """The machine and the rules of placement: numbers of words and of storages, codes, arrays as above.

    ``own: int32[nodes]`` is the number of nearest storages that are in the node's own rack.
    """

    words: int
    storages: int
    node_order: int
    storage_order: int
    nearest: npt.NDArray[np.int32]
    own: npt.NDArray[np.int32]
    node_link: npt.NDArray[np.int32]
    parents: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int64]
    sets: npt.NDArray[np.int64]


class Tree(NamedTuple):
    """The machine's data for bookings: numbers of words and storages, links, capacities.

    ``pools: int64[pools]`` has the amounts of each pool in the allocation that is booked.
    """

    words: int
    storages: int
    node_link: npt.NDArray[np.int32]
    parents: npt.NDArray[np.int32]
    capacity: npt.NDArray[np.int64]
    pools: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """The arrays to which kernels write, as above."""

    work: npt.NDArray[np.int64]
    usage: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int32]


class Grant(NamedTuple):
    """An allocation to be booked: node and storage indices, bytes per request, I/O rate per node, resources that count.

    Its amounts of the pools are in the :class:`Tree`.
    """

    nodes: npt.NDArray[np.int32]
    storages: npt.NDArray[np.int32]
    bb_bytes: int
    io_rate: int
    uses: int
