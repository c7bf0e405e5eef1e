"""Resource graphs in the JSON Graph Format, as Flux writes them: cluster, chassis, nodes, cores, SSDs.

A graph is the whole file (``{"graph": ...}``) or part of a resource set (``scheduling.graph`` of an ``R``). A vertex
that contains SSDs and is not a node is a rack with a storage node, named by the property ``rabbit``. The capacity is
the sum of the SSDs, or the property ``spillway.capacity_bytes``, because SSDs are whole GiB. A graph that is written
here keeps the data that the format cannot express (links, speeds, the file system) in the cluster's property
``spillway.description``.

References
----------
Flux RFC 20, *Resource Set Specification Version 1*; flux-sched, *JSON Graph Format* of ``resource/readers``;
flux-framework/flux-coral2, ``flux-dws2jgf``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spillway.base.files import parse_json
from spillway.base.hostlist import compressed
from spillway.base.limits import NESTING, InputError
from spillway.platforms.description.forms import identifier
from spillway.platforms.errors import PlatformError
from spillway.platforms.sites.inventory import Inventory, RackFacts, with_nodes

CAPACITY = "spillway.capacity_bytes"
DESCRIPTION = "spillway.description"
GIB = 2**30

_UNITS: Mapping[str, int] = {"B": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate("KMGTP", 1)
    for suffix, base in (("B", 1000), ("iB", 1024))
}
_MEANT = frozenset({"cluster", "rack", "chassis", "node", "socket", "core", "ssd"})
"""Types of vertices that are read; others are counted."""
_DOWN = 1
"""A vertex's ``status`` that is not up."""


@dataclass(slots=True, eq=False)
class _Vertex:
    """A vertex, with the vertices in it."""

    where: str
    kind: str
    name: str
    metadata: Mapping[str, Any]
    parent: _Vertex | None = None
    inside: list[_Vertex] = field(default_factory=list)

    @property
    def properties(self) -> Mapping[str, Any]:
        found = self.metadata.get("properties")
        return found if isinstance(found, dict) else {}

    def walk(self) -> Iterator[_Vertex]:
        """This vertex and all below it, each before its children."""
        stack = [self]
        while stack:
            one = stack.pop()
            yield one
            stack.extend(reversed(one.inside))


def graph_in(data: Any) -> Any:
    """The graph of a JSON value: its own, or that of the resource set's ``scheduling``; ``None`` if absent."""
    if isinstance(data, dict) and isinstance(data.get("scheduling"), dict):
        data = data["scheduling"]
    return data.get("graph") if isinstance(data, dict) else None


def read_graph(data: Any, source: str) -> Inventory:
    """Read a graph.

    Raises
    ------
    PlatformError
        The data are not a valid graph; the message names the place.
    """
    vertices = _vertices(graph_in(data), source)
    top = next((vertex for vertex in vertices if vertex.parent is None), None)
    if top is None:
        raise PlatformError("graph.nodes: expected nodes or SSDs, found neither", source)
    storages = {id(vertex): _storage(vertex, source) for vertex in vertices if _holds_storage(vertex)}
    racks: dict[int, list[str]] = {key: [] for key in storages}
    cores: dict[int, str] = {}
    for node in (vertex for vertex in vertices if vertex.kind == "node"):
        racks.setdefault(id(_home(node, storages)), []).append(node.name)
        cores.setdefault(sum(_count(vertex, source) for vertex in node.walk() if vertex.kind == "core"), node.where)
    if len(cores) > 1:
        counts = ", ".join(map(str, sorted(cores)))
        raise PlatformError(f"graph.nodes: nodes have {counts} cores; a description has one number for all", source)
    order = {id(vertex): place for place, vertex in enumerate(vertices)}
    inventory = Inventory(
        top.name,
        with_nodes(
            {key: RackFacts((), name, size) for key, (name, size) in storages.items()},
            {key: racks[key] for key in sorted(racks, key=order.__getitem__)},
        ),
        next(iter(cores), 0),
        next((vertex.kind for vertex in vertices if id(vertex) in racks and vertex is not top), "rack"),
        _stated(top, source),
        tuple(_notes(vertices)),
    )
    if not inventory.racks:
        raise PlatformError("graph.nodes: expected nodes or SSDs, found neither", source)
    inventory.refuse_twins(source)
    return inventory


