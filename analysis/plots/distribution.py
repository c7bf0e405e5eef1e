"""One metric three ways: mean with its interval, quantiles, and the tail."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from spillway.analysis.plots.bars import bars
from spillway.analysis.plots.boxen import boxen
from spillway.analysis.plots.panels import panels
from spillway.analysis.plots.tail_strip import tail_strip
from spillway.analysis.tables.jobs import Floats


def distribution(
    values: Mapping[str, Floats],
    *,
    title: str,
    seconds: bool = True,
    tail: int = 4000,
    marks: Mapping[str, float] | None = None,
) -> Axes:
    """Draw mean, letter values and tail of each policy beside each other; return the axes of the means.

    Parameters
    ----------
    values
        Policy name to one value per job.
    title
        Name of the values.
    seconds
        Whether the values are seconds.
    tail
        Jobs per policy in the tail plot.
    marks
        Means to compare with (published ones, say), drawn as diamonds.
    """
    axes = panels(1, 3, width=17.0, height=1.3 + 0.46 * max(len(values), 1))
    bars(
        {name: [column] for name, column in values.items()},
        axes[0],
        title=f"{title}: mean",
        seconds=seconds,
        marks=marks,
    )
    boxen(values, axes[1], title="Quantiles", seconds=seconds)
    tail_strip(values, axes[2], title="Tail", seconds=seconds, count=tail)
    for ax in axes[1:]:
        ax.tick_params(labelleft=False)
    return axes[0]
