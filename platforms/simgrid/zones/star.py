"""``routing="Cluster"`` and flat ``<cluster>``: every point has its links up to the middle and down from it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.zones.base import Hop, Point, Zone


@dataclass(eq=False)
class StarZone(Zone):
    """A star of hosts and routers.

    Attributes
    ----------
    ups, downs
        Links from a point to the middle, and from the middle to it, by rank. A point with neither is in the middle.
    loops
        Link that joins a point with itself, by rank.
    backbone
        Link in the middle, crossed on the way of every attached host; -1 if absent.
    """

    ups: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    downs: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    loops: dict[int, int] = field(default_factory=dict, repr=False)
    backbone: int = -1

    def attach(self, point: Point, up: int, down: int) -> None:
        """Join a host to the middle by one link in each direction."""
        if point.rank in self.ups:
            raise PlatformError(f"host {point.name!r} has a link to the middle of zone {self.name!r} already")
        self.ups[point.rank] = (up,)
        self.downs[point.rank] = (down,)

    def seal(self, loopback: Callable[[], int]) -> None:
        """See :meth:`Zone.seal`; the backbone is known only now."""
        if self.backbone >= 0:
            self.ups = {rank: (*links, self.backbone) for rank, links in self.ups.items()}
            self.downs = {rank: (self.backbone, *links) for rank, links in self.downs.items()}

    def hop(self, src: Point, dst: Point) -> Hop:
        """See :meth:`Zone.hop`; a link that serves both ways is crossed once."""
        if src is dst and src.rank in self.loops:
            return Hop((self.loops[src.rank],))
        return Hop(tuple(dict.fromkeys(self.ups.get(src.rank, ()) + self.downs.get(dst.rank, ()))))

    def alike(self, point: Point, latencies: Sequence[float]) -> Hashable | None:
        """See :meth:`Zone.alike`: the latencies of the ways up and down."""
        ups, downs = self.ups.get(point.rank), self.downs.get(point.rank)
        if not ups or not downs:
            return None
        return tuple([latencies[link] for link in ups]), tuple([latencies[link] for link in downs])
