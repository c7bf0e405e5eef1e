"""Balance of nodes and burst buffers in the queue, by which the thesis's utilisation policies choose their objective.

References
----------
Kopanski, master's thesis 2020, section 3.2 (loads of the queue, balance factor).
"""

from __future__ import annotations

from collections.abc import Iterable

from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine


def nodes_first(machine: Machine, queue: Iterable[Job], balance: float) -> bool:
    """Whether nodes come before burst-buffer bytes.

    They do when the burst-buffer load of the queue (bytes requested / capacity) is at most ``balance`` times its
    compute load (nodes requested / nodes), and always on a machine without burst buffers.

    Parameters
    ----------
    queue
        All waiting jobs.
    balance
        The thesis's beta, at least 0: above 1 nodes come first more often, below 1 burst buffers.
    """
    capacity = sum(storage.capacity_bytes for storage in machine.storages)
    if capacity == 0:
        return True
    nodes, size = 0, 0
    for job in queue:
        nodes += job.nodes
        size += job.requests * job.bb_bytes
    return size / capacity <= balance * (nodes / len(machine.nodes))
