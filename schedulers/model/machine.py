"""The scheduler's model of the machine: read once from SIMULATION_BEGINS, never changed.

Everything comes from host and zone properties of the platform description (the generator in ``platforms`` writes
them, any hand-written platform may):

========================  ==========================================================================================
property                  meaning
========================  ==========================================================================================
``role``                  Batsim's own: ``""``/``compute_node``, ``storage``, ``master``
``capacity_bytes``        on a storage host: burst-buffer bytes it offers; absent or 0: it is no burst buffer
``granule_bytes``         on a storage host: bytes of a granule, to multiples of which each request is rounded up, the
                          same on all burst buffers (default: 1)
``storage_kind``          on a storage host: ``burst_buffer`` or ``pfs`` (default: ``pfs`` when its name starts with
                          ``pfs``, else ``burst_buffer``)
``location``              place in the topology, outermost first, separated by ``/`` (``group/chassis/router``); places
                          with a longer common beginning are nearer to each other
``io_path``               bandwidth levels between a compute or storage host and the file system, outermost first:
                          ``name=bytes_per_s`` separated by ``/``
                          (``pfs=70000000000/pool=432000000000/su3-edge17=216000000000``)
``io_levels``             on a zone: the levels of all its hosts, outer ones first, separated by ``;``:
                          ``name=bytes_per_s``, then ``:0-3,7`` where only hosts with these numbers are below
========================  ==========================================================================================

A platform without such properties (the thesis's own file) can be described on the command line with
:class:`MachineDefaults`; without any, there are no burst buffers, and jobs that state an I/O rate are refused unless
bandwidth is ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from spillway.base.errors import OptionError, RemoteProtocolError, shown
from spillway.protocol.limits import MOST_LEVELS
from spillway.protocol.messages import ResourceInfo, SimulationBegins


@dataclass(frozen=True, slots=True)
class Node:
    """One compute node: Batsim's id, its name, its place."""

    resource_id: int
    name: str
    location: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Storage:
    """One burst-buffer storage node and its capacity in bytes."""

    resource_id: int
    name: str
    location: tuple[str, ...]
    capacity_bytes: int


@dataclass(frozen=True, slots=True)
class Link:
    """One bandwidth level instance (an edge switch, the pool, the PFS); ``parent`` is an index or -1 at the root."""

    name: str
    capacity_bytes_per_s: int
    parent: int


@dataclass(frozen=True, slots=True)
class NodeSet:
    """The nodes of a partition, by index in the machine; its jobs come before those of lower tiers."""

    name: str
    nodes: frozenset[int]
    tier: int = 1


@dataclass(frozen=True, slots=True)
class PoolLayer:
    """A layer of a hierarchical resource: the nodes on which its pool counts.

    Attributes
    ----------
    resource
        Name of the resource; its layers follow one another among the pools.
    mode
        Amounts that a job with a request holds. 0: nothing, but it runs on the layer's nodes only; 1: the request, of
        one layer with a node of the job; 2: the request, of each such layer; 3: the request for each node of the job in
        the layer, of each such layer.
    nodes
        Its nodes.
    """

    resource: str
    mode: int
    nodes: frozenset[int]


@dataclass(frozen=True, slots=True)
class CountedPool:
    """A counted resource of which jobs hold amounts: a license, the limit of a group, a layer of a resource.

    Attributes
    ----------
    name
        Name in messages.
    count
        Total amount.
    license
        Whether it is a license, which Slurm's backfill scheduler can plan, unlike limits of groups.
    layer
        The layer on which it counts; ``None``: it counts everywhere.
    overdrawn
        Whether jobs that it does not limit are charged even if too little is left: the limit of a group.
    """

    name: str
    count: int
    license: bool = False
    layer: PoolLayer | None = None
    overdrawn: bool = False


_RESOURCE_ID = attrgetter("resource_id")


