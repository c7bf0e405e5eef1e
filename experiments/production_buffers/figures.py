"""The figure: nodes that idle while data moves, what it costs to let them go, and where buffers lie."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes

from analysis.colours import PALETTE
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


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw a figure for each policy, the first with the places of buffers; return the PNG files."""
    paths = []
    for policy in dict.fromkeys(point.policy for point in results):
        paths += save(_lives(results, policy), folder / f"production-buffers-{policy.split(':')[0]}")[:1]
    return [*paths, *save(_places(results), folder / "production-buffers-places")[:1]]


def _lives(results: Results, policy: str) -> Axes:
    axes = panels(1, len(PANELS), width=12.5, height=4.0)
    lives = list(dict.fromkeys(point.life for point in results))
    for ax, (name, words) in zip(axes, PANELS.items(), strict=True):
        lines = _lines(results, name, lambda group: group[1] if group[0] == STRIPED and group[2] == policy else None)
        interval_lines(lines, colours=dict(zip(lives, PALETTE * len(lives), strict=False)), ax=ax)
        _label(ax, words)
    set_title(axes[0], f"Tuolumne, {policy}")
    axes[0].legend(frameon=False, fontsize=9)
    return axes[0]


def _places(results: Results) -> Axes:
    policy = next(iter(results)).policy
    axes = panels(1, 3, width=12.5, height=4.0)
    for ax, (name, words) in zip(
        axes,
        {"hot_spot": "busiest rabbit over the mean", **{k: PANELS[k] for k in ("wait_h", "idle_node_h")}}.items(),
        strict=True,
    ):
        lines = _lines(results, name, lambda group: group[0] if group[1:3] == (BASELINE, policy) else None)
        interval_lines(lines, colours=dict(zip(PLACES, PALETTE, strict=False)), ax=ax)
        _label(ax, words)
    set_title(axes[0], f"Where buffers lie, {policy}, {BASELINE}")
    axes[0].legend(frameon=False, fontsize=9)
    return axes[0]


def _lines(results: Results, name: str, line_of: Callable[[Group], str | None]) -> dict[str, Line]:
    lines: dict[str, list[tuple[float, float, float, float]]] = {}
    for group, found in sorted(means(results, name).items(), key=lambda item: item[0][3]):
        line = line_of(group)
        if line is not None:
            low, high = (found.low, found.high) if found.is_known else (found.value, found.value)
            lines.setdefault(line, []).append((group[3], found.value, low, high))
    return dict(lines)


def _label(ax: Axes, words: str) -> None:
    ax.set_ylabel(words)
    ax.set_xlabel("time of a stage-in, and of a stage-out (min)")
    ax.set_ylim(bottom=0.0)
