"""Figures of the kinds of the paper's Figures 4 to 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spillway.analysis.colours import PALETTE
from spillway.experiments.studies.jeannot.measures import DRAWN
from spillway.experiments.studies.results import NotRun, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = {"LS": (PALETTE[0], "-"), "Random": (PALETTE[7], ":"), "Max": (PALETTE[5], "--"), "Char": (PALETTE[2], "-.")}
WORDS = {
    "computing": "processors computing (%)",
    "running": "jobs running",
    "allocated": "processors held (%)",
    "transferring": "bandwidth in use (%)",
}


@dataclass(frozen=True)
class _Courses:
    """Use of resources during the execution, mean over seeds: a row of panels for each family.

    Attributes
    ----------
    name
        Name of the file.
    families
        Families of the rows.
    courses
        Courses of the columns, mean over all loads; a single course has a column for each load.
    """

    name: str
    families: Sequence[str]
    courses: Sequence[str]

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figure, if a point was run; return its files."""
        from spillway.analysis.plots.panels import panels  # loads plots for drawing only, not in every worker
        from spillway.analysis.plots.style import save, set_title

        try:
            loads = sorted({point.number("load") for point in results.points({"family": self.families[0]})})
        except NotRun:
            return []
        by_load = len(self.courses) == 1
        columns = [(self.courses[0], {"load": load}) for load in loads] if by_load else [(c, {}) for c in self.courses]
        size = {"width": 3.1 * len(columns), "height": 2.5 * len(self.families) + 0.8}
        grid = panels(len(self.families), len(columns), **size)
        boxes = [(family, course, only) for family in self.families for course, only in columns]
        for ax, (family, course, only) in zip(grid, boxes, strict=True):
            _draw_course(ax, results.at({"family": family, **only}), course)
            set_title(ax, f"{family}, load {only['load']:g}" if by_load else family)
            ax.set_ylabel(WORDS[course])
            ax.set_xlabel("share of the execution")
        figure = grid[0].get_figure(root=True)
        assert figure is not None
        figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        return save(grid[0], folder / self.name)


def _draw_course(ax: Axes, results: Results, course: str) -> None:
    factor = 1 if course == "running" else 100
    progress = (np.arange(DRAWN) + 0.5) / DRAWN
    for policy, (colour, dashes) in _STYLES.items():
        seeds = [results.mean(f"{course} {part}", {"policy": policy}).values for part in range(DRAWN)]
        ax.plot(progress, factor * np.mean(seeds, axis=1), dashes, color=colour, label=policy, linewidth=1.6)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, None if course == "running" else 100)


def _trade_off(results: Results, folder: Path) -> list[Path]:
    """Figure 9: mean stretch over idle time in M-BN, a point per run coloured by utilisation, a line through loads."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    from spillway.analysis.plots.panels import panels
    from spillway.analysis.plots.style import save, set_title

    try:
        points = results.points({"family": "M-BN"})
    except NotRun:
        return []
    grid = panels(1, len(_STYLES), width=13.0, height=3.6)
    use = [100 * results.metric("utilisation", point) for point in points]
    scale = Normalize(min(use), max(use))
    for ax, policy in zip(grid, _STYLES, strict=True):
        runs = [point for point in points if point["policy"] == policy]
        x, y, colour = (
            [factor * results.metric(name, point) for point in runs]
            for name, factor in (("idle", 100), ("mean_stretch", 1), ("utilisation", 100))
        )
        ax.scatter(x, y, s=14, norm=scale, cmap="viridis", c=colour)
        loads = sorted({point.number("load") for point in runs})
        means = [
            [np.mean([values[at] for at, point in enumerate(runs) if point["load"] == load]) for load in loads]
            for values in (x, y)
        ]
        ax.plot(*means, color="#444444", linewidth=1.3)
        set_title(ax, policy)
        ax.set_xlabel("idle time (%)")
    idle, stretch = ([results.metric(name, point) for point in points] for name in ("idle", "mean_stretch"))
    for ax in grid:
        ax.set_xlim(95 * min(idle), 105 * max(idle))
        ax.set_ylim(0.99, 1.01 * max(stretch))
    grid[0].set_ylabel("mean stretch")
    figure = grid[0].get_figure(root=True)
    assert figure is not None
    figure.colorbar(ScalarMappable(scale, "viridis"), ax=grid, label="utilisation (%)", pad=0.01)
    return save(grid[0], folder / "figure9-idle-stretch")


FIGURES = (
    _Courses("figure4-utilisation-mira", ("M-BN", "M-No"), ("computing",)),
    _Courses("figure5-utilisation-uniform", ("U-BN", "U-No"), ("computing",)),
    _Courses("figure8-resources", ("M-BN", "M-No"), ("running", "allocated", "transferring")),
    _trade_off,
)