@dataclass(frozen=True, slots=True)
class MachineDefaults:
    """Default properties, for a platform that does not state them.

    Attributes
    ----------
    burst_buffer_bytes
        Capacity of each storage host without ``capacity_bytes`` (the PFS excepted).
    location_shape
        Sizes from the inside out used to derive a location from the number at the end of a host's name:
        ``(3, 3, 4)`` means 3 nodes per router, 3 routers per chassis, 4 chassis per group. Empty: no location.
    bandwidth
        Whether the bandwidth levels that the platform states are scheduled; off, the scheduler is I/O-ignorant.
    foreign_share
        Share of the outermost level (the parallel file system) that is kept free for traffic of others, in [0, 1)
        (Herbein et al. 2016, section 5.1).
    pfs_bytes_per_s
        Bandwidth of the file system, in bytes per second, that all hosts share where no compute host states a path to
        it; 0: unknown.
    """

    burst_buffer_bytes: int = 0
    location_shape: tuple[int, ...] = ()
    bandwidth: bool = True
    foreign_share: float = 0.0
    pfs_bytes_per_s: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.foreign_share < 1:
            raise OptionError(f"the share of foreign traffic must be at least 0 and below 1, got {self.foreign_share}")


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine. Node and storage *indices* used everywhere else are positions in these tuples.

    Attributes
    ----------
    nodes
        Compute nodes in placement order: by location, then by the number in the name.
    storages
        Burst-buffer storage nodes, by location, then number.
    links
        Bandwidth levels; every link comes after its parent. Those of a stacked machine are ordered row by row.
    node_link
        ``int32[nodes]``: index of the innermost link above each node, -1 without one.
    nearest_storages
        ``int32[nodes, storages]``: for each node the storage indices, nearest first (own chassis, own group, rest).
    pfs_id
        Batsim id of the parallel file system's host, or ``None``.
    storage_link
        ``int32[storages]``: index of the innermost link above each storage node among :attr:`links`, -1 without one.
    unknown_bandwidth
        Reason why it is unknown whether a stream to the file system fits; ``""`` if it is known, or not needed.
    """

    nodes: tuple[Node, ...]
    storages: tuple[Storage, ...] = ()
    links: tuple[Link, ...] = ()
    node_link: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    nearest_storages: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    pfs_id: int | None = None
    node_index: dict[int, int] = field(default_factory=dict)
    """Position in :attr:`nodes` by Batsim resource id."""
    storage_link: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    unknown_bandwidth: str = ""
    rows: int = 1
    """Time slices that share the nodes; more than 1 in a stacked machine (:meth:`stacked`)."""
    granule_bytes: int = 1
    """Bytes of a granule; each request for burst buffer is rounded up to whole granules."""
    partitions: tuple[NodeSet, ...] = ()
    """Sets of nodes that jobs may be restricted to (:attr:`spillway.schedulers.model.job.Job.partitions`)."""
    pools: tuple[CountedPool, ...] = ()
    """Counted pools (:attr:`spillway.schedulers.model.job.Job.pools`)."""

    @classmethod
    def from_simulation_begins(cls, event: SimulationBegins, defaults: MachineDefaults | None = None) -> Machine:
        """Read the machine from the first message; raise :class:`RemoteProtocolError` for malformed properties."""
        defaults = defaults or MachineDefaults()
        places = [(info, _location(info, defaults)) for info in event.compute_resources]
        places.sort(key=lambda place: (_natural(place[1]), _natural((place[0].name,)), place[0].id))
        nodes = tuple(Node(info.id, info.name, location) for info, location in places)
        storages, pfs_id = _storages(event.storage_resources, defaults)
        paths = _Paths([info for info, _ in places], defaults)
        by_id = {info.id: info for info in event.storage_resources}
        return cls(
            nodes=nodes,
            storages=storages,
            links=tuple(paths.links),
            node_link=paths.node_link,
            storage_link=paths.above([by_id[storage.resource_id] for storage in storages]),
            unknown_bandwidth=_unknown(nodes, paths, pfs_id) if defaults.bandwidth else "",
            nearest_storages=nearest_first(nodes, storages),
            pfs_id=pfs_id,
            granule_bytes=_granule(event.storage_resources),
            node_index={node.resource_id: index for index, node in enumerate(nodes)},
        )

    @property
    def width(self) -> int:
        """Number of real nodes."""
        return len(self.nodes) // self.rows

    def stacked(self, rows: int) -> Machine:
        """This machine with ``rows`` nodes in place of each: row ``r`` of node ``n`` is node ``r * width + n``.

        So every place where jobs take turns on a node holds one job. Storage is shared by all; rows run one at a time,
        so each has links of its own: row ``r`` of link ``l`` is link ``r * len(links) + l``.
        """
        if rows == 1:
            return self
        return replace(
            self,
            nodes=self.nodes * rows,
            links=tuple(
                link if link.parent < 0 else replace(link, parent=link.parent + first)
                for first in range(0, rows * len(self.links), len(self.links) or 1)
                for link in self.links
            ),
            node_link=np.concatenate(
                [np.where(self.node_link < 0, -1, self.node_link + row * len(self.links)) for row in range(rows)]
            ).astype(np.int32),
            nearest_storages=np.tile(self.nearest_storages, (rows, 1)),
            rows=rows,
        )

    def _common_links(self) -> list[int]:
        """The links above every compute node and every storage node, from the outermost on."""
        innermost = {*self.node_link.tolist(), *self.storage_link.tolist()}
        chains = [set(_chain(self.links, link)) for link in innermost]
        return sorted(set.intersection(*chains)) if chains else []  # every link comes after its parent

    def trunk_bytes_per_s(self) -> float:
        """Bytes per second between all storage nodes and the file system; infinity if no bandwidth is stated."""
        return min((float(self.links[link].capacity_bytes_per_s) for link in self._common_links()), default=math.inf)

    def trunk(self) -> Machine:
        """This machine with only the links that are above every compute node and every storage node.

        Transfers between storage nodes and the file system cross these whatever their nodes are, and so do all others:
        bytes per second booked on them are exact for both.
        """
        kept = self._common_links()
        reason = self.unknown_bandwidth
        if self.links and not kept:
            reason = "no link is stated that all compute nodes and storage nodes share on their ways to the file system"
        return replace(
            self,
            links=tuple(replace(self.links[link], parent=place - 1) for place, link in enumerate(kept)),
            node_link=np.full(len(self.nodes), len(kept) - 1, np.int32),
            storage_link=np.full(len(self.storages), len(kept) - 1, np.int32),
            unknown_bandwidth=reason,
        )

    def name_of(self, host: int) -> str:
        """Kind and name of a host, by Batsim's resource id."""
        if host in self.node_index:
            return f"node {self.nodes[self.node_index[host]].name}"
        return next(
            (f"storage node {storage.name}" for storage in self.storages if storage.resource_id == host), f"host {host}"
        )

    def places_of(self, hosts: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Nodes (in all rows) and storages of some hosts, by Batsim's resource ids; other hosts are ignored."""
        wanted = frozenset(hosts)
        columns = [self.node_index[host] for host in sorted(wanted & self.node_index.keys())]
        nodes = tuple(row * self.width + column for row in range(self.rows) for column in columns)
        return nodes, tuple(place for place, storage in enumerate(self.storages) if storage.resource_id in wanted)

    def usable(self, partitions: tuple[int, ...], nodes: Iterable[int], held: Iterable[int] = ()) -> list[int]:
        """Those of some nodes that belong to the first of these partitions with all nodes that are held already.

        All of the nodes without partitions (:attr:`spillway.schedulers.model.job.Job.partitions`).
        """
        if not partitions:
            return list(nodes)
        sets = (self.partitions[partition].nodes for partition in partitions)
        own = next((nodes for nodes in sets if nodes.issuperset(held)), frozenset())
        return [node for node in nodes if node in own]

    def layer_mode(self, pool: int) -> int:
        """Mode of a pool that is a layer; -1 of others."""
        layer = self.pools[pool].layer
        return -1 if layer is None else layer.mode

    def layer_nodes(self, pool: int) -> frozenset[int]:
        """Nodes of a pool that is a layer."""
        layer = self.pools[pool].layer
        return frozenset() if layer is None else layer.nodes

    def alloc_ids(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        """Batsim's resource ids of some node indices, ascending."""
        return tuple(sorted(map(_RESOURCE_ID, map(self.nodes.__getitem__, nodes))))


def simple_machine(
    nodes: int, storages: int = 0, storage_bytes: int = 0, links: tuple[Link, ...] = (), node_link: tuple[int, ...] = ()
) -> Machine:
    """A machine without topology (tests, teaching): ``nodes`` equal nodes, all storages equally near."""
    node_tuple = tuple(Node(i, f"n{i}", ()) for i in range(nodes))
    storage_tuple = tuple(Storage(nodes + i, f"s{i}", (), storage_bytes) for i in range(storages))
    return Machine(
        nodes=node_tuple,
        storages=storage_tuple,
        links=links,
        node_link=np.array(node_link or (-1,) * nodes, np.int32),
        nearest_storages=nearest_first(node_tuple, storage_tuple),
        node_index={i: i for i in range(nodes)},
    )


def nearest_first(nodes: tuple[Node, ...], storages: tuple[Storage, ...]) -> npt.NDArray[np.int32]:
    """For each node the storage indices by falling length of the common location.

    Equally near ones are in storage order, but those with nothing in common with the node (another group) in order of
    Batsim's id: the published scheduler's order, which determines how storage fragments.
    """
    table = np.zeros((len(nodes), len(storages)), np.int32)
    for row, node in enumerate(nodes):
        keys = []
        for index, storage in enumerate(storages):
            common = common_length(node.location, storage.location)
            keys.append((-common, index if common else storage.resource_id, index))
        table[row] = [index for *_, index in sorted(keys)]
    return table


def _storages(infos: tuple[ResourceInfo, ...], defaults: MachineDefaults) -> tuple[tuple[Storage, ...], int | None]:
    found: list[Storage] = []
    pfs_id: int | None = None
    for info in infos:
        kind = info.properties.get("storage_kind") or ("pfs" if info.name.startswith("pfs") else "burst_buffer")
        if kind == "pfs":
            pfs_id = info.id if pfs_id is None else pfs_id
            continue
        text = info.properties.get("capacity_bytes", str(defaults.burst_buffer_bytes))
        capacity = _whole(text, f"storage host {shown(info.name)}: property 'capacity_bytes'")
        if capacity > 0:
            found.append(Storage(info.id, info.name, _location(info, defaults), capacity))
    found.sort(key=lambda s: (_natural(s.location), _natural((s.name,)), s.resource_id))
    return tuple(found), pfs_id


def _granule(infos: tuple[ResourceInfo, ...]) -> int:
    """Bytes of a granule, the same for all burst buffers; 1 if not stated."""
    found = 1
    stated = [info for info in infos if "granule_bytes" in info.properties]
    for info in stated:
        what = f"storage host {shown(info.name)}: property 'granule_bytes'"
        size = _whole(info.properties["granule_bytes"], what)
        if size < 1 or (info is not stated[0] and size != found):
            expected = "at least 1" if size < 1 else f"the same on all storage hosts, {found} on {stated[0].name}"
            raise RemoteProtocolError(f"{what} must be {expected}, got {size}", "$.events[0].data")
        found = size
    return found


class _Paths:
    """The tree of links that compute hosts state; see :class:`Machine` for its arrays."""

    def __init__(self, infos: list[ResourceInfo], defaults: MachineDefaults) -> None:
        self._links: list[Link] = []
        self._index: dict[tuple[str, ...], int] = {}
        self._all = ""
        self._foreign_share = defaults.foreign_share
        self._scheduled = defaults.bandwidth
        if defaults.pfs_bytes_per_s and not any(map(_path_of, infos)):
            self._all = f"pfs={defaults.pfs_bytes_per_s}"
        self.node_link = self.above(infos, create=True)

    @property
    def links(self) -> list[Link]:
        """Every link after its parent."""
        return self._links

    def above(self, infos: list[ResourceInfo], *, create: bool = False) -> npt.NDArray[np.int32]:
        """Innermost link above each host, -1 without one; paths create unknown links, or end above them."""
        found = np.full(len(infos), -1, np.int32)
        for row, info in enumerate(infos if self._scheduled else ()):
            path: tuple[str, ...] = ()
            parts = list(filter(None, (self._all or _path_of(info)).split("/")))
            if len(parts) > MOST_LEVELS:
                what = f"host {shown(info.name)}: its way to the file system has {len(parts)} levels"
                raise RemoteProtocolError(f"{what}, more than {MOST_LEVELS}", "$.events[0].data")
            for part in parts:
                name, _, value = part.partition("=")
                path += (name,)
                if path not in self._index:
                    if not create:
                        break
                    self._add(path, _whole(value, f"host {shown(info.name)}: property 'io_path', level {shown(name)}"))
                found[row] = self._index[path]
        return found

    def _add(self, path: tuple[str, ...], capacity: int) -> None:
        parent = self._index.get(path[:-1], -1)
        if parent < 0:
            capacity -= math.ceil(capacity * self._foreign_share)
        self._index[path] = len(self._links)
        self._links.append(Link(path[-1], capacity, parent))


def _path_of(info: ResourceInfo) -> str:
    """A host's levels, from its own properties or its zone's, in the form of ``io_path``."""
    stated = {**info.zone_properties, **info.properties}
    if "io_path" in stated or "io_levels" not in stated:
        return stated.get("io_path", "")
    digits = re.search(r"(\d+)\D*$", info.name)
    number = int(digits[1]) if digits else -1
    levels = [part.partition(":") for part in stated["io_levels"].split(";")]
    try:
        return "/".join(level for level, _, numbers in levels if not numbers or _contains(numbers, number))
    except ValueError:
        what = f"host {shown(info.name)}: property 'io_levels' must be name=bytes_per_s:numbers separated by ';'"
        raise RemoteProtocolError(f"{what}, got {shown(stated['io_levels'])}", "$.events[0].data") from None


def _contains(ranges: str, number: int) -> bool:
    """Whether ``0-3,7`` names a number."""
    bounds = [part.partition("-") for part in ranges.split(",")]
    return any(int(first) <= number <= int(last or first) for first, _, last in bounds)


def _unknown(nodes: tuple[Node, ...], paths: _Paths, pfs_id: int | None) -> str:
    """The reason why streams cannot be scheduled although links should be; "" if they can."""
    remedy = "annotate the platform (spillway platform annotate), or give --pfs-bandwidth or --bandwidth ignorant"
    if not paths.links:
        what = "has a file system but states no links to it" if pfs_id is not None else "states no file system"
        return f"the machine {what}; {remedy}"
    if pfs_id is not None and (paths.node_link < 0).any():
        name = nodes[int(np.argmin(paths.node_link))].name
        return f"node {name} states no links to the file system; {remedy}"
    return ""


def _chain(links: tuple[Link, ...], link: int) -> list[int]:
    """A link and those above it."""
    chain = []
    while link >= 0:
        chain.append(link)
        link = links[link].parent
    return chain


def _location(info: ResourceInfo, defaults: MachineDefaults) -> tuple[str, ...]:
    text = info.properties.get("location", info.zone_properties.get("location", ""))
    if text:
        return tuple(text.split("/"))
    digits = re.search(r"(\d+)$", info.name)
    if not defaults.location_shape or digits is None:
        return ()
    number, parts = int(digits.group(1)), []
    for size in defaults.location_shape:
        number //= size
        parts.append(str(number))
    return tuple(reversed(parts))


def _whole(text: str, what: str) -> int:
    try:
        value = float(text)
    except ValueError:
        raise RemoteProtocolError(f"{what} must be a number of bytes, got {shown(text)}", "$.events[0].data") from None
    if not 0 <= value < 2**62:
        raise RemoteProtocolError(f"{what} must lie between 0 and 2^62, got {shown(text)}", "$.events[0].data")
    return int(value)


def common_length(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Number of parts that two places have in common, from the outside in."""
    count = 0
    for ours, other in zip(first, second, strict=False):
        if ours != other:
            break
        count += 1
    return count


def _natural(parts: tuple[str, ...]) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Sort key that compares digits as numbers (``node_9`` before ``node_10``), however many there are."""
    return tuple(tuple(_piece(piece) for piece in re.findall(r"[0-9]+|[^0-9]+", part)) for part in parts)


def _piece(text: str) -> tuple[int, int, str]:
    if not (text.isascii() and text.isdecimal()):
        return 1, 0, text
    digits = text.lstrip("0")
    return 0, len(digits), digits
