"""The machine as a graph: hosts, routers and switches, joined by cables. For distances and pictures.

Vertices are names with attributes ``kind`` (``node``, ``storage``, ``router``, ``pfs``, ``master``), ``location``
(places from the outside in) and, on storage hosts, ``capacity_bytes``. Edges have ``level`` (``local``, ``green``,
``black``, ``blue``, or the name of a tree's level), ``bandwidth`` in bytes/s and ``latency`` in s. A Dragonfly's file
system and every machine's master have no edges: all traffic reaches them over a link of their own, with its bandwidth
and latency at their vertices. The root of a tree is its file system, or a vertex for the site without a file system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import networkx as nx

from spillway.platforms.description.dragonfly import DragonflyMachine, lay_out
from spillway.platforms.description.machine import Description, FileSystem, Level, Master
from spillway.platforms.description.tree import Switch, lay_out_tree
from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Host, Platform
from spillway.platforms.simgrid.zones.dragonfly import pairs

_ROUTE_GRAPH_LIMIT = 400
"""Largest number of hosts for which :func:`route_graph` follows all routes."""


def topology(description: Description) -> nx.Graph:
    """The graph of a described machine; vertices in the order of the platform's hosts, then routers."""
    graph = _TOPOLOGIES[description.topology](description)
    graph.graph.update(name=description.name, summary=description.summary, topology=description.topology)
    _add_server(graph, description.master, "master")
    if description.pfs is not None:
        _add_server(graph, description.pfs, "pfs")
    return graph


def route_graph(platform: Platform) -> nx.Graph:
    """The graph of any platform, from its routes: hosts and links are vertices, neighbours on a route are joined.

    Raises
    ------
    PlatformError
        With more than :data:`_ROUTE_GRAPH_LIMIT` hosts.
    """
    count = len(platform.hosts)
    if count > _ROUTE_GRAPH_LIMIT:
        raise PlatformError(
            f"the platform has {count} hosts; its graph can be drawn up to {_ROUTE_GRAPH_LIMIT} from XML, or from its"
            " description",
            platform.source,
        )
    graph = nx.Graph(name=platform.source, summary="", topology="routes")
    for host in platform.hosts:
        graph.add_node(host.name, **_host_attributes(host))
    for src, dst in pairs(count):
        names = [f"link {platform.links[link].name}" for link in _route_or_nothing(platform, src, dst)]
        for name in names:
            graph.add_node(name, kind="link", location=())
        way = [platform.hosts[src].name, *names, platform.hosts[dst].name]
        graph.add_edges_from(pairwise(way) if names else ())
    return graph


def _route_or_nothing(platform: Platform, src: int, dst: int) -> tuple[int, ...]:
    try:
        return platform.route(src, dst).links
    except PlatformError:
        return ()


def _dragonfly(description: Description) -> nx.Graph:
    machine: DragonflyMachine = lay_out(description)
    shape, graph = machine.shape, nx.Graph()
    for host in machine.hosts[: shape.node_count]:
        graph.add_node(host.name, **_host_attributes(host))

    def join(one: str, other: str, level: str, link: int) -> None:
        cable = machine.links[link]
        graph.add_edge(one, other, level=level, bandwidth=cable.bandwidth, latency=cable.latency)

    routers = []
    for number in range(shape.router_count):
        group, chassis, blade = shape.place(number)
        location = (f"g{group}", f"c{chassis}", f"r{blade}")
        routers.append(f"router {'/'.join(location)}")
        graph.add_node(routers[-1], kind="router", location=location)
    for node in range(shape.node_count):
        join(machine.hosts[node].name, routers[node // shape.nodes], "local", machine.network.local[node][0])
    for (router, blade), link in machine.network.green.items():
        group, chassis, _ = shape.place(router)
        join(routers[router], routers[shape.router(group, chassis, blade)], "green", link)
    for (router, chassis), link in machine.network.black.items():
        group, _, blade = shape.place(router)
        join(routers[router], routers[shape.router(group, chassis, blade)], "black", link)
    for first, other in pairs(shape.groups):
        near, far = shape.router(first, 0, other), shape.router(other, 0, first)
        join(routers[near], routers[far], "blue", machine.network.blue[near])
    return graph


def _tree(description: Description) -> nx.Graph:
    graph = nx.Graph()

    def add(switch: Switch, above: str | None, link: Level) -> None:
        graph.add_node(switch.router, kind="router", location=switch.place.location)
        if above is not None:
            graph.add_edge(switch.router, above, level=link.name, bandwidth=link.bandwidth, latency=link.latency)
        for host, own in switch.hosts:
            graph.add_node(host.name, **_host_attributes(host))
            graph.add_edge(host.name, switch.router, level=own.name, bandwidth=own.bandwidth, latency=own.latency)
        for child in switch.children:
            add(child, switch.router, child.link)

    if description.pfs is not None:
        site = description.pfs.name
    else:
        site = f"{description.name}-site"
        graph.add_node(site, kind="router", location=())
    for top in lay_out_tree(description):
        add(top, site, top.link)
    return graph


_TOPOLOGIES: Mapping[str, Callable[[Description], nx.Graph]] = {"dragonfly": _dragonfly, "tree": _tree}


def _add_server(graph: nx.Graph, server: Master | FileSystem, kind: str) -> None:
    graph.add_node(server.name, kind=kind, location=(), bandwidth=server.bandwidth, latency=server.latency)


def _host_attributes(host: Host) -> dict[str, object]:
    location = host.properties.get("location", host.zone_properties.get("location", ""))
    kinds = {"storage": host.properties.get("storage_kind", "storage"), "master": "master"}
    kind = kinds.get(host.role, "node")
    attributes: dict[str, object] = {
        "kind": "pfs" if kind == "pfs" or host.name == "pfs" else "storage" if host.role == "storage" else kind,
        "location": tuple(location.split("/")) if location else (),
    }
    if "capacity_bytes" in host.properties:
        attributes["capacity_bytes"] = int(host.properties["capacity_bytes"])
    return attributes
