"""Reads SimGrid's platform files (XML, version 4.1) as SimGrid 3.32 does.

The file is read in one pass; as in SimGrid, names must be defined before they are used. Unknown elements and attributes
are refused, with their name and the line.

References
----------
SimGrid's XML reference, https://simgrid.org/doc/latest/XML_Reference.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from spillway.base import units
from spillway.base.files import read_file
from spillway.base.limits import ELEMENTS, HOSTS, InputError
from spillway.platforms import cache
from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Host, Platform, Sharing
from spillway.platforms.simgrid.builder import PlatformBuilder
from spillway.platforms.simgrid.cluster_spec import ClusterSpec
from spillway.platforms.simgrid.clusters import add_cluster
from spillway.platforms.simgrid.xml_rules import ALIASES, CHILDREN, Attributes, check_attributes
from spillway.platforms.simgrid.zones import ROUTINGS
from spillway.platforms.simgrid.zones.base import Hop, Point, PointKind, RouteLink, Zone
from spillway.platforms.simgrid.zones.star import StarZone
from spillway.platforms.simgrid.zones.vivaldi import VivaldiZone

_NO_EFFECT = "contexts/"
"""Prefix of options that do not change SimGrid's results (such as upstream's stack sizes)."""


def load_platform(path: str | Path) -> Platform:
    """Read a platform file; ``.xz`` files are unpacked on the way.

    Raises
    ------
    PlatformError
        With file and line, for everything that cannot be read exactly as SimGrid 3.32 would.
    """
    path = Path(path)
    try:
        data = read_file(path)
    except InputError as error:
        raise PlatformError(f"the platform file {error}", str(path)) from None
    return parse_platform(data, str(path))


def parse_platform(text: str | bytes, source: str = "") -> Platform:
    """Read a platform from XML text; ``source`` names it in messages."""
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    return cache.platform(data, source, lambda: _Reader(source).read(text))


def _without_leading_space(text: str | bytes) -> tuple[int, str | bytes]:
    """Number of leading lines left out, and the remaining text: XML allows no space there, SimGrid ignores it."""
    if isinstance(text, str):
        stripped = text.lstrip(" \t\r\n")
        return text.count("\n", 0, len(text) - len(stripped)), stripped
    rest = text.lstrip(b" \t\r\n")
    return text.count(b"\n", 0, len(text) - len(rest)), rest


_WITH_LINKS = frozenset(tag for tag, inside in CHILDREN.items() if "link_ctn" in inside)
"""Elements that list links: the routes."""


@dataclass(slots=True)
class _OpenElement:
    """An element that is still open."""

    tag: str
    attributes: Attributes
    properties: dict[str, str] = field(default_factory=dict)
    lists_links: bool = False


_LINK_CTN = _OpenElement("link_ctn", {})
"""Shared by all ``<link_ctn>`` elements: they contain nothing, and their ends need no action."""


class _Reader:
    """One pass over one file."""

    def __init__(self, source: str):
        self.source = source
        self.builder = PlatformBuilder()
        self.zone: Zone | None = None
        self.stack: list[_OpenElement] = []
        self.most = ELEMENTS.value
        self.route_links: list[RouteLink] = []
        self.starts: Mapping[str, Callable[[Attributes], None]] = {
            "platform": self._start_platform,
            "zone": self._start_zone,
            "router": self._start_router,
            "prop": self._start_prop,
        }
        self.ends: Mapping[str, Callable[[_OpenElement], None]] = {
            "zone": self._end_zone,
            "host": self._end_host,
            "link": self._end_link,
            "cluster": self._end_cluster,
            "cabinet": self._end_cabinet,
            "host_link": self._end_host_link,
            "backbone": self._end_backbone,
            "route": self._end_route,
            "zoneRoute": self._end_zone_route,
            "config": self._end_config,
        }

    def read(self, text: str | bytes) -> Platform:
        self.parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._refuse_entity
        blank, text = _without_leading_space(text)
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            message = f"not well-formed XML: {expat.errors.messages[error.code]} (column {error.offset})"
            raise PlatformError(message, self.source, blank + error.lineno) from None
        except PlatformError as error:
            raise PlatformError(str(error), self.source, blank + parser.CurrentLineNumber) from None
        except (LookupError, ValueError) as error:  # expat asks Python for encodings that it does not have
            message = f"the encoding that the file declares is not read ({error}); write UTF-8"
            raise PlatformError(message, self.source, 1) from None
        try:
            return self.builder.finish(self.source)
        except PlatformError as error:
            raise PlatformError(str(error), self.source) from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        stack = self.stack
        if tag == "link_ctn" and stack and stack[-1].lists_links and len(attributes) == 1 and len(stack) < self.most:
            name = attributes.get("id")  # most elements of a file with all routes
            if name is not None:
                self.route_links.append(self.builder.route_link(name, "NONE"))
                stack.append(_LINK_CTN)
                return
        tag = ALIASES.get(tag, tag)
        parent = stack[-1].tag if stack else ""
        if tag not in CHILDREN.get(parent, ()):
            self._refuse_element(tag, parent)
        if len(stack) >= self.most:
            raise PlatformError(ELEMENTS.text())
        check_attributes(tag, attributes)
        if tag == "link_ctn":
            self.route_links.append(self.builder.route_link(attributes["id"], attributes.get("direction", "NONE")))
            stack.append(_LINK_CTN)
            return
        stack.append(_OpenElement(tag, attributes, lists_links=tag in _WITH_LINKS))
        start = self.starts.get(tag)
        if start is not None:
            start(attributes)

    def _end(self, _: str) -> None:
        element = self.stack.pop()
        if element is _LINK_CTN:
            return
        end = self.ends.get(element.tag)
        if end is not None:
            end(element)

    def _refuse_element(self, tag: str, parent: str) -> NoReturn:
        allowed = ", ".join(CHILDREN.get(parent, ())) or "nothing"
        where = f"inside <{parent}>" if parent else "as outermost element"
        raise PlatformError(f"element <{tag}> is not understood {where}; understood there: {allowed}")

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise PlatformError(f"entity declarations such as {name!r} are not read; write the text itself")

    def _start_platform(self, attributes: Attributes) -> None:
        version = attributes["version"]
        if version not in ("4", "4.0", "4.1"):
            raise PlatformError(f"<platform version={version!r}> is not read, only 4 and 4.1; use simgrid_update_xml")

    def _start_zone(self, attributes: Attributes) -> None:
        routing = attributes["routing"]
        kind = ROUTINGS.get(routing.lower())
        if kind is None:
            known = ", ".join(["Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster", "Vivaldi", "None"])
            raise PlatformError(f"zone {attributes['id']!r}: routing {routing!r} is not understood; known: {known}")
        self._refuse_mixture(self.zone, PointKind.ZONE, attributes["id"])
        self.zone = self.builder.add_zone(kind(attributes["id"], self.zone))

    def _end_zone(self, element: _OpenElement) -> None:
        zone = self._zone(element)
        zone.properties.update(element.properties)
        zone.seal(self.builder.loopback)
        self.zone = zone.parent

    def _start_router(self, attributes: Attributes) -> None:
        zone = self._zone(self.stack[-1])
        self._refuse_mixture(zone, PointKind.ROUTER, attributes["id"])
        self._place(self.builder.add_router(zone, attributes["id"]), attributes)

    def _start_prop(self, attributes: Attributes) -> None:
        self.stack[-2].properties.setdefault(attributes["id"], attributes["value"])

    def _end_host(self, element: _OpenElement) -> None:
        attributes, zone = element.attributes, self._zone(element)
        name = attributes["id"]
        self._refuse_mixture(zone, PointKind.HOST, name)
        speeds = _speeds(attributes, f"host {name!r}")
        pstate = _whole(attributes.get("pstate", "0"), f"host {name!r}: attribute 'pstate'")
        if pstate >= len(speeds):
            raise PlatformError(f"host {name!r}: pstate {pstate} of {len(speeds)} speeds; the first one is 0")
        cores = _whole(attributes.get("core", "1"), f"host {name!r}: attribute 'core'", 1)
        host = Host(name, speeds, cores, element.properties, pstate=pstate)
        self._place(self.builder.add_host(zone, host), attributes)

    def _place(self, point: Point, attributes: Attributes) -> None:
        """Note a point's coordinates; as in SimGrid, only zones with ``routing="Vivaldi"`` use them."""
        if isinstance(point.zone, VivaldiZone):
            point.zone.place(point, attributes.get("coordinates"))

    def _end_link(self, element: _OpenElement) -> None:
        attributes = element.attributes
        what = f"link {attributes['id']!r}"
        bandwidth = _quantity(attributes, "bandwidth", units.BANDWIDTH, what)
        latency = _quantity(attributes, "latency", units.TIME, what)
        policy = attributes.get("sharing_policy", "SHARED")
        if policy in ("SPLITDUPLEX", "FULLDUPLEX"):
            self.builder.add_duplex(attributes["id"], bandwidth, latency)
        else:
            self.builder.add_link(attributes["id"], bandwidth, latency, Sharing(policy))

    def _end_cluster(self, element: _OpenElement) -> None:
        attributes = element.attributes
        what = f"cluster {attributes['id']!r}"
        self._refuse_mixture(self.zone, PointKind.ZONE, attributes["id"])
        spec = ClusterSpec(
            name=attributes["id"],
            prefix=attributes["prefix"],
            suffix=attributes["suffix"],
            radical=_radical(attributes["radical"], what),
            speeds=_speeds(attributes, what),
            cores=_whole(attributes.get("core", "1"), f"{what}: attribute 'core'", 1),
            bandwidth=_quantity(attributes, "bw", units.BANDWIDTH, what),
            latency=_quantity(attributes, "lat", units.TIME, what),
            split=attributes.get("sharing_policy", "SPLITDUPLEX") in ("SPLITDUPLEX", "FULLDUPLEX"),
            topology=attributes.get("topology", "FLAT"),
            parameters=attributes.get("topo_parameters", ""),
            backbone_bandwidth=_quantity(attributes, "bb_bw", units.BANDWIDTH, what),
            backbone_latency=_quantity(attributes, "bb_lat", units.TIME, what),
            backbone_policy=Sharing(attributes.get("bb_sharing_policy", "SHARED")),
            limiter_bandwidth=_quantity(attributes, "limiter_link", units.BANDWIDTH, what),
            loopback_bandwidth=_quantity(attributes, "loopback_bw", units.BANDWIDTH, what),
            loopback_latency=_quantity(attributes, "loopback_lat", units.TIME, what),
            router=attributes.get("router_id", ""),
            properties=element.properties,
        )
        add_cluster(self.builder, self.zone, spec)

    def _end_cabinet(self, element: _OpenElement) -> None:
        attributes, zone = element.attributes, self._star(element)
        what = f"cabinet {attributes['id']!r}"
        speed = _quantity(attributes, "speed", units.SPEED, what)
        bandwidth = _quantity(attributes, "bw", units.BANDWIDTH, what)
        latency = _quantity(attributes, "lat", units.TIME, what)
        for number in _radical(attributes["radical"], what):
            name = f"{attributes['prefix']}{number}{attributes['suffix']}"
            point = self.builder.add_host(zone, Host(name, (speed,)))
            zone.attach(point, *self.builder.add_duplex(f"link_{name}", bandwidth, latency))

    def _end_host_link(self, element: _OpenElement) -> None:
        attributes, zone = element.attributes, self._star(element)
        point = self.builder.point_named(attributes["id"], "<host_link>: attribute 'id'")
        if point.zone is not zone or point.kind is not PointKind.HOST:
            raise PlatformError(f"<host_link id={attributes['id']!r}>: expected a host of zone {zone.name!r}")
        up = self.builder.route_link(attributes["up"], "NONE")
        down = self.builder.route_link(attributes["down"], "NONE")
        zone.attach(point, up.forth, down.forth)

    def _end_backbone(self, element: _OpenElement) -> None:
        attributes, zone = element.attributes, self._star(element)
        what = f"backbone {attributes['id']!r}"
        bandwidth = _quantity(attributes, "bandwidth", units.BANDWIDTH, what)
        latency = _quantity(attributes, "latency", units.TIME, what)
        zone.backbone = self.builder.add_link(attributes["id"], bandwidth, latency)

    def _end_route(self, element: _OpenElement) -> None:
        src, dst = self._ends(element, "src", "dst")
        self._add_route(element, src, dst, None, None)

    def _end_zone_route(self, element: _OpenElement) -> None:
        src, dst = self._ends(element, "src", "dst")
        gw_src, gw_dst = self._ends(element, "gw_src", "gw_dst")
        for side, zone_point, gateway in (("src", src, gw_src), ("dst", dst, gw_dst)):
            if zone_point.inner is None:
                raise PlatformError(f"<zoneRoute>: attribute {side!r} names {zone_point.name!r}, which is no zone")
            if gateway.kind is PointKind.ZONE or not zone_point.inner.contains(gateway):
                raise PlatformError(
                    f"<zoneRoute>: attribute 'gw_{side}' names {gateway.name!r}, which is no host or router of zone"
                    f" {zone_point.name!r}"
                )
        if src is dst:
            raise PlatformError(f"<zoneRoute>: 'src' and 'dst' are both {src.name!r}")
        self._add_route(element, src, dst, gw_src, gw_dst)

    def _add_route(
        self, element: _OpenElement, src: Point, dst: Point, gw_src: Point | None, gw_dst: Point | None
    ) -> None:
        zone, links = self._zone(element), self.route_links
        self.route_links = []
        for point in (src, dst):
            if point.zone is not zone or (gw_src is None) is (point.kind is PointKind.ZONE):
                expected = "an inner zone" if gw_src is not None else "a host or router"
                raise PlatformError(f"<{element.tag}>: expected {expected} of zone {zone.name!r}, got {point.name!r}")
        if not links:
            raise PlatformError(f"<{element.tag}> from {src.name!r} to {dst.name!r} lists no links")
        forth = Hop(tuple([link.forth for link in links]), gw_src, gw_dst)
        back = None
        if element.attributes.get("symmetrical", "YES") in ("YES", "yes"):
            back = Hop(tuple([link.back for link in reversed(links)]), gw_dst, gw_src)
        zone.add_route(src, dst, forth, back)

    def _end_config(self, element: _OpenElement) -> None:
        known = {
            "network/loopback-bw": ("loopback_bandwidth", units.BANDWIDTH),
            "network/loopback-lat": ("loopback_latency", units.TIME),
        }
        for name, value in element.properties.items():
            if name.startswith(_NO_EFFECT):
                continue
            if name not in known:
                raise PlatformError(f"configuration {name!r} is not understood; known: {', '.join(known)}")
            attribute, scale = known[name]
            setattr(self.builder, attribute, _quantity({name: value}, name, scale, "<config>"))

    def _ends(self, element: _OpenElement, first: str, second: str) -> tuple[Point, Point]:
        known, attributes = self.builder.points, element.attributes
        try:
            return known[attributes[first]], known[attributes[second]]
        except KeyError:
            points = [
                self.builder.point_named(attributes[end], f"<{element.tag}>: attribute {end!r}")
                for end in (first, second)
            ]
            return points[0], points[1]

    def _zone(self, element: _OpenElement) -> Zone:
        if self.zone is None:
            raise PlatformError(f"<{element.tag}> is outside of every zone")
        return self.zone

    def _star(self, element: _OpenElement) -> StarZone:
        if not isinstance(self.zone, StarZone):
            raise PlatformError(f'<{element.tag}> is only allowed in a zone with routing="Cluster"')
        return self.zone

    def _refuse_mixture(self, zone: Zone | None, kind: PointKind, name: str) -> None:
        if isinstance(zone, VivaldiZone) and kind is PointKind.ZONE:
            raise PlatformError(
                f'zone {name!r} is inside zone {zone.name!r} with routing="Vivaldi": only hosts and routers are read '
                "there"
            )
        if zone is not None and zone.points and (zone.points[0].kind is PointKind.ZONE) is not (kind is PointKind.ZONE):
            first = zone.points[0]
            raise PlatformError(
                f"zone {zone.name!r} holds the {first.kind.value} {first.name!r} and the {kind.value} {name!r}; a zone"
                " holds either zones or hosts and routers"
            )


