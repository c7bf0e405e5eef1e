"""``<cluster topology="DRAGONFLY">``: groups of chassis of routers of nodes, fully linked on each level."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.builder import PlatformBuilder
from spillway.platforms.simgrid.cluster_spec import (
    ClusterSpec,
    ClusterZone,
    add_limiter,
    add_link_pair,
    add_nodes,
    whole_numbers,
)
from spillway.platforms.simgrid.zones.base import Point, PointKind, Zone

Pair = tuple[int, int]
"""Both directions of a cable; (away from the lower end, back)."""


class Shape(NamedTuple):
    """Sizes of a Dragonfly."""

    groups: int
    chassis: int
    routers: int
    nodes: int

    @property
    def router_count(self) -> int:
        """All routers."""
        return self.groups * self.chassis * self.routers

    @property
    def node_count(self) -> int:
        """All nodes."""
        return self.router_count * self.nodes

    def router(self, group: int, chassis: int, blade: int) -> int:
        """Number of a router by its place."""
        return (group * self.chassis + chassis) * self.routers + blade

    def place(self, router: int) -> tuple[int, int, int]:
        """Group, chassis in the group, and position in the chassis ("blade") of a router."""
        chassis, blade = divmod(router, self.routers)
        return (*divmod(chassis, self.chassis), blade)


@dataclass
class DragonflyLinks:
    """Links of a Dragonfly, as indices.

    Attributes
    ----------
    local
        By node: to the router, and back.
    green, black
        From a router to another blade of its chassis, or to the same blade of another chassis of its group:
        ``[router][blade]``, ``[router][chassis]``; the direction away from that router.
    blue
        From a router to the group it leads to. Blade ``g`` of chassis 0 leads to group ``g``.
    """

    local: list[Pair] = field(default_factory=list)
    green: dict[Pair, int] = field(default_factory=dict)
    black: dict[Pair, int] = field(default_factory=dict)
    blue: dict[int, int] = field(default_factory=dict)


def minimal_route(
    shape: Shape,
    links: DragonflyLinks,
    src: int,
    dst: int,
    node_limiters: Sequence[int] = (),
    router_limiters: Sequence[int] = (),
) -> tuple[int, ...]:
    """Links from node ``src`` to another node (or up and down again for the same one).

    Minimal routing with a quirk that all SimGrid releases from 3.25 to 4.1 share: when the blade must change in the
    destination's group, the walk continues as if from chassis 0. Inside one chassis other than chassis 0 this takes
    an extra black link, from a router where the traffic never was; from such a chassis to chassis 0 it leaves out the
    black link that would be needed. So the ways forth and back may differ.
    """
    first, last = src // shape.nodes, dst // shape.nodes
    group, chassis, blade = shape.place(last)
    current = first
    way: list[int] = [*node_limiters[src : src + 1], links.local[src][0]]

    def step(link: int, router: int) -> None:
        nonlocal current
        way.extend(router_limiters[current : current + 1])
        way.append(link)
        current = router

    if first != last:
        own_group, own_chassis, own_blade = shape.place(first)
        if group != own_group:
            if own_blade != group:
                step(links.green[current, group], shape.router(own_group, own_chassis, group))
            if own_chassis != 0:
                step(links.black[current, 0], shape.router(own_group, 0, group))
            way.append(links.blue[current])
            way.extend(router_limiters[current : current + 1])
            current = shape.router(group, 0, own_group)
        if shape.place(current)[2] != blade:
            step(links.green[current, blade], shape.router(group, 0, blade))
        if shape.place(current)[1] != chassis:
            step(links.black[current, chassis], last)
    way.extend(router_limiters[last : last + 1])
    return (*way, links.local[dst][1], *node_limiters[dst : dst + 1])


@dataclass(eq=False)
class _DragonflyZone(ClusterZone):
    """Dragonfly with minimal routing; see :func:`minimal_route`."""

    shape: Shape = field(default=Shape(1, 1, 1, 1))
    links: DragonflyLinks = field(default_factory=DragonflyLinks, repr=False)
    node_limiters: tuple[int, ...] = ()
    router_limiters: tuple[int, ...] = ()

    def way(self, src: int, dst: int) -> tuple[int, ...]:
        """See :meth:`ClusterZone.way`."""
        return minimal_route(self.shape, self.links, src, dst, self.node_limiters, self.router_limiters)

    def alike(self, point: Point, latencies: Sequence[float]) -> Hashable | None:
        """See :meth:`Zone.alike`: the router, unless the links of its nodes have limiters."""
        return point.rank // self.shape.nodes if point.kind is PointKind.HOST and not self.node_limiters else None


def add_dragonfly(builder: PlatformBuilder, parent: Zone | None, spec: ClusterSpec) -> _DragonflyZone:
    """Create the cluster; ``topo_parameters`` are sizes and cables per link, such as ``3,1;4,1;3,1;3``."""
    levels = [part.split(",") for part in spec.parameters.split(";")]
    expected = "'groups,cables;chassis,cables;routers,cables;nodes' such as '3,1;4,1;3,1;3'"
    flat = [text for level in levels for text in level]
    if [len(level) for level in levels] != [2, 2, 2, 1]:
        flat = [""]
    numbers = whole_numbers(spec, flat, expected)
    shape = Shape(numbers[0], numbers[2], numbers[4], numbers[6])
    if shape.groups > 1 and shape.groups > shape.routers:
        raise PlatformError(
            f"cluster {spec.name!r}: {shape.groups} groups need as many routers in a chassis, it has {shape.routers}:"
            " router g of chassis 0 holds the link to group g"
        )
    zone = _DragonflyZone(spec.name, parent, shape=shape)
    builder.add_zone(zone)
    zone.nodes = add_nodes(builder, zone, spec, shape.node_count)
    if spec.limiter_bandwidth:
        zone.node_limiters = tuple(node.limiter for node in zone.nodes)
        top = 2 * shape.node_count - 1
        zone.router_limiters = tuple(add_limiter(builder, spec, top - number) for number in range(shape.router_count))
    _add_links(builder, spec, zone, cables=(numbers[1], numbers[3], numbers[5]))
    builder.add_router(zone, spec.router_name)
    return zone


def _add_links(builder: PlatformBuilder, spec: ClusterSpec, zone: _DragonflyZone, cables: tuple[int, int, int]) -> None:
    shape, links = zone.shape, zone.links
    blue, black, green = cables

    def pair(name: str, width: int = 1) -> Pair:
        number = builder.take_number("dragonfly link")
        return add_link_pair(builder, spec, f"{name}_{number}", spec.bandwidth * width)

    for router in range(shape.router_count):
        for node in range(shape.nodes):
            links.local.append(pair(f"local_link_from_router_{router}_to_node_{node}"))
    for chassis in range(shape.groups * shape.chassis):
        for first, other in pairs(shape.routers):
            up, down = pair(
                f"green_link_in_chassis_{chassis % shape.chassis}_between_routers_{first}_and_{other}", green
            )
            links.green[chassis * shape.routers + first, other] = up
            links.green[chassis * shape.routers + other, first] = down
    for group in range(shape.groups):
        for first, other in pairs(shape.chassis):
            for blade in range(shape.routers):
                up, down = pair(f"black_link_in_group_{group}_between_chassis_{first}_and_{other}_blade_{blade}", black)
                links.black[shape.router(group, first, blade), other] = up
                links.black[shape.router(group, other, blade), first] = down
    for first, other in pairs(shape.groups):
        near, far = shape.router(first, 0, other), shape.router(other, 0, first)
        up, down = pair(f"blue_link_between_group_{first}_and_{other}_routers_{near}_and_{far}", blue)
        links.blue[near], links.blue[far] = up, down


def pairs(count: int) -> list[Pair]:
    """All pairs of different numbers below ``count``, the smaller first."""
    return [(first, other) for first in range(count) for other in range(first + 1, count)]
