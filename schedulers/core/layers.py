"""Hierarchical resources: layers as pools, amounts in allocations, and jobs that can never have their amounts.

References
----------
SchedMD, *Hierarchical Resource (HRES) Scheduling* (modes 1 to 3, counts of 0 and -1, base loads).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from spillway.base.errors import OptionError, shown
from spillway.core import Placement, Timeline
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.core.allocation import links_above
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.machine import CountedPool, Machine, PoolLayer
from spillway.schedulers.model.site import Site
from spillway.schedulers.model.site_parts import Layer, base_loads

GPUS = "gpus"
"""First word of the names of pools of nodes with at least N GPUs; N is the second word, and the pool's count."""

_INFINITE = 2**61
"""An unlimited count: more than jobs can hold together."""


def layer_pools(site: Site, nodes: int) -> tuple[CountedPool, ...]:
    """The layers of a site's resources as pools, on a machine with ``nodes`` nodes; base loads are subtracted.

    For each number of GPUs there is a pool of mode 0: all nodes with at least as many.

    Raises
    ------
    OptionError
        A layer has nodes that the machine does not have.
    """
    found = []
    for resource in site.resources:
        own = {layer.name: frozenset(parse_intervals(layer.nodes)) for layer in resource.layers}
        inside = {
            name: own[name].union(*(own[layer_name] for layer_name in _below(resource.layers, name))) for name in own
        }
        bases = base_loads(resource)
        for layer in resource.layers:
            name = f"{resource.name} of layer {layer.name}"
            last = max(inside[layer.name], default=0)
            if last >= nodes:
                raise OptionError(
                    f"resource {shown(resource.name)}, layer {shown(layer.name)} has node {last}, the platform's are 0 "
                    f"to {nodes - 1}: choose a platform with more nodes, or correct the site file"
                )
            count = _INFINITE if layer.count < 0 else layer.count - bases[layer.name]
            found.append(CountedPool(name, count, layer=PoolLayer(resource.name, resource.mode, inside[layer.name])))
    for most in sorted({gpu.count for gpu in site.gpus}):
        having = [gpu for gpu in site.gpus if gpu.count >= most]
        inside_of = [parse_intervals(gpus.nodes) if gpus.nodes else range(nodes) for gpus in having]
        with_gpus = frozenset().union(*inside_of)
        if max(with_gpus, default=0) >= nodes:
            raise OptionError(
                f"table gpu has node {max(with_gpus)}, the platform's are 0 to {nodes - 1}: choose a platform with "
                "more nodes, or correct the site file"
            )
        found.append(CountedPool(f"{GPUS} {most}", most, layer=PoolLayer(f"{GPUS} {most}", 0, with_gpus)))
    return tuple(found)


def _below(layers: Iterable[Layer], name: str) -> Iterator[str]:
    """Names of the layers below one, directly or indirectly."""
    for layer in layers:
        if layer.parent == name:
            yield layer.name
            yield from _below(layers, layer.name)