def _vertices(graph: Any, source: str) -> list[_Vertex]:
    nodes, edges = ((graph.get(key) if isinstance(graph, dict) else None) for key in ("nodes", "edges"))
    for name, value in (("nodes", nodes), ("edges", edges)):
        if not isinstance(value, list):
            raise PlatformError(f"graph.{name}: expected a list, got {_shown(value)}", source)
    found: dict[str, _Vertex] = {}
    for place, node in enumerate(nodes or ()):
        where = f"graph.nodes[{place}]"
        metadata = node.get("metadata") if isinstance(node, dict) else None
        if not isinstance(metadata, dict) or not isinstance(metadata.get("type"), str) or "id" not in node:
            raise PlatformError(f"{where}: expected an 'id' and 'metadata' with a 'type', got {_shown(node)}", source)
        key = str(node["id"])
        if key in found:
            raise PlatformError(f"{where}.id: {key!r} is that of {found[key].where} too", source)
        found[key] = _Vertex(where, metadata["type"], _name(metadata, where, source), metadata)
    for place, edge in enumerate(edges or ()):
        _join(found, edge, f"graph.edges[{place}]", source)
    _refuse_circles(found.values(), source)
    return list(found.values())


def _refuse_circles(vertices: Collection[_Vertex], source: str) -> None:
    """Raise if vertices contain each other or are nested too deep."""
    level = [vertex for vertex in vertices if vertex.parent is None]
    seen = {id(vertex) for vertex in level}
    for _ in range(NESTING.value):
        level = [inner for vertex in level for inner in vertex.inside]
        seen.update(map(id, level))
    lost = next((vertex for vertex in vertices if id(vertex) not in seen), None)
    if lost is not None:
        raise PlatformError(
            f"graph.edges: {lost.where} lies in itself, by way of others, or more than {NESTING.value} levels deep",
            source,
        )


def _join(found: Mapping[str, _Vertex], edge: Any, where: str, source: str) -> None:
    ends = [str(edge.get(key)) if isinstance(edge, dict) else "" for key in ("source", "target")]
    for end in ends:
        if end not in found:
            raise PlatformError(
                f"{where}: expected 'source' and 'target' among the vertices, got {_shown(edge)}", source
            )
    if '"in"' in json.dumps(edge.get("metadata")):  # the reverse edge of a containment, which some writers state, too
        return
    outer, inner = found[ends[0]], found[ends[1]]
    if inner.parent is not None or outer is inner:
        raise PlatformError(f"{where}: {inner.where} lies in two others, or in itself", source)
    inner.parent = outer
    outer.inside.append(inner)


def _name(metadata: Mapping[str, Any], where: str, source: str) -> str:
    stated = metadata.get("name") or f"{metadata.get('basename') or metadata['type']}{metadata.get('id', '')}"
    try:
        return identifier(stated)
    except ValueError as error:
        raise PlatformError(f"{where}.metadata.name: {error}", source) from None


def _holds_storage(vertex: _Vertex) -> bool:
    return vertex.kind != "node" and (
        "rabbit" in vertex.properties or any(vertex.kind == "ssd" for vertex in vertex.inside)
    )


def _storage(vertex: _Vertex, source: str) -> tuple[str, int]:
    """Name and bytes of a rack's storage node."""
    where, name = f"{vertex.where}.metadata.properties", vertex.properties.get("rabbit", f"{vertex.name}-ssd")
    try:
        name = identifier(name)
    except ValueError as error:
        raise PlatformError(f"{where}.rabbit: {error}", source) from None
    size = sum(_size(vertex, source) for vertex in vertex.inside if vertex.kind == "ssd")
    exact = vertex.properties.get(CAPACITY)
    if exact is None:
        return name, size
    if not isinstance(exact, str) or not exact.isdecimal() or len(exact) > 16 or not 0 <= int(exact) - size < GIB:
        raise PlatformError(
            f"{where}.{CAPACITY}: expected whole bytes from {size} (its SSDs) to one GiB more, got {_shown(exact)}",
            source,
        )
    return name, int(exact)


