"""Draws a Dragonfly: groups side by side, in each its chassis one above the other, routers and nodes inside."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from spillway.platforms.description.dragonfly import DragonflyMachine, lay_out
from spillway.platforms.description.machine import Description, FileSystem, Master
from spillway.platforms.pictures.style import (
    Spot,
    amount,
    cable_legend,
    draw_box,
    draw_cable,
    draw_server,
    draw_vertices,
    rate,
    vertex_legend,
)
from spillway.platforms.simgrid.zones.dragonfly import Shape, pairs


@dataclass(frozen=True)
class _Grid:
    """Positions in the drawing; the unit is the distance between two nodes of a router."""

    shape: Shape

    @property
    def router_width(self) -> float:
        return self.shape.nodes + 0.8

    @property
    def chassis_width(self) -> float:
        return self.shape.routers * self.router_width + 0.6

    @property
    def group_width(self) -> float:
        return self.chassis_width + 1.6

    chassis_height = 4.6

    @property
    def height(self) -> float:
        return self.shape.chassis * self.chassis_height + 1.3

    def corner(self, group: int, chassis: int) -> Spot:
        """Lower left corner of a chassis; the first chassis is the uppermost."""
        return group * (self.group_width + 1.2) + 0.8, (self.shape.chassis - 1 - chassis) * self.chassis_height + 0.4

    def router(self, number: int) -> Spot:
        """Middle of a router."""
        group, chassis, blade = self.shape.place(number)
        left, bottom = self.corner(group, chassis)
        return left + 0.3 + (blade + 0.5) * self.router_width, bottom + 2.3

    def node(self, number: int) -> Spot:
        """Middle of a node."""
        router, position = divmod(number, self.shape.nodes)
        x, y = self.router(router)
        return x + position - (self.shape.nodes - 1) / 2, y - 1.5


def draw_dragonfly(axes: Axes, description: Description) -> list[Line2D]:
    """Draw; return the legend."""
    machine = lay_out(description)
    grid = _Grid(machine.shape)
    _draw_boxes(axes, grid)
    _draw_cables(axes, grid)
    _draw_hosts(axes, grid, machine)
    _draw_servers(axes, grid, description)
    plan = description.dragonfly
    assert plan is not None, "checked when the description was read"
    labels = {
        "cable": f"node to router: {rate(plan.bandwidth)} each way",
        "green": f"green, in a chassis: {rate(plan.bandwidth * plan.green)}",
        "black": f"black, in a group: {rate(plan.bandwidth * plan.black)}",
        "blue": f"blue, between groups: {rate(plan.bandwidth * plan.blue)}",
    }
    used = [True, machine.shape.routers > 1, machine.shape.chassis > 1, machine.shape.groups > 1]
    shown = {colour: label for (colour, label), use in zip(labels.items(), used, strict=True) if use}
    kinds = ["node", "storage", "router"] if description.storage is not None else ["node", "router"]
    return [*vertex_legend(kinds), *cable_legend(shown)]


def _draw_boxes(axes: Axes, grid: _Grid) -> None:
    for group in range(grid.shape.groups):
        left = grid.corner(group, 0)[0] - 0.8
        draw_box(axes, left, 0.0, grid.group_width, grid.height, "box")
        middle = left + grid.group_width / 2
        axes.text(middle, grid.height - 0.3, f"group {group}", ha="center", va="top", fontsize=11)
        for chassis in range(grid.shape.chassis):
            x, y = grid.corner(group, chassis)
            draw_box(axes, x, y, grid.chassis_width, grid.chassis_height - 0.9, "inner", 1)
            axes.text(x + 0.25, y + grid.chassis_height - 1.05, f"chassis {chassis}", va="top", fontsize=7, zorder=3)


def _draw_cables(axes: Axes, grid: _Grid) -> None:
    shape = grid.shape
    for node in range(shape.node_count):
        draw_cable(axes, grid.node(node), grid.router(node // shape.nodes), "cable", width=0.8)
    for group in range(shape.groups):
        for chassis in range(shape.chassis):
            for first, other in pairs(shape.routers):
                ends = [grid.router(shape.router(group, chassis, blade)) for blade in (first, other)]
                bend = 0.0 if other == first + 1 else -0.28
                draw_cable(axes, ends[0], ends[1], "green", bend, 1.4)
        for first, other in pairs(shape.chassis):
            for blade in range(shape.routers):
                ends = [grid.router(shape.router(group, chassis, blade)) for chassis in (first, other)]
                draw_cable(axes, ends[0], ends[1], "black", 0.12 * (other - first), 0.7)
    for first, other in pairs(shape.groups):
        near, far = grid.router(shape.router(first, 0, other)), grid.router(shape.router(other, 0, first))
        draw_cable(axes, near, far, "blue", -0.22 / (other - first) ** 0.3, 1.8)


def _draw_hosts(axes: Axes, grid: _Grid, machine: DragonflyMachine) -> None:
    shape = machine.shape
    labelled = shape.node_count <= 250
    draw_vertices(axes, "router", [grid.router(number) for number in range(shape.router_count)], 90)
    for kind, role in (("node", ""), ("storage", "storage")):
        numbers = [number for number in range(shape.node_count) if machine.hosts[number].role == role]
        labels = [str(number) for number in numbers] if labelled else None
        draw_vertices(axes, kind, [grid.node(number) for number in numbers], 105, labels)
    if labelled:
        for number in range(shape.node_count):
            capacity = machine.hosts[number].properties.get("capacity_bytes")
            if capacity is not None:
                x, y = grid.node(number)
                axes.text(x, y - 0.62, amount(int(capacity)), ha="center", va="center", fontsize=6)


def _draw_servers(axes: Axes, grid: _Grid, description: Description) -> None:
    """The file system and the master below, joined to the whole network."""
    last = grid.corner(grid.shape.groups - 1, 0)[0] - 0.8 + grid.group_width
    axes.plot([0.0, last], [-0.7, -0.7], color="#b3452c", linewidth=3, solid_capstyle="round", zorder=1)
    servers: list[tuple[str, Master | FileSystem]] = [("master", description.master)]
    if description.pfs is not None:
        servers.append(("pfs", description.pfs))
    for index, (kind, server) in enumerate(servers):
        x = last * (index + 1) / (len(servers) + 1)
        name = "parallel file system" if kind == "pfs" else "master"
        axes.plot([x, x], [-0.7, -2.0], color="#b3452c" if kind == "pfs" else "#7a5195", linewidth=2, zorder=1)
        draw_server(axes, kind, (x, -2.4), f"{name}: {rate(server.bandwidth)}, {server.latency * 1e6:g} µs")
    note = "each of them is reached from every node over its own link only"
    axes.text(last, -1.0, note, ha="right", va="top", fontsize=8)
    axes.update_datalim([(-0.3, -3.4), (last + 0.3, grid.height + 1.5)])
