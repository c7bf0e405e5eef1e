"""The route between any two hosts, composed from the answers of the zones along the way."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Route
from spillway.platforms.simgrid.zones.base import Hop, Point, Zone


@dataclass(frozen=True)
class ZoneRouter:
    """Finds routes in a tree of zones as SimGrid does.

    The innermost zone around both ends gives the links between its two points that contain them. Between
    zones the answer names gateways; the ways from the source to the first and from the second to the destination are
    found likewise.

    Parameters
    ----------
    host_points
        The point of every host, by host index.
    latencies
        Seconds, by link index.
    """

    host_points: Sequence[Point]
    latencies: Sequence[float]

    def find(self, src: int, dst: int) -> Route:
        """See :class:`spillway.platforms.model.RouteFinder`."""
        links: list[int] = []
        latency = self._extend(self.host_points[src], self.host_points[dst], links, 0.0)
        return Route(tuple(links), latency)

    def alike(self) -> list[list[int]]:
        """See :meth:`spillway.platforms.model.Platform.alike`; each zone groups its own points (:meth:`Zone.alike`).

        Between zones a route depends only on the zones and on the ways inside them.
        """
        groups: dict[Hashable, list[int]] = {}
        for host, point in enumerate(self.host_points):
            key = point.zone.alike(point, self.latencies) if point.zone is not None else None
            if key is not None:
                groups.setdefault((id(point.zone), key), []).append(host)
        return list(groups.values())

    def _extend(self, src: Point, dst: Point, links: list[int], latency: float) -> float:
        """Append the links from ``src`` to ``dst``; add their latency to the given one and return the sum.

        SimGrid adds the latency of the links between the zones before those on the ways to the gateways; only sums in
        the same order are equal in floating point.
        """
        zone, near, far = _common_zone(src, dst)
        hop = zone.hop(near, far)
        between, latency = self._between(hop, latency)
        latency += hop.extra_s
        if near is src and far is dst:
            links.extend(between)
            return latency
        if hop.gw_src is None or hop.gw_dst is None:
            raise PlatformError(
                f"no route from {src.name!r} to {dst.name!r}: zone {zone.name!r} states no route between {near.name!r}"
                f" and {far.name!r}"
            )
        if hop.gw_src is not src:
            latency = self._extend(src, hop.gw_src, links, latency)
        links.extend(between)
        if hop.gw_dst is not dst:
            latency = self._extend(hop.gw_dst, dst, links, latency)
        return latency

    def _between(self, hop: Hop, latency: float) -> tuple[Sequence[int], float]:
        """A hop's links with the ways inside zones in between, and the latency after them."""
        if not hop.joints:
            for link in hop.links:
                latency += self.latencies[link]
            return hop.links, latency
        links: list[int] = []
        start = 0
        for end, arrival, departure in hop.joints:
            part, latency = self._between(Hop(hop.links[start:end]), latency)
            links.extend(part)
            latency = self._extend(arrival, departure, links, latency)
            start = end
        part, latency = self._between(Hop(hop.links[start:]), latency)
        return [*links, *part], latency


def _common_zone(src: Point, dst: Point) -> tuple[Zone, Point, Point]:
    """Innermost zone around both points, and its own points that are or contain them."""
    if src.zone is dst.zone and src.zone is not None:
        return src.zone, src, dst
    ups, downs = _chain(src), _chain(dst)
    while ups[-1] is downs[-1]:
        ups.pop()
        downs.pop()
    zone = ups[-1].zone
    assert zone is not None, "hosts lie in zones"
    return zone, ups[-1], downs[-1]


def _chain(point: Point) -> list[Point]:
    """The point, then the points of the zones around it, outermost last (the root zone's own left out)."""
    chain = [point]
    while chain[-1].zone is not None and chain[-1].zone.parent is not None:
        chain.append(chain[-1].zone.point)
    return chain
