"""Pictures of platforms: nodes, storage nodes, switches, the file system, and the links between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from spillway.platforms.catalogue import describe
from spillway.platforms.description.machine import Description
from spillway.platforms.errors import PlatformError
from spillway.platforms.pictures.dragonfly import draw_dragonfly
from spillway.platforms.pictures.style import COLOURS, draw_vertices, vertex_legend
from spillway.platforms.pictures.topology import route_graph
from spillway.platforms.pictures.tree import draw_tree
from spillway.platforms.simgrid.xml_reader import load_platform

_DRAWERS: Mapping[str, Callable[[Axes, Description], list[Line2D]]] = {"dragonfly": draw_dragonfly, "tree": draw_tree}


def draw_platform(name: str | Path, output: str | Path) -> None:
    """Draw a platform into an image file: a built-in name, a ``.toml`` description, or a small ``.xml`` file.

    Parameters
    ----------
    output
        ``.png``, ``.pdf`` or ``.svg``.

    Raises
    ------
    PlatformError
        If the platform cannot be read or the picture cannot be written.
    """
    figure = _picture_of_routes(name) if Path(name).suffix in (".xml", ".xz") else picture(describe(name))
    try:
        figure.savefig(output, dpi=150, facecolor="white")
    except (OSError, ValueError) as error:
        raise PlatformError(f"cannot write the picture: {error}", str(output)) from None


def picture(description: Description) -> Figure:
    """Picture of a described machine."""
    figure, axes = _canvas(description.name, description.summary)
    legend = _DRAWERS[description.topology](axes, description)
    figure.legend(handles=legend, loc="outside lower center", ncols=min(len(legend), 4), frameon=False, fontsize=9)
    _fit(figure, axes)
    return figure


def _picture_of_routes(path: str | Path) -> Figure:
    """Picture of any platform file: hosts, and its links as dots, laid out by a spring model (always the same)."""
    graph = route_graph(load_platform(path))
    figure, axes = _canvas(Path(path).stem, f"{graph.number_of_nodes()} hosts and links")
    positions = nx.spring_layout(graph, seed=1, k=2.5 / max(1.0, graph.number_of_nodes()) ** 0.5)
    for edge, other in graph.edges:
        (x0, y0), (x1, y1) = positions[edge], positions[other]
        axes.plot([x0, x1], [y0, y1], color=COLOURS["cable"], linewidth=0.5, zorder=1)
    kinds = {kind for _, kind in graph.nodes(data="kind")}
    for kind in kinds:
        names = [name for name, own in graph.nodes(data="kind") if own == kind]
        draw_vertices(axes, kind, [tuple(positions[name]) for name in names], size=30)
        for name in names if kind != "link" and len(names) <= 60 else ():
            axes.annotate(name, positions[name], (4, 3), textcoords="offset points", fontsize=6, zorder=5)
    legend = vertex_legend(sorted(kinds))
    figure.legend(handles=legend, loc="outside lower center", ncols=len(legend), frameon=False)
    axes.set_aspect("equal")
    return figure


def _canvas(title: str, subtitle: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(13, 8), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    figure.suptitle(f"{title}\n{subtitle}" if subtitle else title, fontsize=12)
    axes.margins(0.01)
    return figure, axes


def _fit(figure: Figure, axes: Axes) -> None:
    """Give the figure the proportions of the drawing, within the size of a page."""
    axes.autoscale_view()
    axes.set_aspect("equal")
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width = 13.0
    height = width * (top - bottom) / (right - left) + 1.3
    figure.set_size_inches(width, min(max(height, 3.5), 14.0))
