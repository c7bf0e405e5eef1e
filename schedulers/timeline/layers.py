"""Layered pools: the nodes on which a request can be met, and the layers that pay for it.

A resource of mode 1 is paid by one layer that has at least one node of the job: each layer that is large enough is a
choice, the one with the fewest nodes first. In mode 2 every layer with a node of the job pays, in mode 3 once for each
of these nodes: the nodes determine the layers. Nodes that belong to no layer of a resource cannot be used. Mode 0 only
restricts the nodes: nothing is held.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import product
from typing import NamedTuple

from spillway.schedulers.model.machine import Machine


class Choice(NamedTuple):
    """A way to meet a request.

    Attributes
    ----------
    nodes
        Nodes that the job may have.
    needed
        Nodes of these that are taken before all others; the job needs at least one of them. Empty: no restriction.
    amounts
        Amounts that it holds of the pools, whatever its nodes.
    by_node
        Amounts that it requests of each layer in modes 2 and 3, in the order of :func:`layers_by_node`.
    """

    nodes: Collection[int]
    needed: Collection[int] = ()
    amounts: tuple[int, ...] = ()
    by_node: tuple[int, ...] = ()


def layers_by_node(machine: Machine) -> list[int]:
    """Pools for which the amount that a job holds depends on its nodes: layers in modes 2 and 3."""
    return [place for place in range(len(machine.pools)) if machine.layer_mode(place) > 1]


def choices(machine: Machine, nodes: Iterable[int], pools: tuple[int, ...]) -> Iterator[Choice]:
    """Yield the ways to meet a request for pools on some nodes, the best first; nothing if it can never be met.

    The number of nodes that the job needs is not checked.
    """
    by_node = layers_by_node(machine)
    requested = [*pools, *[0] * (len(machine.pools) - len(pools))][: len(machine.pools)]
    layered: dict[str, list[int]] = {}
    for place, pool in enumerate(machine.pools):
        if pool.layer is None:
            if requested[place] > pool.count:
                return
        elif requested[place]:
            layered.setdefault(pool.layer.resource, []).append(place)
    usable, payers = frozenset(nodes), []
    for places in layered.values():
        amount, own = requested[places[0]], {place: machine.layer_nodes(place) for place in places}
        usable &= frozenset().union(*own.values())
        if machine.layer_mode(places[0]) == 0:
            continue
        enough = [place for place in places if machine.pools[place].count >= amount]
        if places[0] in by_node:
            usable = usable.difference(*(own[place] for place in own.keys() - set(enough)))
        else:
            payers.append(sorted(enough, key=lambda place: len(own[place])))
    for chosen in product(*payers):
        needed = usable.intersection(*map(machine.layer_nodes, chosen)) if chosen else frozenset[int]()
        if chosen and not needed:
            continue
        amounts = [
            amount if machine.pools[place].layer is None or place in chosen else 0
            for place, amount in enumerate(requested)
        ]
        yield Choice(usable, needed, tuple(amounts), tuple(requested[place] for place in by_node))