def _size(ssd: _Vertex, source: str) -> int:
    unit = ssd.metadata.get("unit", "")
    if not isinstance(unit, str) or unit not in _UNITS:
        raise PlatformError(
            f"{ssd.where}.metadata.unit: expected one of {', '.join(_UNITS)}, got {_shown(unit)}", source
        )
    factor: int = _UNITS[unit]
    return _count(ssd, source) * factor


def _count(vertex: _Vertex, source: str) -> int:
    size = vertex.metadata.get("size", 1)
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**40:
        raise PlatformError(f"{vertex.where}.metadata.size: expected a whole number, got {_shown(size)}", source)
    return size


def _home(node: _Vertex, storages: Mapping[int, Any]) -> _Vertex:
    """The nearest rack with storage around a node; else its parent, or the node itself."""
    above = node.parent
    while above is not None:
        if id(above) in storages:
            return above
        above = above.parent
    return node.parent or node


def _stated(top: _Vertex, source: str) -> dict[str, Any]:
    text = top.properties.get(DESCRIPTION)
    if text is None:
        return {}
    where = f"{top.where}.metadata.properties.{DESCRIPTION}"
    if not isinstance(text, str):
        raise PlatformError(f"{where}: expected a text, got {_shown(text)}", source)
    try:
        found = parse_json(text)
    except InputError as error:
        raise PlatformError(f"{where}: {error}", source) from None
    if not isinstance(found, dict):
        raise PlatformError(f"{where}: expected an object, got {_shown(found)}", source)
    return found


def _notes(vertices: list[_Vertex]) -> Iterator[str]:
    others = Counter(vertex.kind for vertex in vertices if vertex.kind not in _MEANT)
    local = sum(
        vertex.kind == "ssd" and vertex.parent is not None and vertex.parent.kind == "node" for vertex in vertices
    )
    for kind, count in sorted(others.items()):
        yield f"{count} vertices of type {kind!r} are passed over"
    if local:
        yield f"{local} SSDs in nodes are passed over: no node shares them"
    down = sum(vertex.kind == "ssd" and vertex.metadata.get("status") == _DOWN for vertex in vertices)
    if down:
        yield f"{down} SSDs are marked down in the graph; their capacity counts"


def _shown(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


# ---------------------------------------------------------------- writing


def written(inventory: Inventory) -> dict[str, Any]:
    """A resource set with the graph of a machine; one SSD for each storage node, of its whole GiB."""
    graph = _Writer()
    top = graph.add("", "cluster", inventory.name, properties={DESCRIPTION: json.dumps(inventory.stated)})
    cores = max(inventory.cores, 1)
    rank = 0
    for number, rack in enumerate(inventory.racks):
        properties = {"rabbit": rack.storage, "ssdcount": "1", CAPACITY: str(rack.capacity)} if rack.storage else {}
        place = graph.add(top, inventory.rack_word, f"{inventory.rack_word}{number}", id=number, properties=properties)
        if rack.storage:
            graph.add(place, "ssd", "ssd0", id=0, unit="GiB", size=rack.capacity // GIB, status=0)
        for name in rack.nodes:
            node = graph.add(place, "node", name, rank=rank)
            for core in range(cores):
                graph.add(node, "core", f"core{core}", id=core, rank=rank)
            rank += 1
    names = compressed(name for rack in inventory.racks for name in rack.nodes)
    lite = {"rank": _ids(rank), "children": {"core": _ids(cores)}}
    return {
        "version": 1,
        "execution": {"R_lite": [lite], "starttime": 0, "expiration": 0, "nodelist": [names]},
        "scheduling": {"graph": {"directed": False, "nodes": graph.nodes, "edges": graph.edges}},
    }


@dataclass
class _Writer:
    """Numbers vertices and joins each with its parent."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, str]] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)

    def add(self, parent: str, kind: str, name: str, **metadata: Any) -> str:
        """Append a vertex below another; return its id."""
        key = str(len(self.nodes))
        self.paths[key] = f"{self.paths.get(parent, '')}/{name}"
        stated = {"type": kind, "name": name, **metadata, "paths": {"containment": self.paths[key]}}
        self.nodes.append({"id": key, "metadata": stated})
        if parent:
            self.edges.append({"source": parent, "target": key})
        return key


def _ids(count: int) -> str:
    return "0" if count <= 1 else f"0-{count - 1}"
