"""The ``<cluster>`` element: equal hosts under a regular network."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.builder import PlatformBuilder
from spillway.platforms.simgrid.cluster_spec import ClusterSpec, add_link_pair, add_loopback
from spillway.platforms.simgrid.zones.base import Zone
from spillway.platforms.simgrid.zones.dragonfly import add_dragonfly
from spillway.platforms.simgrid.zones.fat_tree import add_fat_tree
from spillway.platforms.simgrid.zones.star import StarZone
from spillway.platforms.simgrid.zones.torus import add_torus


def add_cluster(builder: PlatformBuilder, parent: Zone | None, spec: ClusterSpec) -> Zone:
    """Create a cluster's zone with its contents, inside ``parent``."""
    add = _TOPOLOGIES.get(spec.topology)
    if add is None:
        raise PlatformError(f"cluster {spec.name!r}: topology {spec.topology!r}; known: {', '.join(_TOPOLOGIES)}")
    return add(builder, parent, spec)


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
    "TORUS": add_torus,
    "FAT_TREE": add_fat_tree,
    "DRAGONFLY": add_dragonfly,
}
