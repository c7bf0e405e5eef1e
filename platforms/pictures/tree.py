"""Draws trees: small ones as trees, large ones as boxes in boxes with the nodes as dots."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from spillway.platforms.description.machine import Description
from spillway.platforms.description.tree import Switch, lay_out_tree
from spillway.platforms.model import Host
from spillway.platforms.pictures.style import (
    COLOURS,
    Spot,
    amount,
    draw_box,
    draw_cable,
    draw_server,
    draw_vertices,
    rate,
    vertex_legend,
)

_TREE_LIMIT = 24
"""Most hosts that are drawn as a tree."""


def draw_tree(axes: Axes, description: Description) -> list[Line2D]:
    """Draw; return the legend."""
    tops = lay_out_tree(description)
    kinds = ["node"] if description.storage is None else ["node", "storage"]
    if sum(_host_count(top) for top in tops) <= _TREE_LIMIT:
        _Diagram(axes, description).draw(tops)
        kinds.append("router")
    else:
        _Boxes(axes, description).draw(tops)
    return vertex_legend(kinds)


def _host_count(switch: Switch) -> int:
    return len(switch.hosts) + sum(_host_count(child) for child in switch.children)


def _kind(host: Host) -> str:
    return "storage" if host.role == "storage" else "node"


class _Diagram:
    """A tree from the file system down to the nodes."""

    def __init__(self, axes: Axes, description: Description):
        self.axes, self.description = axes, description
        self.next_leaf = 0.0

    def draw(self, tops: list[Switch]) -> None:
        description = self.description
        spots = []
        for top in tops:
            spots.append(self._switch(top, -2.0))
            self.next_leaf += 1.0
        width = self.next_leaf - 1.6
        middle = (sum(x for x, _ in spots) / len(spots), 0.0)
        for top, spot in zip(tops, spots, strict=True):
            self._cable(spot, middle, f"{top.link.name} {rate(top.link.bandwidth or 0)}")
        if description.pfs is not None:
            text = f"parallel file system: {rate(description.pfs.bandwidth)}"
            draw_server(self.axes, "pfs", middle, text)
        master = description.master
        draw_server(self.axes, "master", (width, 0.0), f"master: {rate(master.bandwidth)}")
        depth = min(self.axes.dataLim.y0, -2.0)
        self.axes.update_datalim([(-1.0, 0.6), (width + 1.5, depth - 1.2)])

    def _switch(self, switch: Switch, y: float) -> Spot:
        children = [self._switch(child, y - 2.0) for child in switch.children]
        hosts = []
        for _ in switch.hosts:
            hosts.append((self.next_leaf, y - 2.0))
            self.next_leaf += 1.0
        if switch.children or switch.hosts:
            self.next_leaf += 0.3
        everything = [*hosts, *children]
        spot = (sum(x for x, _ in everything) / len(everything), y)
        for child, child_spot in zip(switch.children, children, strict=True):
            self._cable(child_spot, spot, f"{child.link.name} {rate(child.link.bandwidth or 0)}")
        for (host, link), host_spot in zip(switch.hosts, hosts, strict=True):
            draw_cable(self.axes, host_spot, spot, "cable", width=1.2)
            draw_vertices(self.axes, _kind(host), [host_spot], 300)
            capacity = host.properties.get("capacity_bytes")
            lines = [host.name, rate(link.bandwidth or 0), *([amount(int(capacity))] if capacity else [])]
            self.axes.text(host_spot[0], y - 2.35, "\n".join(lines), ha="center", va="top", fontsize=7)
        draw_vertices(self.axes, "router", [spot], 260)
        return spot

    def _cable(self, lower: Spot, upper: Spot, text: str) -> None:
        draw_cable(self.axes, lower, upper, "cable", width=2.0)
        x, y = lower[0] * 0.6 + upper[0] * 0.4, lower[1] * 0.6 + upper[1] * 0.4
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        self.axes.text(x, y, text, ha="center", va="center", fontsize=9, bbox=box, zorder=3)


@dataclass
class _Box:
    """A place with its hosts and the places in it; sizes in units of a host's cell."""

    label: str = ""
    hosts: list[Host] = field(default_factory=list)
    inner: dict[str, _Box] = field(default_factory=dict)

    def put(self, host: Host) -> None:
        """Add a host at its location."""
        box = self
        for name in filter(None, host.properties.get("location", "").split("/")):
            box = box.inner.setdefault(name, _Box(name))
        box.hosts.append(host)

    @property
    def head(self) -> float:
        """Height of the label's line, larger around more levels."""
        depth, box = 0, self
        while box.inner:
            depth, box = depth + 1, next(iter(box.inner.values()))
        return 0.9 * 1.6**depth if self.label else 0.0

    def parts(self) -> list[tuple[float, float]]:
        """Sizes of its parts: the hosts' block, then the places."""
        blocks = [_grid_size(len(self.hosts), 1.0, 1.0)] if self.hosts else []
        return blocks + [box.size() for box in self.inner.values()]

    def columns(self) -> int:
        """Number of parts side by side: about 1.5 times as wide as high, few empty cells."""
        parts = self.parts()
        width, height = max(w for w, _ in parts), max(h for _, h in parts)

        def fault(columns: int) -> float:
            rows = ceil(len(parts) / columns)
            empty = rows * columns / len(parts) - 1
            return abs(log(columns * width / (rows * height) / 1.5)) + 4 * empty

        return min(range(1, len(parts) + 1), key=fault)

    def size(self) -> tuple[float, float]:
        """Width and height with margins and label."""
        parts, columns = self.parts(), self.columns()
        width, height = max(w for w, _ in parts), max(h for _, h in parts)
        rows = ceil(len(parts) / columns)
        return columns * (width + _GAP) + _GAP, rows * (height + _GAP) + _GAP + self.head


