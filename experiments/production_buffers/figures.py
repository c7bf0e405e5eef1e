"""The figure: nodes that idle while data moves, what it changes to let them go, and where buffers lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes

from analysis.colours import PALETTE
from analysis.compare import Interval
from analysis.plots.interval_lines import Line, interval_lines
from analysis.plots.panels import panels
from analysis.plots.style import INK, save, set_title
from experiments.production_buffers.points import BASELINE, NAME, PLACES, STRIPED
from experiments.production_buffers.report import Group, Results, differences, means

APART_MIN = 0.7
"""Lines are drawn this far beside each other, so that equal ones are seen."""

PANEL_INCHES = (4.1, 3.6)


class Panel(NamedTuple):
    """A measure over the time of staging: its name, what is drawn of it, and the words at its axis."""

    measure: str
    find: Callable[[Results, str], Mapping[Group, Interval]]
    words: str


PANELS = (
    Panel("idle_node_h", means, "node-hours held idle"),
    Panel("wait_h", differences, f"wait, difference from {BASELINE} (h)"),
    Panel("buffer_tb_h", differences, f"buffer, difference from {BASELINE} (TB-h)"),
)


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw the figure, a row for each policy; return the PNG file."""
    policies = list(dict.fromkeys(point.policy for point in results))
    places = [group for group in means(results, "hot_spot") if group[0] != STRIPED]
    columns = len(PANELS) + bool(places)
    width, height = PANEL_INCHES
    axes = panels(len(policies), columns, width=width * columns, height=height * len(policies))
    for row, policy in enumerate(policies):
        of_row = axes[row * columns : (row + 1) * columns]
        _draw_lives(of_row, results, policy)
        here = [group for group in places if group[2] == policy]
        if here:
            _draw_places(of_row[-1], results, here[0])
        elif places:
            of_row[-1].set_axis_off()
    axes[0].legend(frameon=False, fontsize=9)
    return save(axes[0], folder / NAME)[:1]


def _draw_lives(axes: list[Axes], results: Results, policy: str) -> None:
    """The panels of a policy, a line for each life."""
    lives = list(dict.fromkeys(point.life for point in results))
    colours = dict(zip(lives, PALETTE * len(lives), strict=False))
    for ax, panel in zip(axes, PANELS, strict=False):
        found = panel.find(results, panel.measure)
        lines = {life: _line(found, life, policy, APART_MIN * place) for place, life in enumerate(lives)}
        interval_lines(lines, colours=colours, ax=ax)
        ax.axhline(0.0, color=INK, linewidth=0.6, zorder=0.5)
        ax.set_ylabel(panel.words)
        ax.set_xlabel("time of a stage-in, and of a stage-out (min)")
    set_title(axes[0], f"Tuolumne, {policy}")


def _line(found: Mapping[Group, Interval], life: str, policy: str, shift: float) -> Line:
    """A life's values by the time of staging."""
    points = [(group[3], value) for group, value in found.items() if group[:3] == (STRIPED, life, policy)]
    return [(minutes + shift, *_bounds(value)) for minutes, value in sorted(points, key=lambda point: point[0])]


def _draw_places(ax: Axes, results: Results, group: Group) -> None:
    """How unevenly rabbits are used, by where buffers lie."""
    found = means(results, "hot_spot")
    lines = {place: [(float(x), *_bounds(found[place, *group[1:]]))] for x, place in enumerate(PLACES)}
    interval_lines(lines, ax=ax)
    ax.set_xticks(range(len(PLACES)), list(PLACES))
    ax.set_xlim(-0.5, len(PLACES) - 0.5)
    ax.set_ylim(bottom=0.0)
    ax.set_ylabel("busiest rabbit over the mean")
    ax.set_xlabel(f"where buffers lie ({BASELINE}, {group[3]:g} min)")


def _bounds(found: Interval) -> tuple[float, float, float]:
    return (found.value, found.low, found.high) if found.is_known else (found.value, found.value, found.value)
