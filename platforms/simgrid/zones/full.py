"""``routing="Full"``: every route is written in the file; a missing one has no links at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.zones.base import Hop, Point, Zone

_NO_LINKS = Hop(())


@dataclass(eq=False)
class RoutedZone(Zone):
    """The base of kinds with explicit routes: a table of declared routes.

    Attributes
    ----------
    table
        Declared routes by the ranks of their ends.
    """

    table: dict[tuple[int, int], Hop] = field(default_factory=dict, repr=False)

    def add_route(self, src: Point, dst: Point, hop: Hop, back: Hop | None) -> None:
        """See :meth:`Zone.add_route`; a route declared twice is an error."""
        self._declare(src, dst, hop)
        if back is not None and src is not dst:
            self._declare(dst, src, back)

    def _declare(self, src: Point, dst: Point, hop: Hop) -> None:
        if (src.rank, dst.rank) in self.table:
            raise PlatformError(
                f"the route from {src.name!r} to {dst.name!r} exists already (routes are symmetrical unless they have"
                ' symmetrical="NO")'
            )
        self.table[src.rank, dst.rank] = hop

    def add_loopbacks(self, loopback: Callable[[], int]) -> None:
        """Join every host and router of a zone without inner zones with itself, unless a route does."""
        if not self.recursive:
            for point in self.points:
                if (point.rank, point.rank) not in self.table:
                    self.table[point.rank, point.rank] = Hop((loopback(),))


@dataclass(eq=False)
class FullZone(RoutedZone):
    """Zone with all its routes declared."""

    def seal(self, loopback: Callable[[], int]) -> None:
        """See :meth:`Zone.seal`."""
        self.add_loopbacks(loopback)

    def hop(self, src: Point, dst: Point) -> Hop:
        """See :meth:`Zone.hop`."""
        return self.table.get((src.rank, dst.rank), _NO_LINKS)