_GAP = 0.5


def _grid_size(count: int, width: float, height: float) -> tuple[float, float]:
    columns = max(1, round((2 * count) ** 0.5))
    return columns * width, ceil(count / columns) * height


class _Boxes:
    """Places as boxes in boxes, hosts as dots; one collection of dots per kind."""

    def __init__(self, axes: Axes, description: Description):
        self.axes, self.description = axes, description
        self.spots: dict[str, list[Spot]] = {}
        self.unit = self.points = 1.0

    def draw(self, tops: list[Switch]) -> None:
        description = self.description
        boxes = [_boxed(top) for top in tops]
        total = sum(box.size()[0] + 3.0 for box in boxes) - 3.0
        self.unit, self.points = total / 60, 13 * 72 / total
        left, bar = 0.0, 5.5 * self.unit
        for top, box in zip(tops, boxes, strict=True):
            width, _ = box.size()
            self._place(box, left, 0.0, 0)
            self._caption(top, left + width / 2, bar)
            left += width + 3.0
        for kind, spots in self.spots.items():
            draw_vertices(self.axes, kind, spots, min(60.0, (0.45 * self.points) ** 2))
        self.axes.plot([0, total], [bar, bar], color=COLOURS["pfs"], linewidth=3, zorder=1)
        if description.pfs is not None:
            spot = (total * 0.42, bar + 2 * self.unit)
            draw_server(self.axes, "pfs", spot, f"parallel file system: {rate(description.pfs.bandwidth)}")
            self.axes.plot([spot[0]] * 2, [bar, spot[1]], color=COLOURS["pfs"], linewidth=2)
        text = f"master: {rate(description.master.bandwidth)}"
        draw_server(self.axes, "master", (total * 0.8, bar + 2 * self.unit), text)
        self.axes.update_datalim([(0.0, bar + 3.5 * self.unit)])

    def _caption(self, top: Switch, middle: float, bar: float) -> None:
        """Draw the levels as text, between the file system and the cluster."""
        cluster = next(cluster for cluster in self.description.cluster if cluster.name == top.place.name)
        words = [f"{cluster.uplink.name} {rate(cluster.uplink.bandwidth or 0)}"]
        for level in cluster.levels:
            count = len(cluster.rack) if cluster.rack and level is cluster.levels[0] else level.count
            text = f"{count} × {level.name}" if count > 1 else level.name
            words.append(f"{text}, {rate(level.bandwidth)}" if level.bandwidth else text)
        self.axes.plot([middle] * 2, [0, bar], color=COLOURS["cable"], linewidth=2, zorder=1)
        box = {"facecolor": "white", "edgecolor": COLOURS["edge"], "pad": 4}
        text = f"{cluster.name}: " + "  ›  ".join(words)
        self.axes.text(middle, bar / 2, text, ha="center", va="center", fontsize=8, bbox=box, zorder=3)

    def _place(self, box: _Box, left: float, top: float, depth: int) -> None:
        width, height = box.size()
        draw_box(self.axes, left, top - height, width, height, "box" if depth % 2 == 0 else "inner", depth * 0.1)
        if box.label:
            spot, size = (left + width / 2, top - box.head / 2 - _GAP / 2), min(10.0, 0.8 * box.head * self.points)
            self.axes.text(*spot, box.label, ha="center", va="center", fontsize=size)
        parts, columns = box.parts(), box.columns()
        cell = max(w for w, _ in parts) + _GAP, max(h for _, h in parts) + _GAP
        corners = [
            (left + _GAP + index % columns * cell[0], top - box.head - _GAP - index // columns * cell[1])
            for index in range(len(parts))
        ]
        if box.hosts:
            self._dots(box.hosts, *corners[0], parts[0][0])
        for inner, corner in zip(box.inner.values(), corners[len(corners) - len(box.inner) :], strict=True):
            self._place(inner, *corner, depth + 1)

    def _dots(self, hosts: list[Host], left: float, top: float, width: float) -> None:
        columns = round(width)
        for index, host in enumerate(hosts):
            spot = (left + index % columns + 0.5, top - index // columns - 0.5)
            self.spots.setdefault(_kind(host), []).append(spot)


def _boxed(switch: Switch) -> _Box:
    box = _Box()
    for host in _hosts(switch):
        box.put(host)
    return next(iter(box.inner.values())) if len(box.inner) == 1 and not box.hosts else box


def _hosts(switch: Switch) -> list[Host]:
    own = [host for host, _ in switch.hosts]
    return own + [host for child in switch.children for host in _hosts(child)]
