"""``routing="Dijkstra"`` and ``"DijkstraCache"``: shortest paths, in links, from one source at a time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.zones.base import Hop, Point
from spillway.platforms.simgrid.zones.floyd import join
from spillway.platforms.simgrid.zones.full import RoutedZone


@dataclass(eq=False)
class DijkstraZone(RoutedZone):
    """Shortest paths from each source when first needed; ties as in SimGrid.

    SimGrid numbers the points in the order in which routes name them and takes the lower number first. Its lists of
    links are not in order of travel here; these are. It crashes if a way crosses an inner zone from one gateway to
    another; this finds the way inside.
    """

    _order: dict[int, int] = field(default_factory=dict, repr=False)
    _ranks: list[int] = field(default_factory=list, repr=False)
    _edges: dict[int, list[int]] = field(default_factory=dict, repr=False)
    _previous: dict[int, dict[int, int]] = field(default_factory=dict, repr=False)

    def seal(self, loopback: Callable[[], int]) -> None:
        """See :meth:`Zone.seal`."""
        for src, dst in self.table:
            for rank in (src, dst):
                if rank not in self._order:
                    self._order[rank] = len(self._order)
                    self._ranks.append(rank)
            self._edges.setdefault(src, []).append(dst)
        self.add_loopbacks(loopback)

    def hop(self, src: Point, dst: Point) -> Hop:
        """See :meth:`Zone.hop`."""
        if src is dst and (src.rank, src.rank) in self.table:
            return self.table[src.rank, src.rank]
        if src.rank not in self._previous:
            self._previous[src.rank] = self._solve(src.rank)
        previous = self._previous[src.rank]
        steps: list[Hop] = []
        current = dst.rank
        while current != src.rank:
            if current not in previous:
                raise PlatformError(f"no route from {src.name!r} to {dst.name!r} in zone {self.name!r}")
            steps.append(self.table[previous[current], current])
            current = previous[current]
        if not steps:
            raise PlatformError(f"no route from {src.name!r} to itself in zone {self.name!r}")
        return join(steps[::-1])

    def _solve(self, source: int) -> dict[int, int]:
        cost = {source: 0}
        previous: dict[int, int] = {}
        queue = [(0, self._order.get(source, 0))]
        while queue:
            so_far, number = heapq.heappop(queue)
            rank = self._ranks[number] if self._ranks else source
            if so_far > cost[rank]:
                continue
            for neighbour in self._edges.get(rank, ()):
                length = so_far + len(self.table[rank, neighbour].links)
                if neighbour not in cost or length < cost[neighbour]:
                    cost[neighbour], previous[neighbour] = length, rank
                    heapq.heappush(queue, (length, self._order[neighbour]))
        return previous
