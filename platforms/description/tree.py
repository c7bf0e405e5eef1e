"""Clusters that are trees of switches and share a parallel file system: as a structure, and as SimGrid XML.

Every switch is a router. The innermost switches with their nodes are star zones; a switch above others is the centre
of a zone with shortest-path routing over the links to those below it. So the file grows only with the number of nodes,
both SimGrid and :mod:`spillway.platforms.simgrid.xml_reader` read it, and a route crosses each link on its way once.
Traffic to the file system crosses every link upwards, the cluster's uplink, then the file system's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from spillway.platforms.description.hosts import (
    SERVER_SPEED,
    heading,
    master_properties,
    node_properties,
    pfs_properties,
    storage_properties,
)
from spillway.platforms.description.machine import Description, Level, Rack, TreeCluster
from spillway.platforms.io_paths import IO_PATH
from spillway.platforms.model import Host
from spillway.platforms.simgrid.writer import Step, XmlWriter


@dataclass(frozen=True, slots=True)
class Place:
    """An instance of a level: a switch if the level has a link, a node at the last level, else just a place.

    Attributes
    ----------
    name
        Unique in the file.
    depth
        Position of its level in the cluster's list; -1 for the cluster itself.
    location
        Numbered places from the outside down to here.
    io_path
        Counted links from the outside down to here, as ``name=bytes_per_s``.
    """

    name: str
    depth: int = -1
    location: tuple[str, ...] = ()
    io_path: tuple[str, ...] = ()

    def below(self, level: Level, number: int, counted: bool) -> Place:
        """Instance ``number`` of the next level; ``counted``: whether schedulers count its link."""
        own = f"{level.name}{number}" if level.count > 1 else level.name
        path = (*self.location, own)
        io_path = (*self.io_path, f"{'-'.join(path)}={level.bandwidth:.0f}") if counted else self.io_path
        return Place(f"{self.name}-{own}", self.depth + 1, path if level.count > 1 else self.location, io_path)


@dataclass(frozen=True, slots=True)
class Devices(Level):
    """The link of a storage node with devices that have read and write bandwidths of their own.

    Attributes
    ----------
    write_bandwidth
        Bandwidth of the way down to it, bytes/s; ``bandwidth`` is that of the way up, at which it is read.
    """

    write_bandwidth: float = 0.0


@dataclass(slots=True)
class Switch:
    """A switch and all below it.

    Attributes
    ----------
    link
        The link upwards: bandwidth, latency and kind of this level.
    hosts
        Nodes and storage hosts at it, each with its link upwards.
    children
        Switches below it.
    """

    place: Place
    link: Level
    hosts: list[tuple[Host, Level]] = field(default_factory=list)
    children: list[Switch] = field(default_factory=list)

    @property
    def router(self) -> str:
        """Name of its router."""
        return f"{self.place.name}-switch"

    @property
    def zone(self) -> str:
        """Name of the zone of all below it."""
        return f"{self.place.name}-zone"


@dataclass
class _Layout:
    """Numbers hosts while switches are laid out."""

    description: Description
    cluster: TreeCluster
    nodes: Iterator[int]
    storages: Iterator[int]

    def top(self, place: Place, link: Level) -> Switch:
        """The whole cluster."""
        return self._racks(place, link) if self.cluster.rack else self.switch(place, link)

    def _racks(self, place: Place, link: Level) -> Switch:
        """Racks by name: a switch each, or just places if their level has no link."""
        top = Switch(place, link)
        level, node = self.cluster.levels
        numbered = replace(level, count=len(self.cluster.rack))
        for number, rack in enumerate(self.cluster.rack):
            spot = place.below(numbered, number, _counted(level, False))
            switch = top
            if level.bandwidth is not None:
                switch = Switch(spot, level)
                top.children.append(switch)
            if rack.storage is not None:
                switch.hosts.append(self._storage(spot, rack))
            several = replace(node, count=max(2, len(rack.nodes)))
            for position, name in enumerate(rack.nodes):
                own = spot.below(several, position, _counted(node, True))
                switch.hosts.append((self._node(own, several, name), node))
        return top

    def switch(self, place: Place, link: Level) -> Switch:
        """A switch with all below it, for levels with counts."""
        levels, storage = self.cluster.levels, self.description.storage
        linked = next(depth for depth in range(place.depth + 1, len(levels)) if levels[depth].bandwidth is not None)
        switch = Switch(place, link)
        for spot in (place, *_walk(levels, place, linked)):
            if spot.depth == linked == len(levels) - 1:
                switch.hosts.append((self._node(spot, levels[linked]), levels[linked]))
            elif spot.depth == linked:
                switch.children.append(self.switch(spot, levels[linked]))
            elif storage is not None and spot.depth >= 0 and storage.per == levels[spot.depth].name:
                switch.hosts.append(self._storage(spot))
        return switch

    def _node(self, spot: Place, level: Level, name: str = "") -> Host:
        node = self.description.node
        location = "/".join(spot.location[: len(spot.location) - (level.count > 1)])
        properties = node_properties(location, "/".join(spot.io_path), self.description.power)
        return Host(name or f"{node.prefix}{next(self.nodes)}", (node.speed,), node.cores, properties)

    def _storage(self, spot: Place, rack: Rack | None = None) -> tuple[Host, Level]:
        storage = self.description.storage
        assert storage is not None, "only called where there is one"
        capacity = rack.capacity if rack else None
        properties = storage_properties(storage, "/".join(spot.location), self.description.power, capacity)
        if spot.io_path:
            properties[IO_PATH] = "/".join(spot.io_path)
        name = rack.storage if rack and rack.storage else f"{storage.prefix}{next(self.storages)}"
        host = Host(name, (SERVER_SPEED,), properties=properties)
        if not storage.has_devices:
            return host, Level("storage", 1, storage.bandwidth, storage.latency, storage.duplex)
        read, write = map(storage.bandwidth_of, (storage.read_bandwidth, storage.write_bandwidth))
        return host, Devices("storage", 1, read, storage.latency, True, write_bandwidth=write)


def lay_out_tree(description: Description) -> list[Switch]:
    """The clusters' outermost switches, in the order of the description; hosts are numbered over all of them."""
    pfs, several = description.pfs, len(description.cluster) > 1
    nodes, storages = itertools.count(), itertools.count()
    tops = []
    for cluster in description.cluster:
        uplink, path = cluster.uplink, []
        if pfs is not None and pfs.scheduled:
            path.append(f"{pfs.name}={pfs.bandwidth:.0f}")
        if uplink.scheduled is not False:
            path.append(f"{cluster.name + '-' if several else ''}{uplink.name}={uplink.bandwidth:.0f}")
        top = Place(cluster.name, location=(cluster.name,) if several else (), io_path=tuple(path))
        tops.append(_Layout(description, cluster, nodes, storages).top(top, uplink))
    return tops


