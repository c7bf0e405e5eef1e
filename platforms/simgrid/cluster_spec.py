"""The attributes of a ``<cluster>`` element, and the links that all kinds of clusters have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Host, Sharing
from spillway.platforms.simgrid.builder import PlatformBuilder
from spillway.platforms.simgrid.zones.base import Hop, Point, PointKind, Zone


@dataclass(frozen=True)
class ClusterSpec:
    """The attributes of a ``<cluster>`` element; bandwidths in bytes/s, latencies in s, 0 if absent.

    Attributes
    ----------
    radical
        Numbers between prefix and suffix in the hosts' names.
    split
        Whether each node's link has two directions that do not share. SimGrid 3.32 takes ``FATPIPE`` here as
        ``SHARED``.
    parameters
        ``topo_parameters``, as written.
    limiter_bandwidth
        Bandwidth of a link without latency that all traffic to or from a node crosses.
    router
        Name of the cluster's router; empty: prefix, cluster, ``_router``, suffix.
    """

    name: str
    prefix: str
    suffix: str
    radical: tuple[int, ...]
    speeds: tuple[float, ...]
    bandwidth: float
    latency: float
    cores: int = 1
    split: bool = True
    topology: str = "FLAT"
    parameters: str = ""
    backbone_bandwidth: float = 0.0
    backbone_latency: float = 0.0
    backbone_policy: Sharing = Sharing.SHARED
    limiter_bandwidth: float = 0.0
    loopback_bandwidth: float = 0.0
    loopback_latency: float = 0.0
    router: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def router_name(self) -> str:
        """Name of the router at the cluster's centre."""
        return self.router or f"{self.prefix}{self.name}_router{self.suffix}"

    @property
    def has_loopback(self) -> bool:
        """Whether each host has a loopback link of its own."""
        return self.loopback_bandwidth > 0 or self.loopback_latency > 0

    def host(self, number: int) -> Host:
        """The host of that number."""
        return Host(f"{self.prefix}{number}{self.suffix}", self.speeds, self.cores, self.properties)


def add_loopback(builder: PlatformBuilder, spec: ClusterSpec, number: int) -> int:
    """Create the loopback link of a host of a cluster that has them; return its index."""
    name = f"{spec.name}_link_{number}_loopback"
    return builder.add_link(name, spec.loopback_bandwidth, spec.loopback_latency, Sharing.FATPIPE)


def add_link_pair(builder: PlatformBuilder, spec: ClusterSpec, name: str, bandwidth: float) -> tuple[int, int]:
    """Create one cable of a cluster; return the indices of its two directions, equal if they share one link."""
    if spec.split:
        return builder.add_duplex(name, bandwidth, spec.latency)
    link = builder.add_link(name, bandwidth, spec.latency)
    return link, link


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node of a cluster with a regular network: its point, its own links (-1: absent)."""

    point: Point
    loopback: int
    limiter: int


@dataclass(eq=False)
class ClusterZone(Zone):
    """A cluster with a regular network.

    Attributes
    ----------
    nodes
        By rank.
    """

    nodes: list[ClusterNode] = field(default_factory=list, repr=False)

    def hop(self, src: Point, dst: Point) -> Hop:
        """See :meth:`Zone.hop`. The cluster's router has no links, as in SimGrid before 3.28."""
        if PointKind.ROUTER in (src.kind, dst.kind):
            return Hop(())
        if src is dst and self.nodes[src.rank].loopback >= 0:
            return Hop((self.nodes[src.rank].loopback,))
        return Hop(self.way(src.rank, dst.rank))

    def way(self, src: int, dst: int) -> tuple[int, ...]:
        """Links from a node to another one, or to itself, by rank."""
        raise NotImplementedError


def add_nodes(builder: PlatformBuilder, zone: Zone, spec: ClusterSpec, count: int) -> list[ClusterNode]:
    """Create the first ``count`` hosts of a cluster with their loopbacks and limiters.

    Raises
    ------
    PlatformError
        The radical has fewer numbers.
    """
    if len(spec.radical) < count:
        raise PlatformError(
            f"cluster {spec.name!r}: its topology has {count} nodes, attribute 'radical' names {len(spec.radical)}"
        )
    nodes = []
    for rank, number in enumerate(spec.radical[:count]):
        point = builder.add_host(zone, spec.host(number))
        loopback = add_loopback(builder, spec, number) if spec.has_loopback else -1
        nodes.append(ClusterNode(point, loopback, add_limiter(builder, spec, rank)))
    return nodes


def add_limiter(builder: PlatformBuilder, spec: ClusterSpec, number: int) -> int:
    """Create the limiter of a node or switch of a cluster that has them; return its index, else -1."""
    if not spec.limiter_bandwidth:
        return -1
    return builder.add_link(f"{spec.name}_link_{number}_limiter", spec.limiter_bandwidth, 0.0)


def whole_numbers(spec: ClusterSpec, texts: list[str], expected: str) -> tuple[int, ...]:
    """Read numbers of at least 1 out of ``topo_parameters``; ``expected`` describes the right value in errors."""
    if not all(re.fullmatch(r"\s*0*[1-9]\d{0,6}\s*", text) for text in texts):
        raise PlatformError(
            f"cluster {spec.name!r}: attribute 'topo_parameters': expected {expected}, got {spec.parameters!r}"
        )
    return tuple(int(text) for text in texts)
