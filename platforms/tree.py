"""Writes clusters that are trees and share a parallel file system as SimGrid XML.

Every switch is a router. The innermost switches with their nodes are star zones; a switch above others lies in the
middle of a zone with shortest-path routing over the links to those below it. So the file grows with the number of
nodes only, both SimGrid and :mod:`platforms.xml_reader` read it, and a route crosses each link on its way once.
Traffic to the file system crosses every link upwards, the cluster's uplink, then the file system's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from platforms.description import Description, Level, TreeCluster
from platforms.hosts import SERVER_SPEED, heading, master_properties, pfs_properties, storage_properties
from platforms.writer import Step, XmlWriter


@dataclass(frozen=True)
class Place:
    """An instance of a level: a switch where the level has a link, else just a place.

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
    uncounted
        Names of the places below the last counted link, which the next counted link's name begins with.
    """

    name: str
    depth: int = -1
    location: tuple[str, ...] = ()
    io_path: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()

    @property
    def zone(self) -> str:
        """Name of its zone."""
        return f"{self.name}-zone"

    @property
    def router(self) -> str:
        """Name of the router that stands for the switch."""
        return f"{self.name}-switch"

    def below(self, level: Level, number: int, counted: bool) -> Place:
        """Instance ``number`` of the next level; ``counted``: whether schedulers count its link."""
        own = f"{level.name}{number}" if level.count > 1 else level.name
        names = (*self.uncounted, own)
        io_path = (*self.io_path, f"{'-'.join(names)}={level.bandwidth:.0f}") if counted else self.io_path
        location = (*self.location, own) if level.count > 1 else self.location
        return Place(f"{self.name}-{own}", self.depth + 1, location, io_path, () if counted else names)


@dataclass
class _TreeWriter:
    """One file in the making."""

    description: Description
    xml: XmlWriter
    nodes: Iterator[int] = field(default_factory=itertools.count)
    storages: Iterator[int] = field(default_factory=itertools.count)

    def write(self) -> None:
        description, xml = self.description, self.xml
        master, pfs = description.master, description.pfs
        with xml.inside("platform", version="4.1"), xml.inside("zone", id=f"{description.name}-site", routing="Full"):
            self._server(master.name, master_properties())
            if pfs is not None:
                self._server(pfs.name, pfs_properties())
            for cluster in description.cluster:
                self._switch(cluster, self._top(cluster))
            xml.link("link_master", master.bandwidth, master.latency, "FATPIPE")
            if pfs is not None:
                xml.link("link_pfs", pfs.bandwidth, pfs.latency)
            uplinks = [
                self._link(f"{cluster.name}-{cluster.uplink.name}", cluster.uplink) for cluster in description.cluster
            ]
            self._site_routes(uplinks)

    def _server(self, name: str, properties: dict[str, str]) -> None:
        """A zone of one host, which can speak to itself."""
        with self.xml.inside("zone", id=f"{name}-zone", routing="Full"):
            self.xml.host(name, SERVER_SPEED, 1, properties)
            self.xml.link(f"{name}-loop", self.description.node.loopback, 0.0, "FATPIPE")
            self.xml.route(name, name, [(f"{name}-loop", "")], symmetrical=False)

    def _top(self, cluster: TreeCluster) -> Place:
        several = len(self.description.cluster) > 1
        pfs, uplink, path = self.description.pfs, cluster.uplink, []
        if pfs is not None and pfs.scheduled:
            path.append(f"{pfs.name}={pfs.bandwidth:.0f}")
        if uplink.scheduled is not False:
            path.append(f"{cluster.name + '-' if several else ''}{uplink.name}={uplink.bandwidth:.0f}")
        return Place(cluster.name, location=(cluster.name,) if several else (), io_path=tuple(path))

    def _site_routes(self, uplinks: list[Step]) -> None:
        """Between clusters, file system and master: the links of both ends, but to the master its own only."""
        xml, pfs, master = self.xml, self.description.pfs, self.description.master
        tops = [Place(cluster.name) for cluster in self.description.cluster]
        ends = [(top.zone, top.router, uplink) for top, uplink in zip(tops, uplinks, strict=True)]
        if pfs is not None:
            ends.append((f"{pfs.name}-zone", pfs.name, ("link_pfs", "")))
        for zone, gateway, step in ends:
            links = [("link_master", "")] if step[0] != "link_pfs" else [step, ("link_master", "")]
            xml.route(zone, f"{master.name}-zone", links, True, (gateway, master.name))
        for (zone, gateway, step), (other, far, last) in itertools.combinations(ends, 2):
            xml.route(zone, other, [step, _opposite(last)], True, (gateway, far))

    def _switch(self, cluster: TreeCluster, place: Place) -> None:
        """A switch's zone: a star of nodes, or what hangs below it around a middle."""
        levels = cluster.levels
        linked = next(depth for depth in range(place.depth + 1, len(levels)) if levels[depth].bandwidth is not None)
        if linked == len(levels) - 1:
            with self.xml.inside("zone", id=place.zone, routing="Cluster"):
                self._star(cluster, place, linked)
            return
        with self.xml.inside("zone", id=place.zone, routing="DijkstraCache"):
            with self.xml.inside("zone", id=f"{place.name}-middle", routing="Cluster"):
                self._star(cluster, place, linked)
            children = [child for child in _walk(cluster, place, linked) if child.depth == linked]
            for child in children:
                self._switch(cluster, child)
            steps = [self._link(f"{child.name}-link", levels[linked]) for child in children]
            for child, step in zip(children, steps, strict=True):
                gateways = (child.router, place.router)
                self.xml.route(child.zone, f"{place.name}-middle", [step], True, gateways)

    def _star(self, cluster: TreeCluster, place: Place, linked: int) -> None:
        """A switch's router, the storage hosts at it and, if it is an innermost switch, its nodes."""
        node, storage = self.description.node, self.description.storage
        self.xml.empty("router", id=place.router)
        for spot in (place, *_walk(cluster, place, linked)):
            level = cluster.levels[spot.depth] if spot.depth >= 0 else None
            if level is None:
                continue
            if spot.depth == linked == len(cluster.levels) - 1:
                name = f"{node.prefix}{next(self.nodes)}"
                self.xml.host(name, node.speed, node.cores, _node_properties(spot))
                self._attach(name, self._link(f"{name}-link", level))
            elif storage is not None and storage.per == level.name and spot.depth < linked:
                name = f"{storage.prefix}{next(self.storages)}"
                link = Level(name, 1, storage.bandwidth, storage.latency, storage.duplex)
                self.xml.host(name, SERVER_SPEED, 1, storage_properties(storage, "/".join(spot.location)))
                self._attach(name, self._link(f"{name}-link", link))

    def _link(self, name: str, level: Level) -> Step:
        """Write the link upwards from an instance of a level; return it as a step upwards."""
        assert level.bandwidth is not None, "only levels with a link get here"
        self.xml.link(name, level.bandwidth, level.latency, "SPLITDUPLEX" if level.duplex else "SHARED")
        return name, "UP" if level.duplex else ""

    def _attach(self, host: str, step: Step) -> None:
        name, direction = step
        up, down = (f"{name}_UP", f"{name}_DOWN") if direction else (name, name)
        self.xml.empty("host_link", id=host, up=up, down=down)


def _walk(cluster: TreeCluster, place: Place, deepest: int) -> Iterator[Place]:
    """All places below one, down to a depth, each before those below it."""
    if place.depth == deepest:
        return
    depth = place.depth + 1
    level, last = cluster.levels[depth], depth == len(cluster.levels) - 1
    counted = level.bandwidth is not None and (not last if level.scheduled is None else level.scheduled)
    for number in range(level.count):
        child = place.below(level, number, counted)
        yield child
        yield from _walk(cluster, child, deepest)


def _node_properties(node: Place) -> dict[str, str]:
    """What a compute node's host says: where it is, and the counted links above it (its own with them if counted)."""
    properties = {"location": "/".join(node.location[:-1]), "io_path": "/".join(node.io_path)}
    return {key: value for key, value in properties.items() if value}


def _opposite(step: Step) -> Step:
    return step[0], {"UP": "DOWN", "": ""}[step[1]]


def write_tree(description: Description) -> str:
    """The platform file of a description with topology ``tree``."""
    xml = XmlWriter(heading(description))
    _TreeWriter(description, xml).write()
    return xml.text()
