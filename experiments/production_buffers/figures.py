"""The figure: nodes that idle while data moves, what it costs to let them go, and where buffers lie."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from analysis.colours import PALETTE
from analysis.compare import Interval
from analysis.plots.interval_lines import Line, interval_lines
from analysis.plots.panels import panels
from analysis.plots.style import save, set_title
from experiments.production_buffers.points import BASELINE, PLACES, STRIPED
from experiments.production_buffers.report import Group, Results, means

PANELS = {
    "idle_node_h": "node-hours held idle",
    "wait_h": "submission to first computation (h)",
    "buffer_tb_h": "buffer held (TB-hours)",
}
APART_MIN = 0.5
"""Lines are drawn this far beside each other, so that equal ones are seen."""


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw a figure for each policy, that of the first with the places of buffers; return the PNG files."""
    return [
        save(_figure(results, policy), folder / f"production-buffers-{policy.split(':')[0]}")[0]
        for policy in dict.fromkeys(point.policy for point in results)
    ]


def _figure(results: Results, policy: str) -> Axes:
    places = [group for group in means(results, "hot_spot") if group[0] != STRIPED and group[2] == policy]
    axes = panels(1, len(PANELS) + bool(places), width=4.1 * (len(PANELS) + bool(places)), height=4.0)
    lives = list(dict.fromkeys(point.life for point in results))
    for ax, (name, words) in zip(axes, PANELS.items(), strict=False):
        found = means(results, name)
        lines = {life: _line(found, life, policy, APART_MIN * place) for place, life in enumerate(lives)}
        interval_lines(lines, colours=dict(zip(lives, PALETTE * len(lives), strict=False)), ax=ax)
        ax.set_ylabel(words)
        ax.set_xlabel("time of a stage-in, and of a stage-out (min)")
        ax.set_ylim(bottom=0.0)
    set_title(axes[0], f"Tuolumne, {policy}")
    axes[0].legend(frameon=False, fontsize=9)
    if places:
        _draw_places(axes[-1], results, places[0])
    return axes[0]


def _line(found: dict[Group, Interval], life: str, policy: str, shift: float) -> Line:
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
