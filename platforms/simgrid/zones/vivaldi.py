"""``routing="Vivaldi"``: no links, only latencies that follow from the coordinates of hosts and routers.

References
----------
F. Dabek, R. Cox, F. Kaashoek, R. Morris, "Vivaldi: A Decentralized Network Coordinate System", 2004, section 5.4
(heights). https://doi.org/10.1145/1015467.1015471
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.zones.base import Hop, Point, Zone

_MILLISECONDS_A_SECOND = 1000.0


@dataclass(eq=False)
class VivaldiZone(Zone):
    """Points in a plane, each at a height above it.

    Attributes
    ----------
    places
        Two coordinates in the plane and the height, ms, by rank.
    """

    places: dict[int, tuple[float, float, float]] = field(default_factory=dict, repr=False)

    def place(self, point: Point, text: str | None) -> None:
        """Note a point's coordinates, three numbers between single spaces."""
        parts = [] if text is None else text.split(" ")
        found = "none" if text is None else repr(text)
        try:
            x, y, height = map(float, parts)
            if not all(map(math.isfinite, (x, y, height))):
                raise ValueError
        except ValueError:
            raise PlatformError(
                f'{point.kind.value} {point.name!r} in the zone {self.name!r} with routing="Vivaldi": attribute '
                f"'coordinates': expected three numbers (ms) such as '3 4 0.5', got {found}"
            ) from None
        self.places[point.rank] = (x, y, height)

    def hop(self, src: Point, dst: Point) -> Hop:
        """See :meth:`Zone.hop`; the way down from one height, through the plane and up to the other one."""
        (x, y, height), (to_x, to_y, to_height) = self.places[src.rank], self.places[dst.rank]
        away = math.sqrt((x - to_x) * (x - to_x) + (y - to_y) * (y - to_y)) + abs(height) + abs(to_height)
        return Hop((), extra_s=away / _MILLISECONDS_A_SECOND)

    def alike(self, point: Point, latencies: Sequence[float]) -> Hashable | None:
        """See :meth:`Zone.alike`: the coordinates."""
        return self.places[point.rank]
