"""Ratios of policies to a baseline over many parts: one box per policy, one dot per part."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.plots.style import INK, new_axes, policy_colours, set_title
from spillway.analysis.tables.jobs import Floats


def normalised_boxes(
    ratios: Mapping[str, Floats],
    ax: Axes | None = None,
    *,
    title: str = "Waiting time",
    baseline: str = "baseline",
    marks: Mapping[str, float] | None = None,
) -> Axes:
    """Draw a box per policy: quartiles and median of its ratios, whiskers to 1.5 box lengths, all ratios as dots.

    Parameters
    ----------
    ratios
        Policy name to one ratio per part, policy over baseline: below 1 is better for times.
    ax
        Axes to draw into; a new figure by default.
    title
        Name of the compared metric.
    baseline
        Name of the denominator of the ratios.
    marks
        A further median of some policies, drawn as a diamond (a published one, say).
    """
    ax = new_axes(ax, 8.0, 1.2 + 0.55 * max(len(ratios), 1))
    palette = policy_colours(ratios)
    for row, (name, column) in enumerate(ratios.items()):
        drawn = ax.boxplot(
            [column],
            positions=[row],
            widths=0.62,
            orientation="horizontal",
            showfliers=False,
            patch_artist=True,
            medianprops={"color": INK, "linewidth": 1.8},
            manage_ticks=False,
        )
        for box in drawn["boxes"]:
            box.set(facecolor=palette[name], alpha=0.75)
        scatter = np.random.default_rng(row).uniform(-0.16, 0.16, column.size)
        ax.plot(column, row + scatter, linestyle="none", marker="o", markersize=2.8, color=INK)
        if marks and name in marks:
            ax.plot(marks[name], row, marker="D", markersize=6, color="white", markeredgecolor=INK, zorder=5)
    ax.axvline(1.0, color="#888888", linewidth=1.0, linestyle="--", zorder=0)
    ax.set_yticks(range(len(ratios)), list(ratios))
    ax.set_ylim(len(ratios) - 0.5, -0.5)
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"mean of each part in relation to {baseline}")
    set_title(ax, title)
    return ax
