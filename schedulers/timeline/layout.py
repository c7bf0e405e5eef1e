"""The arrays of a timeline, as all kernels read them: columns, codes, named groups of arguments.

``times: float64[capacity]``
    ``times[k]`` is the start of segment ``k``; the first ``count`` are used and ascend strictly. Segment ``k`` is
    ``[times[k], times[k + 1])``, the last one is endless.
``rows: int64[capacity, width]``
    ``rows[k]`` is what is free in segment ``k``; ``width = HEAD + words + storages + links + pools``::

        rows[k, FREE_NODES]      number of free nodes       (the number of bits set in the words)
        rows[k, FREE_BYTES]      bytes free on all storages (the sum of those of each)
        rows[k, HEAD:]           ``words`` columns, the free nodes: node i is bit i % 64 of word i // 64
                                 ``storages`` columns, bytes free per storage node
                                 ``links`` columns, bytes per second left per link
                                 ``pools`` columns, what is left of each counted pool

``usage: int64[width]``
    What a job holds, in the same columns. Clearing the bit of a node that was free is a subtraction: booking is
    ``rows[k] -= usage`` and giving back ``rows[k] += usage``, in all columns alike.
``capacity: int64[width]``
    The row of the empty machine.
``nearest: int32[nodes, storages]``, ``node_link: int32[nodes]``
    As in :class:`spillway.schedulers.model.machine.Machine`.
``parents: int32[links]``
    The link above each link, -1 at a root. Every link stands after its parent.
``groups: int64[entries, 3]``
    ``(link, word, bits)``, ascending: the nodes of one bitset word that hang directly on one link. Nodes without link
    have the link number ``links``.
``sets: int64[sets, HEAD + words + pools]``, with layered pools ``int64[sets, HEAD + 2 words + layers + pools]``
    Sets of nodes that jobs may be restricted to, as the beginnings of rows: the number of nodes, how many sets follow
    that the same job may use instead, the nodes; with layered pools the nodes of which the job has at least one (none:
    any), which come first, and what it requests of each of the ``layers``; last what it holds of each pool whatever
    its nodes. The first set is the whole machine, with nothing of any pool. The next rows are no sets but the
    ``layers`` themselves, those of resources in modes 2 and 3 (:class:`spillway.schedulers.model.machine.Layered`):
    mode, place among the pools, the nodes.
``work: int64[BACK + count or more, width]``
    Scratch memory. ``work[FULL]`` is ``capacity``, but for the nodes, which are those of the set that is looked at;
    ``work[BELOW]`` has in its link columns the number of nodes below each link; both stay. The rest means nothing
    between calls.
``chosen: int32[2, nodes or storages]``
    Output: ``chosen[0, :r]`` the nodes, ascending, and ``chosen[1, :r]`` the storage of each (if any), or the storages
    of the stripes.

Neighbouring segments always differ: equal ones are joined. A timeline therefore depends only on what is booked, not on
the order of bookings, and every breakpoint is a real change.

Sizes are so small that no sum leaves 64 bits and storage sizes are exact in a double:
:class:`spillway.schedulers.timeline.tables.Tables` ensures it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FREE_NODES, FREE_BYTES, HEAD = 0, 1, 2
"""Columns of a row: totals, and where the rest begins."""

FULL, BELOW, FORWARD, WINDOW, SPARE, SINCE, TAKEN, BACK = 0, 1, 2, 3, 4, 5, 6, 7
"""Rows of ``work``: the empty machine, nodes below links, windows, scratch, since when free bytes are as they will be,
how many requests of the job lie on each storage node, and from ``BACK`` on one window per segment."""

FIRST_FIT, SPREAD, PACK = 0, 1, 2
"""Codes of :class:`spillway.schedulers.timeline.placement.NodeOrder`."""

NEAREST, BY_ID, RACK, FULLEST, FULLEST_AT_END, EMPTIEST, LEAST_LOADED, COMPACT, SPREAD_OUT, EQUAL = range(10)
"""Codes of :class:`spillway.schedulers.timeline.placement.StorageOrder`: up to ``RACK`` the first one that fits is
taken, from ``EMPTIEST`` on the one with most bytes left is better."""

USE_NODES, USE_STORAGES, USE_LINKS, USE_POOLS = 1, 2, 4, 8
USE_ALL = 15
"""Resources that a question or a booking is about; the values of
:class:`spillway.schedulers.timeline.placement.Resource`."""

STRIPED, LAYERED = 16, 32
"""Beside these: each request lies on a storage node of its own; what the job holds of pools depends on its nodes."""

MODE, POOL = 0, 1
"""Columns of rows of ``sets`` that are layers."""

BAD_NODE, BAD_STORAGE, BAD_COUNT = -1_000_000_001, -1_000_000_002, -1_000_000_003
"""What is wrong with an allocation: unknown or repeated node, unknown storage, not one storage per node."""


class Demand(NamedTuple):
    """What a job requests: nodes, bytes per request, I/O rate per node, which resources count (``USE_...``), requests,
    the first of the sets of nodes that it may use one of.

    ``USE_STORAGES`` if and only if ``bb_bytes > 0``; ``USE_LINKS`` if and only if ``io_rate > 0`` and there are links;
    ``USE_POOLS`` if and only if it holds something of a pool, ``LAYERED`` only with it and ``USE_NODES``;
    ``USE_NODES`` unless nodes are to be ignored. There are
    as many requests as nodes unless they are ``STRIPED``; then at most as many as storage nodes.
    """

    nodes: int
    bb_bytes: int
    io_rate: int
    uses: int
    requests: int
    first_set: int


Row = tuple[int, int, int, int, int, int]
"""A :class:`Demand` without its names."""


class Machine(NamedTuple):
    """The machine and the rules of placement: numbers of words and of storages, codes, arrays as above.

    ``own: int32[nodes]`` is how many of the nearest storages are of the node's own rack.
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
    """What booking needs of the machine: numbers of words and storages, links, what there is in all.

    ``pools: int64[pools]`` is what the allocation that is booked has of each pool.
    """

    words: int
    storages: int
    node_link: npt.NDArray[np.int32]
    parents: npt.NDArray[np.int32]
    capacity: npt.NDArray[np.int64]
    pools: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """What the kernels write to, as above."""

    work: npt.NDArray[np.int64]
    usage: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int32]


class Grant(NamedTuple):
    """An allocation to be booked: node and storage indices, bytes per request, I/O rate per node, what counts.

    What it has of the pools is in the :class:`Tree`.
    """

    nodes: npt.NDArray[np.int32]
    storages: npt.NDArray[np.int32]
    bb_bytes: int
    io_rate: int
    uses: int