def _quantity(attributes: Attributes, name: str, scale: units.Scale, what: str) -> float:
    text = attributes.get(name, "")
    if not text:
        return 0.0
    try:
        return scale.parse(text)
    except ValueError as error:
        raise PlatformError(f"{what}: attribute {name!r}: {error}") from None


def _speeds(attributes: Attributes, what: str) -> tuple[float, ...]:
    return tuple(
        _quantity({"speed": text.strip() or "?"}, "speed", units.SPEED, what) for text in attributes["speed"].split(",")
    )


def _whole(text: str, what: str, least: int = 0) -> int:
    match = re.fullmatch(r"\s*(\d{1,9})(\.0*)?\s*", text)  # SimGrid's own default of 'pstate' is 0.0
    if match is None or int(match[1]) < least:
        raise PlatformError(f"{what}: expected a whole number of at least {least}, got {text!r}")
    return int(match[1])


def _radical(text: str, what: str) -> tuple[int, ...]:
    """Expand ``0-3,7`` into 0, 1, 2, 3, 7."""
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part)
        if match is None:
            raise PlatformError(f"{what}: attribute 'radical': expected numbers and ranges like '0-3,7', got {text!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if len(numbers) + last - first >= HOSTS.value:
            raise PlatformError(f"{what}: attribute 'radical' {HOSTS.text()}")
        numbers.extend(range(first, last + 1))
    return tuple(numbers)
