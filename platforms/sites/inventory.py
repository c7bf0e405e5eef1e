"""A site's inventory of a machine: racks with their nodes and storage nodes, without network and speeds.

Inventories link the formats of sites (:mod:`spillway.platforms.sites.rabbit_map`,
:mod:`spillway.platforms.sites.graph`) with descriptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Host, Platform


@dataclass(frozen=True, slots=True)
class RackFacts:
    """One rack, chassis, or other group of nodes with a storage node.

    Attributes
    ----------
    nodes
        Names of the compute nodes.
    storage
        Name of the storage node; "" if the rack has no storage node.
    capacity
        Capacity of the storage node, bytes.
    """

    nodes: tuple[str, ...] = ()
    storage: str = ""
    capacity: int = 0


@dataclass(frozen=True, slots=True)
class Inventory:
    """A machine as a site's files list it.

    Attributes
    ----------
    name
        Name of the machine; "" if the file has no name.
    racks
        In the order of the file.
    cores
        Cores of each node; 0 if the file does not state them.
    rack_word
        The site's word for a rack.
    stated
        Tables of a description that the file states beyond the racks, as read from TOML.
    notes
        Notes on ignored parts of the file.
    """

    name: str
    racks: tuple[RackFacts, ...]
    cores: int = 0
    rack_word: str = "rack"
    stated: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def refuse_twins(self, source: str) -> None:
        """Raise :class:`PlatformError` if two hosts have one name."""
        names = Counter(name for rack in self.racks for name in (*rack.nodes, *filter(None, (rack.storage,))))
        for name, count in names.items():
            if count > 1:
                raise PlatformError(f"{name!r} occurs at {count} places; a host has one", source)


def merged(inventories: Iterable[tuple[str, Inventory]]) -> Inventory:
    """Merge several files on one machine: each adds nodes, storage nodes and cores that the others do not have.

    Parameters
    ----------
    inventories
        Each with the name of its file.

    Raises
    ------
    PlatformError
        Two files put a node at different storage nodes, or state different capacities or numbers of cores.
    """
    (_, whole), *others = inventories
    for source, other in others:
        whole = _with(whole, other, source)
    return whole


def _with(whole: Inventory, other: Inventory, source: str) -> Inventory:
    racks = {rack.storage or rack.nodes[0]: rack for rack in whole.racks}
    where = {node: rack.storage for rack in whole.racks for node in rack.nodes}
    before = frozenset(where)
    for rack in other.racks:
        for node in rack.nodes:
            if where.setdefault(node, rack.storage) != rack.storage:
                raise PlatformError(
                    f"node {node!r} is served by {rack.storage or 'no storage node'!r}, in an earlier file by"
                    f" {where[node] or 'no storage node'!r}",
                    source,
                )
        known = racks.get(rack.storage) if rack.storage else None
        if known is None:
            fresh = tuple(node for node in rack.nodes if rack.storage or node not in before)
            if fresh or rack.storage:
                racks[rack.storage or fresh[0]] = RackFacts(fresh, rack.storage, rack.capacity)
            continue
        if known.capacity != rack.capacity:
            raise PlatformError(
                f"{rack.storage!r} has {rack.capacity} bytes, in an earlier file {known.capacity}", source
            )
        more = tuple(node for node in rack.nodes if node not in before)
        racks[rack.storage] = RackFacts(known.nodes + more, known.storage, known.capacity)
    if whole.cores and other.cores and whole.cores != other.cores:
        raise PlatformError(f"its nodes have {other.cores} cores, in an earlier file {whole.cores}", source)
    return Inventory(
        whole.name or other.name,
        tuple(racks.values()),
        whole.cores or other.cores,
        other.rack_word if whole.rack_word == "rack" else whole.rack_word,
        {**whole.stated, **other.stated},
        whole.notes + other.notes,
    )


def inventory_of(platform: Platform, name: str) -> Inventory:
    """The racks of any platform: each storage node with the compute nodes that are nearer to it than to any other.

    Nodes that are equally near to several storage nodes form racks by place.

    Raises
    ------
    PlatformError
        Two storage nodes are at one place, or nodes differ in cores.
    """
    computing = [host for host in platform.hosts if not host.role]
    cores = {host.cores for host in computing}
    if len(cores) > 1:
        raise PlatformError(f"its nodes have {', '.join(map(str, sorted(cores)))} cores; expected one number", name)
    racks: dict[tuple[str, ...], RackFacts] = {}
    for host in platform.hosts:
        if "capacity_bytes" in host.properties:
            place = _place(host)
            if place in racks:
                raise PlatformError(
                    f"{host.name!r} and {racks[place].storage!r} are at one place; expected one storage node each",
                    name,
                )
            racks[place] = RackFacts((), host.name, int(host.properties["capacity_bytes"]))
    nearest = _NearestStorage(tuple(racks))
    nodes: dict[tuple[str, ...], list[str]] = {place: [] for place in racks}
    for host in computing:
        nodes.setdefault(nearest.to(_place(host)), []).append(host.name)
    return Inventory(name, with_nodes(racks, nodes), next(iter(cores), 0))


def with_nodes(storages: Mapping[Any, RackFacts], nodes: Mapping[Any, list[str]]) -> tuple[RackFacts, ...]:
    """Racks with their nodes, in the order of ``nodes``; places without a storage node are racks without one."""
    return tuple(replace(storages.get(key, RackFacts()), nodes=tuple(names)) for key, names in nodes.items())


class _NearestStorage:
    """Finds the storage node with the longest beginning of its place in common with a node's place."""

    def __init__(self, storages: tuple[tuple[str, ...], ...]):
        self._below: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for place in storages:
            for depth in range(len(place) + 1):
                self._below.setdefault(place[:depth], set()).add(place)

    def to(self, place: tuple[str, ...]) -> tuple[str, ...]:
        """Place of that storage node; the node's own place if several are equally near, or there is no storage node."""
        for depth in range(len(place), -1, -1):
            found = self._below.get(place[:depth], set())
            if found:
                return next(iter(found)) if len(found) == 1 else place
        return place


def _place(host: Host) -> tuple[str, ...]:
    stated = {**host.zone_properties, **host.properties}.get("location", "")
    return tuple(filter(None, stated.split("/")))