class Layers:
    """Finds jobs that can never have their amounts of hierarchical resources.

    Parameters
    ----------
    machine
        The machine, with the layers among its pools.
    placement
        Choice of nodes and storage nodes for a request.
    """

    def __init__(self, machine: Machine, placement: Placement) -> None:
        self._machine = machine
        self._empty = Timeline(machine, 0.0, placement)
        self._crossing: dict[tuple[str, ...], str | None] = {}

    def assign(self, job: Job) -> tuple[Job, str | None]:
        """Restrict a job to partitions that can serve it; also return the reason why no partition can, or ``None``.

        Its amounts must be assigned already.
        """
        machine = self._machine
        requested = {resource: amount for resource, (amount, _) in requests(machine, job.pools).items()}
        if not requested:
            return job, None
        links = bool(job.io_rate and machine.links)
        names = (*requested, *(["links"] if links else []))
        if names not in self._crossing:
            self._crossing[names] = self._crosses([*requested], links=links)
        if self._crossing[names] is not None:
            return job, self._crossing[names]
        alone = replaced(job, pools=job.pools[: len(machine.pools)])
        ways: list[tuple[int, ...]] = [(place,) for place in job.partitions]
        serving = [way for way in ways or [()] if self._empty.fit_now(replaced(alone, partitions=way), 1.0)]
        if serving:
            return replaced(job, partitions=tuple(place for way in serving for place in way)), None
        amounts = ", ".join(
            f"{job.gpus} GPUs" if resource.startswith(f"{GPUS} ") else f"{amount} of {resource}"
            for resource, amount in requested.items()
        )
        return job, f"no {job.nodes} nodes together have {amounts}, even when all are free"

    def _crosses(self, resources: list[str], *, links: bool) -> str | None:
        """The reason why two sets of nodes with a common limit overlap without nesting; ``None`` if no two do.

        Where all sets are nested or disjoint, choosing nodes one by one finds as many as possible.
        """
        machine, sets = self._machine, dict[str, set[int]]()
        for pool in machine.pools:
            if pool.layer is not None and pool.layer.mode == 3 and pool.layer.resource in resources:
                sets[pool.name] = set(pool.layer.nodes)
        if sets and links:
            for node in range(len(machine.nodes)):
                for link in links_above(machine, node):
                    sets.setdefault(f"link {machine.links[link].name}", set()).add(node)
        for (name, nodes), (other, others) in combinations(sets.items(), 2):
            if nodes & others and not (nodes <= others or others <= nodes):
                return f"{name} and {other} share some of their nodes only: a job cannot request both"
        return None


def requests(machine: Machine, pools: tuple[int, ...]) -> dict[str, tuple[int, list[int]]]:
    """Requests of hierarchical resources by name: the amount, and the layers' indices among the pools."""
    found: dict[str, tuple[int, list[int]]] = {}
    for place, (pool, amount) in enumerate(zip(machine.pools, pools, strict=False)):
        if pool.layer is not None and amount:
            found.setdefault(pool.layer.resource, (amount, []))[1].append(place)
    return found


def fault(machine: Machine, job: Job, nodes: Iterable[int], pools: tuple[int, ...]) -> str | None:
    """The first fault of an allocation's pools for a job on these nodes; ``None`` for no fault."""
    held = [*pools, *[0] * (len(machine.pools) - len(pools))]
    expected = [*map(abs, job.pools), *[0] * (len(machine.pools) - len(job.pools))]
    chosen = frozenset(nodes)
    for resource, (amount, places) in requests(machine, job.pools).items():
        inside = {place: len(chosen & machine.layer_nodes(place)) for place in places}
        outside = chosen.difference(*map(machine.layer_nodes, places))
        if outside and resource.startswith(f"{GPUS} "):
            return f"node {machine.nodes[min(outside)].name} has fewer than {job.gpus} GPUs"
        if outside:
            return f"node {machine.nodes[min(outside)].name} belongs to no layer of {resource}"
        mode = machine.layer_mode(places[0])
        if mode == 1:
            payers = [place for place in places if held[place]]
            if len(payers) != 1 or not inside[payers[0]]:
                return f"one layer of {resource} that has a node of the allocation must pay, got {len(payers)}"
            inside = {place: int(place in payers) for place in places}
        for place in places:
            expected[place] = amount * (inside[place] if mode == 3 else min(mode, 1, inside[place]))
    for pool, wanted, other in zip(machine.pools, expected, held, strict=True):
        if wanted != other:
            return f"it holds {wanted} of {pool.name}, the allocation has {other}"
    return None


def growable(machine: Machine, job: Job, pools: tuple[int, ...], nodes: Iterable[int]) -> list[int]:
    """Nodes to which a job with these pools may expand without further amounts of any layer.

    In modes 0 and 1 all nodes of some layer, in mode 2 those of which it holds all layers, in mode 3 no nodes.
    """
    left = list(nodes)
    for _, places in requests(machine, job.pools).values():
        mode = machine.layer_mode(places[0])
        usable = frozenset().union(*map(machine.layer_nodes, places)) if mode < 3 else frozenset[int]()
        if mode == 2:
            unpaid = [place for place in places if place >= len(pools) or not pools[place]]
            usable = usable.difference(*map(machine.layer_nodes, unpaid))
        left = [node for node in left if node in usable]
    return left
