"""``<cluster topology="FAT_TREE">``: an extended generalised fat tree with d-mod-k routing.

References
----------
Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.builder import PlatformBuilder
from spillway.platforms.simgrid.cluster_spec import (
    ClusterSpec,
    ClusterZone,
    add_limiter,
    add_link_pair,
    add_nodes,
    whole_numbers,
)
from spillway.platforms.simgrid.zones.base import Zone


class _TreeShape(NamedTuple):
    """A fat tree: per level from the nodes upwards, children of a switch, parents of a child, cables between them."""

    children: tuple[int, ...]
    parents: tuple[int, ...]
    cables: tuple[int, ...]


class _Cable(NamedTuple):
    """A cable between two levels: link indices, and the positions of its ends in :attr:`_FatTreeZone.tree`."""

    up: int
    down: int
    upper: int
    lower: int


@dataclass(eq=False)
class _TreeNode:
    """A node (level 0) or a switch.

    Attributes
    ----------
    position
        Number within its level; nodes are numbered over all fat trees of a platform, as in SimGrid.
    label
        One digit per level; a switch is above the elements that agree with it in all digits but one.
    ports_down, ports_up
        Cables to the level below and above.
    """

    level: int
    position: int
    label: tuple[int, ...]
    limiter: int
    ports_down: list[_Cable | None]
    ports_up: list[_Cable | None]


@dataclass(eq=False)
class _FatTreeZone(ClusterZone):
    """Goes up towards the port that the destination's number chooses, then down."""

    shape: _TreeShape = field(default=_TreeShape((), (), ()))
    tree: list[_TreeNode] = field(default_factory=list, repr=False)

    def way(self, src: int, dst: int) -> tuple[int, ...]:
        """See :meth:`ClusterZone.way`."""
        links: list[int] = []
        top = self._climb(src, dst, links)
        self._descend(top, src, dst, links)
        self._limit(self.tree[dst], links)
        return tuple(links)

    def _climb(self, src: int, dst: int, links: list[int]) -> int:
        current = src
        while not self._below(current, dst):
            node = self.tree[current]
            number = self.tree[dst].position
            for level in range(node.level):
                number //= self.shape.parents[level]
            cable = node.ports_up[number % len(node.ports_up)]
            assert cable is not None, "every port of a sealed fat tree has a cable"
            self._limit(node, links)
            links.append(cable.up)
            current = cable.upper
        return current

    def _descend(self, top: int, src: int, dst: int, links: list[int]) -> None:
        """Go down; as in SimGrid, the search continues with the next port number in the switch below."""
        current, goal = top, self.tree[dst]
        while current != dst:
            node = self.tree[current]
            port = self.tree[src].position % self.shape.cables[node.level - 1] * self.shape.children[node.level - 1]
            while port < len(node.ports_down):
                cable = node.ports_down[port]
                if cable is not None and port % self.shape.children[node.level - 1] == goal.label[node.level - 1]:
                    links.append(cable.down)
                    self._limit(node, links)
                    current = cable.lower
                    node = self.tree[current]
                port += 1

    def _below(self, root: int, leaf: int) -> bool:
        """Whether a node is below a switch."""
        above, below = self.tree[root], self.tree[leaf]
        if above.level <= below.level:
            return False
        return above.label[above.level :] == below.label[above.level :]

    def _limit(self, node: _TreeNode, links: list[int]) -> None:
        if node.limiter >= 0:
            links.append(node.limiter)


def add_fat_tree(builder: PlatformBuilder, parent: Zone | None, spec: ClusterSpec) -> _FatTreeZone:
    """Create the cluster; ``topo_parameters`` are levels, children, parents and cables, such as ``2;4,4;1,2;1,2``."""
    shape = _shape(spec)
    levels, count = len(shape.children), prod(shape.children)
    zone = _FatTreeZone(spec.name, parent, shape=shape)
    builder.add_zone(zone)
    zone.nodes = add_nodes(builder, zone, spec, count)
    for node, label in zip(zone.nodes, _labels(shape, 0), strict=True):
        ports = shape.parents[0] * shape.cables[0]
        position = builder.take_number("fat tree node")
        zone.tree.append(_TreeNode(0, position, label, node.limiter, [], [None] * ports))
    number, first = 2 * count, [0, count]
    for level in range(1, levels + 1):
        for position, label in enumerate(_labels(shape, level)):
            number -= 1
            down = shape.children[level - 1] * shape.cables[level - 1]
            up = shape.parents[level] * shape.cables[level] if level < levels else 0
            limiter = add_limiter(builder, spec, number)
            zone.tree.append(_TreeNode(level, position, label, limiter, [None] * down, [None] * up))
        first.append(len(zone.tree))
    for level in range(levels):
        for lower in range(first[level], first[level + 1]):
            for upper in range(first[level + 1], first[level + 2]):
                _connect(builder, spec, zone, lower, upper)
    builder.add_router(zone, spec.router_name)
    return zone


def _connect(builder: PlatformBuilder, spec: ClusterSpec, zone: _FatTreeZone, lower: int, upper: int) -> None:
    """Lay the cables between two elements if they are neighbours in the tree."""
    below, above, level = zone.tree[lower], zone.tree[upper], zone.tree[lower].level
    if below.label[:level] + below.label[level + 1 :] != above.label[:level] + above.label[level + 1 :]:
        return
    count = len(zone.nodes)
    for cable in range(zone.shape.cables[level]):
        serial = builder.take_number("fat tree link")
        # SimGrid numbers nodes from 0 and switches downwards from twice the number of nodes less 1.
        ends = [index if index < count else 3 * count - 1 - index for index in (lower, upper)]
        name = f"link_from_{ends[0]}_{ends[1]}_{serial}"
        up, down = add_link_pair(builder, spec, name, spec.bandwidth)
        laid = _Cable(up, down, upper, lower)
        above.ports_down[below.label[level] + cable * zone.shape.children[level]] = laid
        below.ports_up[above.label[level] + cable * zone.shape.parents[level]] = laid


def _labels(shape: _TreeShape, level: int) -> list[tuple[int, ...]]:
    """Labels of a level in order; the first digit counts fastest."""
    limits = [*shape.parents[:level], *shape.children[level:]]
    labels: list[tuple[int, ...]] = [()]
    for limit in reversed(limits):
        labels = [(digit, *label) for label in labels for digit in range(limit)]
    return labels


def _shape(spec: ClusterSpec) -> _TreeShape:
    parts = [part.split(",") for part in spec.parameters.split(";")]
    expected = "'levels;children;parents;cables', one number of each per level, such as '2;4,4;1,2;1,2'"
    levels = whole_numbers(spec, parts[0][:1], expected)[0]
    vectors = [whole_numbers(spec, part if len(part) == levels else [""], expected) for part in parts[1:]]
    if len(vectors) != 3:
        whole_numbers(spec, [""], expected)
    shape = _TreeShape(*vectors)
    if prod(shape.children) != len(spec.radical):
        raise PlatformError(
            f"cluster {spec.name!r}: its topology has {prod(shape.children)} nodes, attribute 'radical' names"
            f" {len(spec.radical)}"
        )
    return shape
