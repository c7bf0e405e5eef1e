"""I/O nodes of compute nodes: one for the machine, or one per place in the topology (a rack, for example).

References
----------
Jeannot, Pallez, Vidal, IJHPCA 2023 (DOI 10.1177/10943420231175854), section "Machine Model".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spillway.schedulers.model.machine import Machine


class IoNodes:
    """I/O nodes of a machine.

    Parameters
    ----------
    machine
        The machine.
    depth
        Number of leading parts of a compute node's location that name its I/O node, at least 0; 0: one for the whole
        machine. Nodes without a location share one.
    """

    def __init__(self, machine: Machine, depth: int = 0) -> None:
        numbers: dict[tuple[str, ...], int] = {}
        self._of = [numbers.setdefault(node.location[:depth], len(numbers)) for node in machine.nodes]
        self.count = len(numbers)

    def groups(self, nodes: Sequence[int]) -> Mapping[int, tuple[int, ...]]:
        """Node indices (ascending) by I/O node; the I/O nodes ascend, too."""
        if self.count == 1:
            return {0: tuple(nodes)}
        found: dict[int, list[int]] = {}
        for node in nodes:
            found.setdefault(self._of[node], []).append(node)
        return {number: tuple(found[number]) for number in sorted(found)}
