"""The largest values of a metric by policy, one dot each: means and quantiles hide them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.plots.style import new_axes, policy_colours, set_title, time_unit
from spillway.analysis.tables.jobs import Floats

SPREAD = 0.36
"""Half the height of a policy's strip, in rows."""


def tail_strip(
    values: Mapping[str, Floats],
    ax: Axes | None = None,
    *,
    count: int = 4000,
    title: str = "Longest waits",
    seconds: bool = True,
) -> Axes:
    """Draw the ``count`` largest values of each policy as dots, scattered over a strip so that all can be seen.

    Parameters
    ----------
    values
        Policy name to one value per job.
    ax
        Axes to draw into; a new figure by default.
    count
        Dots per policy at most. The thesis draws 8000 (section 4.2) or 4000.
    title
        Name of the values.
    seconds
        Whether the values are seconds (then the axis takes a fitting unit).
    """
    ax = new_axes(ax, 8.0, 1.2 + 0.55 * max(len(values), 1))
    tops = {name: np.sort(column)[::-1][:count] for name, column in values.items()}
    largest = max((float(top[0]) for top in tops.values() if top.size), default=1.0)
    scale, unit = time_unit(largest) if seconds else (1.0, "")
    palette = policy_colours(values)
    for row, (name, top) in enumerate(tops.items()):
        scatter = np.random.default_rng(row).uniform(-SPREAD, SPREAD, top.size)
        ax.plot(
            top / scale,
            row + scatter,
            linestyle="none",
            marker=".",
            markersize=2.6,
            markeredgewidth=0,
            color=palette[name],
            alpha=0.6,
            rasterized=True,
        )
    ax.set_yticks(range(len(values)), list(values))
    ax.set_ylim(len(values) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    most = max((top.size for top in tops.values()), default=0)
    ax.set_xlabel(f"{unit} ({most:,} largest values)" if unit else f"{most:,} largest values")
    set_title(ax, title)
    return ax
