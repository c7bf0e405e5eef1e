"""``routing="Floyd"``: shortest paths, in links, over the declared routes; all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from platforms.errors import PlatformError
from platforms.zones.base import Hop, Point
from platforms.zones.full import RoutedZone

Connect = Callable[[Point, Point], tuple[int, ...]]
"""Links between two gateways of one inner zone."""

_FAR = np.iinfo(np.int64).max // 4


@dataclass(eq=False)
class FloydZone(RoutedZone):
    """Shortest paths by Floyd and Warshall; of equally long ones the first found stays, as in SimGrid."""

    _previous: npt.NDArray[np.int64] | None = field(default=None, repr=False)

    def seal(self, loopback: Callable[[], int]) -> None:
        """See :meth:`Zone.seal`."""
        self.add_loopbacks(loopback)

    def hop(self, src: Point, dst: Point) -> Hop:
        """See :meth:`Zone.hop`."""
        if self._previous is None:
            self._previous = self._solve()
        steps: list[Hop] = []
        current = dst.rank
        while True:
            previous = int(self._previous[src.rank, current])
            if previous < 0:
                raise PlatformError(f"no route from {src.name!r} to {dst.name!r} in zone {self.name!r}")
            steps.append(self.table[previous, current])
            current = previous
            if current == src.rank:
                return join(self.name, steps[::-1])

    def _solve(self) -> npt.NDArray[np.int64]:
        """Rank before the last one on the shortest path between any two, -1 for none."""
        size = len(self.points)
        cost = np.full((size, size), _FAR, np.int64)
        previous = np.full((size, size), -1, np.int64)
        for (src, dst), hop in self.table.items():
            cost[src, dst] = len(hop.links)
            previous[src, dst] = src
        for middle in range(size):
            # Neither this row nor this column can get shorter in this step, so all pairs may be done at once.
            through = cost[:, middle, None] + cost[None, middle, :]
            better = (through < cost) & (through < _FAR)
            cost[better] = through[better]
            previous[better] = np.broadcast_to(previous[middle], (size, size))[better]
        return previous


def join(zone: str, steps: list[Hop]) -> Hop:
    """One hop out of several in a row.

    Between zones, a hop must begin at the gateway where the one before ends; SimGrid would look for a way inside the
    inner zone in a Floyd zone, and crash in a Dijkstra one, so neither is read.
    """
    links: list[int] = []
    before: Hop | None = None
    for step in steps:
        if before is not None and before.gw_dst is not step.gw_src:
            one, other = (gateway.name if gateway else "" for gateway in (before.gw_dst, step.gw_src))
            raise PlatformError(
                f"zone {zone!r}: routes through an inner zone that arrive at gateway {one!r} and leave from {other!r}"
                " are not understood; let them meet in one gateway"
            )
        links.extend(step.links)
        before = step
    return Hop(tuple(links), steps[0].gw_src, steps[-1].gw_dst)