def _walk(levels: tuple[Level, ...], place: Place, deepest: int) -> Iterator[Place]:
    """All places below one, down to a depth, each before those below it."""
    if place.depth == deepest:
        return
    depth = place.depth + 1
    level, last = levels[depth], depth == len(levels) - 1
    counted = _counted(level, last)
    for number in range(level.count):
        child = place.below(level, number, counted)
        yield child
        yield from _walk(levels, child, deepest)


def _counted(level: Level, nodes: bool) -> bool:
    """Whether schedulers count the links of a level; ``nodes``: it is the nodes' own."""
    return level.bandwidth is not None and (not nodes if level.scheduled is None else level.scheduled)


def write_tree(description: Description) -> str:
    """The platform file of a description with topology ``tree``."""
    xml = XmlWriter(heading(description))
    master, pfs = description.master, description.pfs
    tops = lay_out_tree(description)
    with xml.inside("platform", version="4.1"), xml.inside("zone", id=f"{description.name}-site", routing="Full"):
        _write_server(xml, description, master.name, master_properties(description.power))
        if pfs is not None:
            _write_server(xml, description, pfs.name, pfs_properties(description.power))
        for top in tops:
            _write_switch(xml, top)
        xml.link("link_master", master.bandwidth, master.latency, "FATPIPE")
        if pfs is not None:
            xml.link("link_pfs", pfs.bandwidth, pfs.latency)
        _write_site_routes(xml, description, tops)
    return xml.text()


