"""The ``<cluster>`` element: equal hosts under a regular network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from platforms.builder import PlatformBuilder
from platforms.errors import PlatformError
from platforms.model import Host, Sharing
from platforms.zones.base import Zone
from platforms.zones.star import StarZone


@dataclass(frozen=True)
class ClusterSpec:
    """What a ``<cluster>`` element says; bandwidths in bytes/s, latencies in s, 0 for none.

    Attributes
    ----------
    radical
        Numbers between prefix and suffix in the hosts' names.
    split
        Whether each node's link has two directions that do not share.
    parameters
        ``topo_parameters``, as written.
    limiter_bandwidth
        Of a link without latency that everything to or from a node crosses.
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
        """Name of the router that stands for the cluster's middle."""
        return self.router or f"{self.prefix}{self.name}_router{self.suffix}"

    @property
    def has_loopback(self) -> bool:
        """Whether each host has a loopback link of its own."""
        return self.loopback_bandwidth > 0 or self.loopback_latency > 0

    def host(self, number: int) -> Host:
        """The host of that number."""
        return Host(f"{self.prefix}{number}{self.suffix}", self.speeds, self.cores, self.properties)


def add_cluster(builder: PlatformBuilder, parent: Zone | None, spec: ClusterSpec) -> Zone:
    """Create a cluster's zone with all in it, inside ``parent``."""
    add = _TOPOLOGIES.get(spec.topology)
    if add is None:
        raise PlatformError(f"cluster {spec.name!r}: topology {spec.topology!r}; known: {', '.join(_TOPOLOGIES)}")
    return add(builder, parent, spec)


def add_loopback(builder: PlatformBuilder, spec: ClusterSpec, number: int) -> int:
    """Create the loopback link of a host of a cluster that has them; return its index."""
    name = f"{spec.name}_link_{number}_loopback"
    return builder.add_link(name, spec.loopback_bandwidth, spec.loopback_latency, Sharing.FATPIPE)


def add_link_pair(builder: PlatformBuilder, spec: ClusterSpec, name: str, bandwidth: float) -> tuple[int, int]:
    """Create one cable of a cluster; indices of its two directions, equal where they share."""
    if spec.split:
        return builder.add_duplex(name, bandwidth, spec.latency)
    link = builder.add_link(name, bandwidth, spec.latency)
    return link, link


def _add_flat(builder: PlatformBuilder, parent: Zone | None, spec: ClusterSpec) -> Zone:
    zone = StarZone(spec.name, parent, dict(spec.properties))
    builder.add_zone(zone)
    backbone: tuple[int, ...] = ()
    if spec.backbone_bandwidth > 0 or spec.backbone_latency > 0:
        name = f"{spec.name}_backbone"
        backbone = (builder.add_link(name, spec.backbone_bandwidth, spec.backbone_latency, spec.backbone_policy),)
    for number in spec.radical:
        point = builder.add_host(zone, spec.host(number))
        if spec.has_loopback:
            zone.loops[point.rank] = add_loopback(builder, spec, number)
        limiter: tuple[int, ...] = ()
        if spec.limiter_bandwidth > 0:
            limiter = (builder.add_link(f"{spec.name}_link_{number}_limiter", spec.limiter_bandwidth, 0.0),)
        up, down = add_link_pair(builder, spec, f"{spec.name}_link_{number}", spec.bandwidth)
        zone.ups[point.rank] = (*limiter, up, *backbone)
        zone.downs[point.rank] = (*backbone, down, *limiter)
    builder.add_router(zone, spec.router_name)
    return zone


_TOPOLOGIES: Mapping[str, Callable[[PlatformBuilder, Zone | None, ClusterSpec], Zone]] = {
    "FLAT": _add_flat,
}
