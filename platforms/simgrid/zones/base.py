"""The base of all kinds of zones: the points inside a zone and the routes between them.

A platform is a tree of zones. A *point* is a host, a router, or (seen from the zone around it) a whole zone. A zone
answers only for pairs of its own points; :mod:`spillway.platforms.simgrid.routing` puts these answers together.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spillway.platforms.errors import PlatformError


class PointKind(enum.Enum):
    """Kind of a point."""

    HOST = "host"
    ROUTER = "router"
    ZONE = "zone"


@dataclass(slots=True, eq=False)
class Point:
    """A host, a router or a zone as an end of a route.

    Attributes
    ----------
    name
        Unique among all points of the platform.
    kind
        Its kind.
    zone
        The zone around it; ``None`` for the root zone's own point.
    rank
        Position among the points of that zone, in order of creation.
    host
        Index of the host in the platform, -1 for routers and zones.
    inner
        For a zone's point: that zone.
    """

    name: str
    kind: PointKind
    zone: Zone | None
    rank: int
    host: int = -1
    inner: Zone | None = None


class Hop(NamedTuple):
    """A zone's answer: links between two of its points, and, between zones, the points where they end.

    Attributes
    ----------
    links
        Indices, in order of travel.
    gw_src, gw_dst
        Between zones: the points at which the links begin and end.
    joints
        Crossings of inner zones from one gateway to another: position in ``links``, both gateways.
    extra_s
        Latency beside that of the links, s.
    """

    links: tuple[int, ...]
    gw_src: Point | None = None
    gw_dst: Point | None = None
    joints: tuple[tuple[int, Point, Point], ...] = ()
    extra_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RouteLink:
    """A link named in a route: its index in the direction given, and in the opposite direction."""

    forth: int
    back: int


@dataclass(eq=False)
class Zone:
    """A zone without routing (``routing="None"``): there are no links between its points.

    Parameters
    ----------
    name
        Unique among all points.
    parent
        Zone around it, ``None`` for the root.
    properties
        As in the file.
    """

    name: str
    parent: Zone | None = None
    properties: dict[str, str] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list, repr=False)
    point: Point = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rank = 0 if self.parent is None else len(self.parent.points)
        self.point = Point(self.name, PointKind.ZONE, self.parent, rank, inner=self)
        if self.parent is not None:
            self.parent.points.append(self.point)

    @property
    def recursive(self) -> bool:
        """Whether it contains zones (it then contains no hosts)."""
        return any(point.kind is PointKind.ZONE for point in self.points)

    def add_point(self, name: str, kind: PointKind, host: int = -1) -> Point:
        """Create a host's or router's point in this zone."""
        point = Point(name, kind, self, len(self.points), host)
        self.points.append(point)
        return point

    def contains(self, point: Point) -> bool:
        """Whether the point is in this zone, however deep."""
        zone = point.zone
        while zone is not None and zone is not self:
            zone = zone.parent
        return zone is self

    def add_route(self, src: Point, dst: Point, hop: Hop, back: Hop | None) -> None:
        """Declare the links from ``src`` to ``dst`` and, unless ``back`` is ``None``, those of the way back."""
        raise PlatformError(f"zone {self.name!r} takes no routes")

    def seal(self, loopback: Callable[[], int]) -> None:
        """Finish the zone; ``loopback`` gives the index of the link that joins a host with itself."""

    def hop(self, src: Point, dst: Point) -> Hop:
        """Links between two points of this zone; :class:`PlatformError` if there is no way."""
        return Hop(())

    def alike(self, point: Point, latencies: Sequence[float]) -> Hashable | None:
        """Key of the points with routes that differ only in the first link from them and the last link to them.

        ``None`` if that is not known. ``latencies``: seconds, by link index.
        """
        return None