def _write_server(xml: XmlWriter, description: Description, name: str, properties: dict[str, str]) -> None:
    """A zone of one host, which has a link to itself."""
    with xml.inside("zone", id=f"{name}-zone", routing="Full"):
        xml.host(name, SERVER_SPEED, 1, properties)
        xml.link(f"{name}-loop", description.server_loopback, 0.0, "FATPIPE")
        xml.route(name, name, [(f"{name}-loop", "")], symmetrical=False)


def _write_site_routes(xml: XmlWriter, description: Description, tops: list[Switch]) -> None:
    """Join clusters, file system and master by the links of both ends, a cluster and the master by one link only."""
    pfs, master = description.pfs, description.master
    ends = [(top.zone, top.router, _write_link(xml, f"{top.place.name}-{top.link.name}", top.link)) for top in tops]
    for zone, gateway, _ in ends:
        xml.route(zone, f"{master.name}-zone", [("link_master", "")], True, (gateway, master.name))
    if pfs is not None:
        ends.append((f"{pfs.name}-zone", pfs.name, ("link_pfs", "")))
        steps = [("link_pfs", ""), ("link_master", "")]
        xml.route(f"{pfs.name}-zone", f"{master.name}-zone", steps, True, (pfs.name, master.name))
    for (zone, gateway, up), (other, far, down) in itertools.combinations(ends, 2):
        xml.route(zone, other, [up, (down[0], "DOWN" if down[1] else "")], True, (gateway, far))


def _write_switch(xml: XmlWriter, switch: Switch) -> None:
    """Write a switch's zone: a star of hosts, or its children around a centre."""
    if not switch.children:
        with xml.inside("zone", id=switch.zone, routing="Cluster"):
            _write_star(xml, switch)
        return
    middle = f"{switch.place.name}-middle"
    with xml.inside("zone", id=switch.zone, routing="DijkstraCache"):
        with xml.inside("zone", id=middle, routing="Cluster"):
            _write_star(xml, switch)
        for child in switch.children:
            _write_switch(xml, child)
        steps = [_write_link(xml, f"{child.place.name}-link", child.link) for child in switch.children]
        for child, step in zip(switch.children, steps, strict=True):
            xml.route(child.zone, middle, [step], True, (child.router, switch.router))


def _write_star(xml: XmlWriter, switch: Switch) -> None:
    xml.empty("router", id=switch.router)
    for host, link in switch.hosts:
        xml.host(host.name, host.speed, host.cores, host.properties)
        up, down = _write_host_link(xml, f"{host.name}-link", link)
        xml.empty("host_link", id=host.name, up=up, down=down)


def _write_host_link(xml: XmlWriter, name: str, level: Level) -> tuple[str, str]:
    """Write the link of a host; return the names of its two directions."""
    if isinstance(level, Devices):
        assert level.bandwidth is not None, "storage nodes have a link"
        xml.link(f"{name}_UP", level.bandwidth, level.latency)
        xml.link(f"{name}_DOWN", level.write_bandwidth, level.latency)
        return f"{name}_UP", f"{name}_DOWN"
    _, direction = _write_link(xml, name, level)
    return (f"{name}_UP", f"{name}_DOWN") if direction else (name, name)


def _write_link(xml: XmlWriter, name: str, level: Level) -> Step:
    """Write the link upwards from an instance of a level; return it as a step upwards."""
    assert level.bandwidth is not None, "only levels with a link get here"
    xml.link(name, level.bandwidth, level.latency, "SPLITDUPLEX" if level.duplex else "SHARED")
    return name, "UP" if level.duplex else ""
