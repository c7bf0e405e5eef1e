"""A Dragonfly with storage nodes, a parallel file system and a master: as a platform, and as SimGrid XML.

Since release 3.28, SimGrid's own ``<cluster topology="DRAGONFLY">`` can be joined to other zones only across a node's
link. Every release reads one zone with full routing, so the file contains each host, link and route of such a zone.
The routes are SimGrid's minimal ones (:func:`spillway.platforms.simgrid.zones.dragonfly.minimal_route`), quirk
included. Traffic to and from the file system crosses its link only.

A platform built here (:func:`build_dragonfly`) equals the one read from the file (:func:`write_dragonfly`), but
computes its routes by arithmetic and needs no parsing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from spillway.platforms.description.hosts import (
    SERVER_SPEED,
    heading,
    master_properties,
    node_properties,
    pfs_properties,
    storage_properties,
)
from spillway.platforms.description.machine import Description, Dragonfly
from spillway.platforms.io_paths import IO_PATH, IoLevel, io_path
from spillway.platforms.model import Host, LinkInfo, Platform, Route, Sharing
from spillway.platforms.simgrid.writer import XmlWriter
from spillway.platforms.simgrid.zones.dragonfly import DragonflyLinks, Shape, minimal_route, pairs

_LEGEND = (
    "Links, u and d for the two directions: n5 node 5 to its router; g1.2.0-1 green, in chassis 2 of group 1 between"
    " its routers 0 and 1; k1.0-2.1 black, in group 1 between routers 1 of its chassis 0 and 2; b0-1 blue, between"
    " groups 0 and 1; loop5 node 5 with itself."
)


@dataclass
class DragonflyMachine:
    """Hosts and links in the order of the file, and the routes between them.

    Attributes
    ----------
    hosts, links
        Nodes first, by number; then the master, and the file system if there is one.
    loops
        Link of a host with itself, by host.
    servers
        Link that all traffic to or from a server crosses, by host; nodes have no such link.
    """

    shape: Shape
    hosts: list[Host] = field(default_factory=list)
    links: list[LinkInfo] = field(default_factory=list)
    network: DragonflyLinks = field(default_factory=DragonflyLinks)
    loops: list[int] = field(default_factory=list)
    servers: dict[int, int] = field(default_factory=dict)

    def find(self, src: int, dst: int) -> Route:
        """See :class:`spillway.platforms.model.RouteFinder`."""
        links = self.way(src, dst)
        latency = 0.0
        for link in links:
            latency += self.links[link].latency
        return Route(links, latency)

    def alike(self) -> list[list[int]]:
        """See :class:`spillway.platforms.model.RouteFinder`; empty, as for the platform read from the file."""
        return []

    def way(self, src: int, dst: int) -> tuple[int, ...]:
        """Links from host to host."""
        if src == dst:
            return (self.loops[src],)
        if not self.servers.keys() & {src, dst}:
            return minimal_route(self.shape, self.network, src, dst)
        return tuple(self.servers[host] for host in (src, dst) if host in self.servers)

    def add_link(self, name: str, bandwidth: float, latency: float, policy: Sharing = Sharing.SHARED) -> int:
        """Append a link; return its index."""
        self.links.append(LinkInfo(name, bandwidth, latency, policy))
        return len(self.links) - 1


def build_dragonfly(description: Description) -> Platform:
    """The platform of a description with topology ``dragonfly``."""
    machine = lay_out(description)
    return Platform(tuple(machine.hosts), tuple(machine.links), machine, description.name)


def write_dragonfly(description: Description) -> str:
    """The platform file of a description with topology ``dragonfly``."""
    machine = lay_out(description)
    xml = XmlWriter(heading(description), _LEGEND)
    names = [host.name for host in machine.hosts]
    with xml.inside("platform", version="4.1"), xml.inside("zone", id=f"{description.name}-site", routing="Full"):
        for host in machine.hosts:
            xml.host(host.name, host.speed, host.cores, host.properties)
        for link in machine.links:
            xml.link(link.name, link.bandwidth, link.latency, link.policy.value)
        steps_over = [(link.name, "") for link in machine.links]
        for src, dst in product(range(len(names)), repeat=2):
            symmetrical = src != dst and bool(machine.servers.keys() & {src, dst})
            if src <= dst or not symmetrical:
                steps = [steps_over[link] for link in machine.way(src, dst)]
                xml.route(names[src], names[dst], steps, symmetrical)
    return xml.text()


def lay_out(description: Description) -> DragonflyMachine:
    """Create all hosts and links."""
    plan = description.dragonfly
    assert plan is not None, "checked when the description was read"
    machine = DragonflyMachine(Shape(plan.groups, plan.chassis, plan.routers, plan.nodes))
    _add_hosts(machine, description)
    _add_network(machine, plan)
    for number in range(machine.shape.node_count):
        machine.loops.append(machine.add_link(f"loop{number}", description.node.loopback, 0.0, Sharing.FATPIPE))
    servers = len(machine.hosts) - machine.shape.node_count
    machine.loops.extend([machine.add_link("loop", description.server_loopback, 0.0, Sharing.FATPIPE)] * servers)
    master, pfs = description.master, description.pfs
    index = machine.shape.node_count
    machine.servers[index] = machine.add_link("link_master", master.bandwidth, master.latency, Sharing.FATPIPE)
    if pfs is not None:
        machine.servers[index + 1] = machine.add_link("link_pfs", pfs.bandwidth, pfs.latency)
    return machine


def _add_hosts(machine: DragonflyMachine, description: Description) -> None:
    node, storage, shape = description.node, description.storage, machine.shape
    per_chassis = shape.routers * shape.nodes
    strides = {"router": shape.nodes, "chassis": per_chassis, "group": shape.chassis * per_chassis}
    stated = {}
    if description.pfs is not None and description.pfs.scheduled:  # the only link between any host and the file system
        stated[IO_PATH] = io_path([IoLevel(description.pfs.name, int(description.pfs.bandwidth))])
    for number in range(shape.node_count):
        group, chassis, blade = shape.place(number // shape.nodes)
        location = f"g{group}/c{chassis}/r{blade}"
        properties = node_properties(location, "", description.power)
        if storage is not None and number % strides[storage.per] == 0:
            properties = storage_properties(storage, location, description.power)
        properties |= stated
        machine.hosts.append(Host(f"{node.prefix}{number}", (node.speed,), node.cores, properties))
    machine.hosts.append(
        Host(description.master.name, (SERVER_SPEED,), properties=master_properties(description.power))
    )
    if description.pfs is not None:
        machine.hosts.append(Host(description.pfs.name, (SERVER_SPEED,), properties=pfs_properties(description.power)))


def _add_network(machine: DragonflyMachine, plan: Dragonfly) -> None:
    shape, network = machine.shape, machine.network

    def cable(name: str, width: int = 1) -> tuple[int, int]:
        up, down = (machine.add_link(name + way, plan.bandwidth * width, plan.latency) for way in "ud")
        return up, down

    for number in range(shape.node_count):
        network.local.append(cable(f"n{number}"))
    for group in range(shape.groups):
        for chassis in range(shape.chassis):
            for first, other in pairs(shape.routers):
                up, down = cable(f"g{group}.{chassis}.{first}-{other}", plan.green)
                network.green[shape.router(group, chassis, first), other] = up
                network.green[shape.router(group, chassis, other), first] = down
        for first, other in pairs(shape.chassis):
            for blade in range(shape.routers):
                up, down = cable(f"k{group}.{first}-{other}.{blade}", plan.black)
                network.black[shape.router(group, first, blade), other] = up
                network.black[shape.router(group, other, blade), first] = down
    for first, other in pairs(shape.groups):
        up, down = cable(f"b{first}-{other}", plan.blue)
        network.blue[shape.router(first, 0, other)], network.blue[shape.router(other, 0, first)] = up, down
