"""Collects hosts, links and zones while a platform is read or generated, and refuses invalid ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from spillway.base.limits import HOSTS
from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Host, LinkInfo, Platform, Sharing
from spillway.platforms.simgrid.routing import ZoneRouter
from spillway.platforms.simgrid.zones.base import Point, PointKind, RouteLink, Zone

LOOPBACK = "__loopback__"
"""Name of the implicit link of a host to itself, for hosts without such a route in the file; no route can name it."""


class PlatformBuilder:
    """A platform under construction.

    Attributes
    ----------
    loopback_bandwidth, loopback_latency
        Those of the implicit loopback link (SimGrid's options ``network/loopback-bw``, ``network/loopback-lat``),
        bytes/s, s.
    counters
        Running numbers, by kind: SimGrid numbers some elements over all clusters of a platform.
    """

    def __init__(self) -> None:
        self._most_hosts = HOSTS.value
        self.hosts: list[Host] = []
        self.links: list[LinkInfo] = []
        self.host_points: list[Point] = []
        self.points: dict[str, Point] = {}
        self.root: Zone | None = None
        self.counters: dict[str, int] = {}
        self.loopback_bandwidth = 10e9
        self.loopback_latency = 0.0
        self._route_links: dict[str, RouteLink] = {}
        self._duplex: dict[str, RouteLink] = {}
        self._loopback = -1

    def add_zone(self, zone: Zone) -> Zone:
        """Register a zone; the first one without parent is the root."""
        if zone.parent is None:
            if self.root is not None:
                raise PlatformError(
                    f"zone {zone.name!r} is beside zone {self.root.name!r}; a platform has one outermost zone"
                )
            self.root = zone
        self._register(zone.point)
        return zone

    def add_host(self, zone: Zone, host: Host) -> Point:
        """Create a host in a zone; :meth:`finish` takes its ``zone_properties`` from the zones around it."""
        if len(self.hosts) >= self._most_hosts:
            raise PlatformError(f"the platform {HOSTS.text()}")
        point = zone.add_point(host.name, PointKind.HOST, len(self.hosts))
        self._register(point)
        self.hosts.append(host)
        self.host_points.append(point)
        return point

    def add_router(self, zone: Zone, name: str) -> Point:
        """Create a router: an end of routes that is not a host."""
        point = zone.add_point(name, PointKind.ROUTER)
        self._register(point)
        return point

    def add_link(self, name: str, bandwidth: float, latency: float, policy: Sharing = Sharing.SHARED) -> int:
        """Create a link; return its index."""
        if name in self._route_links:
            raise PlatformError(f"there are two links {name!r}; give one of them another name")
        if not bandwidth > 0:
            raise PlatformError(f"link {name!r} has bandwidth {bandwidth:g}; it must be greater than 0")
        index = len(self.links)
        self.links.append(LinkInfo(name, bandwidth, latency, policy))
        self._route_links[name] = RouteLink(index, index)
        return index

    def add_duplex(self, name: str, bandwidth: float, latency: float) -> tuple[int, int]:
        """Create a split-duplex link: ``name_UP`` and ``name_DOWN``; return their indices."""
        if name in self._duplex:
            raise PlatformError(f"there are two links {name!r}; give one of them another name")
        up = self.add_link(f"{name}_UP", bandwidth, latency)
        down = self.add_link(f"{name}_DOWN", bandwidth, latency)
        self._duplex[name] = RouteLink(up, down)
        return up, down

    def route_link(self, name: str, direction: str) -> RouteLink:
        """The link of a route: ``direction`` is ``UP`` or ``DOWN`` for split-duplex links, else ``NONE``."""
        if direction == "NONE":
            found = self._route_links.get(name)
            if found is None:
                raise PlatformError(self._unknown_link(name))
            return found
        duplex = self._duplex.get(name)
        if duplex is None:
            raise PlatformError(self._unknown_link(name, direction))
        return duplex if direction == "UP" else RouteLink(duplex.back, duplex.forth)

    def point_named(self, name: str, what: str) -> Point:
        """The host, router or zone of that name; ``what`` names the place that refers to it."""
        point = self.points.get(name)
        if point is None:
            raise PlatformError(f"{what} names {name!r}, but no host, router or zone of that name is defined before it")
        return point

    def loopback(self) -> int:
        """Index of the implicit loopback link, created at the first use."""
        if self._loopback < 0:
            name = LOOPBACK if LOOPBACK not in self._route_links else f"{LOOPBACK}implicit"
            self._loopback = len(self.links)
            self.links.append(LinkInfo(name, self.loopback_bandwidth, self.loopback_latency, Sharing.FATPIPE))
        return self._loopback

    def take_number(self, kind: str) -> int:
        """Next running number of that kind, from 0."""
        number = self.counters.get(kind, 0)
        self.counters[kind] = number + 1
        return number

    def finish(self, source: str = "") -> Platform:
        """The platform, with every host's zone properties filled in."""
        if not self.hosts:
            raise PlatformError("the platform has no hosts")
        inherited: dict[int, Mapping[str, str]] = {}
        for index, (host, point) in enumerate(zip(self.hosts, self.host_points, strict=True)):
            properties = _inherited(point.zone, inherited)
            if properties:
                self.hosts[index] = Host(host.name, host.speeds, host.cores, host.properties, properties, host.pstate)
        router = ZoneRouter(tuple(self.host_points), tuple(link.latency for link in self.links))
        return Platform(tuple(self.hosts), tuple(self.links), router, source)

    def _register(self, point: Point) -> None:
        other = self.points.get(point.name)
        if other is not None:
            raise PlatformError(
                f"there are two points {point.name!r} (a {other.kind.value} and a {point.kind.value}); names of hosts,"
                " routers and zones must differ"
            )
        self.points[point.name] = point

    def _unknown_link(self, name: str, direction: str = "NONE") -> str:
        if name in self._duplex:
            return f'link {name!r} is SPLITDUPLEX: state direction="UP" or direction="DOWN"'
        if name in self._route_links:
            return f"link {name!r} is not SPLITDUPLEX: it has no direction {direction!r}"
        return f"no link {name!r} is defined before it"


def _inherited(zone: Zone | None, known: dict[int, Mapping[str, str]]) -> Mapping[str, str]:
    """Properties of a zone and those around it, the inner ones first in precedence."""
    if zone is None:
        return MappingProxyType({})
    if id(zone) not in known:
        known[id(zone)] = MappingProxyType({**_inherited(zone.parent, known), **zone.properties})
    return known[id(zone)]
