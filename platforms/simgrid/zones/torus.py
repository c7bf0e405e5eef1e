"""``<cluster topology="TORUS">``: a grid with joined ends, in any number of dimensions."""

from __future__ import annotations

from dataclasses import dataclass, field

from spillway.platforms.simgrid.builder import PlatformBuilder
from spillway.platforms.simgrid.cluster_spec import ClusterSpec, ClusterZone, add_link_pair, add_nodes, whole_numbers
from spillway.platforms.simgrid.zones.base import Zone


@dataclass(eq=False)
class _TorusZone(ClusterZone):
    """Routes correct one coordinate after the other, the first dimension first.

    Attributes
    ----------
    sizes
        Nodes along each dimension; the coordinate in the first one changes fastest with the rank.
    forward
        ``forward[rank][dimension]``: link to the next node of that dimension and link back, as (up, down).
    """

    sizes: tuple[int, ...] = ()
    forward: list[list[tuple[int, int]]] = field(default_factory=list, repr=False)

    def way(self, src: int, dst: int) -> tuple[int, ...]:
        """See :meth:`ClusterZone.way`."""
        links: list[int] = []
        current, stride = src, 1
        for dimension, size in enumerate(self.sizes):
            start, target = src // stride % size, dst // stride % size
            upwards = _goes_up(start, target, size)
            while current // stride % size != target:
                following = self.neighbour(current, stride, size, 1 if upwards else -1)
                self._limit(links, current)
                links.append(self.forward[current][dimension][0] if upwards else self.forward[following][dimension][1])
                current = following
            stride *= size
        self._limit(links, dst)
        return tuple(links)

    @staticmethod
    def neighbour(rank: int, stride: int, size: int, step: int) -> int:
        """Rank of the next (``step`` 1) or previous (-1) node in the dimension of that stride."""
        here = rank // stride % size
        return rank + ((here + step) % size - here) * stride

    def _limit(self, links: list[int], rank: int) -> None:
        if self.nodes[rank].limiter >= 0:
            links.append(self.nodes[rank].limiter)


def _goes_up(start: int, target: int, size: int) -> bool:
    """Whether SimGrid goes towards higher coordinates on the whole way from ``start`` to ``target``."""
    straight = start < target <= start + size // 2
    around = start > size // 2 and (start + size // 2) % size >= target
    return straight or around


def add_torus(builder: PlatformBuilder, parent: Zone | None, spec: ClusterSpec) -> _TorusZone:
    """Create the cluster; ``topo_parameters`` are the sizes, such as ``4,3,2``."""
    sizes = whole_numbers(spec, spec.parameters.split(","), "sizes such as '4,3,2'")
    count = 1
    for size in sizes:
        count *= size
    zone = _TorusZone(spec.name, parent, sizes=sizes)
    builder.add_zone(zone)
    zone.nodes = add_nodes(builder, zone, spec, count)
    for rank in range(count):
        stride, links = 1, []
        for size in sizes:
            neighbour = zone.neighbour(rank, stride, size, 1)
            name = f"{spec.name}_link_from_{rank}_to_{neighbour}"
            links.append(add_link_pair(builder, spec, name, spec.bandwidth))
            stride *= size
        zone.forward.append(links)
    builder.add_router(zone, spec.router_name)
    return zone
