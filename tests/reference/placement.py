"""The number of nodes that links carry together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spillway.schedulers.model.machine import Machine


def carried_nodes(machine: Machine, free: Iterable[int], bandwidth: Sequence[int], io_rate: int) -> int:
    """Number of ``free`` nodes that can get ``io_rate`` bytes per second each, with ``bandwidth`` left per link.

    A link carries ``min(floor(bandwidth / io_rate), nodes carried by its children + its own free nodes)``; nodes
    without link are not limited.

    References
    ----------
    Herbein et al., HPDC 2016, section 3.4 (DOI 10.1145/2907294.2907316).
    """
    if io_rate == 0:
        return len(list(free))
    brought = [0] * len(machine.links)
    unlimited = 0
    for node in free:
        link = int(machine.node_link[node])
        if link >= 0:
            brought[link] += 1
        else:
            unlimited += 1
    for link in range(len(machine.links) - 1, -1, -1):  # every link comes after its parent
        carried = min(bandwidth[link] // io_rate, brought[link])
        parent = machine.links[link].parent
        if parent >= 0:
            brought[parent] += carried
        else:
            unlimited += carried
    return unlimited
