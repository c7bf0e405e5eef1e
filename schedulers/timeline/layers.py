"""Layered pools: on which nodes a request can be met, and out of which layers.

A resource of mode 1 is paid by one layer, of which the job has a node at least: each layer that is large enough is a
choice, the one with the fewest nodes first. In mode 2 all layers pay that have a node of the job, in mode 3 as often as
they have one: which these are follows from the nodes. Nodes that belong to no layer of a resource do not serve. Mode 0
is that alone: nothing is held.
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
        Of these it has at least one, and as many as there are before any others; empty: no matter which.
    amounts
        What it holds of the pools whatever its nodes.
    by_node
        What it requests of each layer in modes 2 and 3, in the order of :func:`layers_by_node`.
    """

    nodes: Collection[int]
    needed: Collection[int] = ()
    amounts: tuple[int, ...] = ()
    by_node: tuple[int, ...] = ()


def layers_by_node(machine: Machine) -> list[int]:
    """Pools of which a job holds what follows from its nodes: layers in modes 2 and 3."""
    return [place for place in range(len(machine.pools)) if machine.layer_mode(place) > 1]


def choices(machine: Machine, nodes: Iterable[int], pools: tuple[int, ...]) -> Iterator[Choice]:
    """The ways to meet a request for pools on some nodes, the best first; none where it can never be met.

    How many nodes the job needs is not looked at.
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
