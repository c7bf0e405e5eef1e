"""Hosts of a machine as the compiled runtime takes them: Batsim's numbers, and the I/O node of each compute node.

References
----------
Jeannot, Pallez, Vidal, IJHPCA 2023 (DOI 10.1177/10943420231175854), section "Machine Model".
"""

from __future__ import annotations

from spillway.core import Hosts
from spillway.schedulers.model.machine import Machine


def hosts_of(machine: Machine, depth: int = 0) -> Hosts:
    """Hosts of a machine.

    Parameters
    ----------
    machine
        The machine.
    depth
        Number of leading parts of a compute node's location that name its I/O node, at least 0; 0: one for the whole
        machine. Nodes without a location share one.
    """
    numbers: dict[tuple[str, ...], int] = {}
    return Hosts(
        [node.resource_id for node in machine.nodes],
        [storage.resource_id for storage in machine.storages],
        machine.pfs_id,
        [numbers.setdefault(node.location[:depth], len(numbers)) for node in machine.nodes],
    )
