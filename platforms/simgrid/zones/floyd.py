"""``routing="Floyd"``: shortest paths, in links, over the declared routes; all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.zones.base import Hop, Point
from spillway.platforms.simgrid.zones.full import RoutedZone

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
                return join(steps[::-1])

    def _solve(self) -> npt.NDArray[np.int64]:
        """Rank before the last one on the shortest path between any two, -1 without a path."""
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


def join(steps: list[Hop]) -> Hop:
    """One hop out of several in a row; ways inside the zones between them are left to be found (``joints``)."""
    links: list[int] = []
    joints = []
    arrival: Point | None = None
    for step in steps:
        if arrival is not None and step.gw_src is not None and arrival is not step.gw_src:
            joints.append((len(links), arrival, step.gw_src))
        links.extend(step.links)
        arrival = step.gw_dst
    return Hop(tuple(links), steps[0].gw_src, steps[-1].gw_dst, tuple(joints))
