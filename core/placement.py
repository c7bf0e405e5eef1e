"""Rules by which a fit chooses nodes and storage nodes."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class NodeOrder(enum.Enum):
    """Order in which a job gets qualifying nodes."""

    FIRST_FIT = "first-fit"
    """Lowest index first (thesis 4.2), skipping nodes under a full link."""
    SPREAD = "spread"
    """Node by node, most bandwidth left on the innermost link after the job's other nodes; ties: lowest index."""
    PACK = "pack"
    """Node by node, least bandwidth left on the innermost link that still serves it; ties: lowest index."""


class StorageOrder(enum.Enum):
    """Choice of the storage node for a node's burst-buffer request, for one node after the other."""

    NEAREST = "nearest"
    """First with enough free bytes (thesis 4.2: own chassis, own group, rest), in the order of
    :attr:`spillway.schedulers.model.machine.Machine.nearest_storages`."""
    BY_ID = "by-id"
    """Lowest index with enough free bytes."""
    RACK = "rack"
    """As ``nearest``, but only in the node's own rack (:func:`spillway.schedulers.core.feasible.own_storages`): a
    node with too few free bytes in its rack is passed over, and the job waits if too few nodes are left. A striped
    buffer belongs to no node: as ``nearest``.
    """
    EMPTIEST = "emptiest"
    """Most bytes left after the job's other requests; ties: lowest index."""
    FULLEST = "fullest"
    """Fewest bytes left that still hold the request; ties: lowest index."""
    FULLEST_AT_END = "fullest-at-end"
    """Among those with enough free bytes, fewest bytes left once the job has ended; ties: the latest change to that
    number of free bytes, then fewest bytes left, then lowest index.

    Jobs that end late thus share storage nodes, and storage nodes with jobs that end soon become entirely empty: space
    for jobs that need a whole storage node per request. A job that will be the last one in any case follows the others
    closely, so that storage nodes that are empty for longer stay empty.
    """
    LEAST_LOADED = "least-loaded"
    """Largest share of the capacity left after the job's other requests; ties: most bytes left, then lowest index."""
    COMPACT = "compact"
    """One that holds a request of this job already, otherwise most bytes left: on as few storage nodes as possible."""
    SPREAD = "spread"
    """One that holds no request of this job yet, then most bytes left: on as many storage nodes as possible."""
    EQUAL = "equal"
    """Fewest requests of this job, then most bytes left: on as many storage nodes as possible, in equal shares."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The two rules of placement. The default is the thesis's.

    Attributes
    ----------
    node_order
        Rule for nodes. ``SPREAD`` and ``PACK`` compare the links above the nodes; for a job without I/O rate, and on a
        machine without links, they are ``FIRST_FIT``.
    storage_order
        Rule for burst buffers.
    """

    node_order: NodeOrder = NodeOrder.FIRST_FIT
    storage_order: StorageOrder = StorageOrder.NEAREST
