"""The whole distribution of a metric by policy: letter-value (boxen) plots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, SymmetricalLogLocator

from spillway.analysis.plots.style import INK, new_axes, policy_colours, set_title
from spillway.analysis.tables.jobs import Floats

_TICKS_S = {0: "0", 60: "1 min", 600: "10 min", 3600: "1 h", 21_600: "6 h", 86_400: "1 day", 604_800: "1 week"}
_TICKS_S |= {2_592_000: "30 days", 15_552_000: "180 days"}


def boxen(
    values: Mapping[str, Floats],
    ax: Axes | None = None,
    *,
    title: str = "Waiting time of all jobs",
    seconds: bool = True,
    depth: int = 4,
) -> Axes:
    """Draw nested boxes per policy: the middle half, then the next halves of the rest, ``depth`` boxes deep.

    Parameters
    ----------
    values
        Policy name to one value per job.
    ax
        Axes to draw into; a new figure by default.
    title
        Name of the values.
    seconds
        Whether the values are seconds (then the ticks are minutes, hours, days).
    depth
        Number of boxes per policy. The thesis draws four.

    References
    ----------
    Hofmann, Wickham, Kafadar, *Letter-value plots: boxplots for large data*, 2017, DOI 10.1080/10618600.2017.1305277.
    """
    ax = new_axes(ax, 5.4, 1.6 + 0.55 * max(len(values), 1))
    names = list(values)
    column = np.concatenate([np.asarray(values[name]) for name in names]) if names else np.zeros(0)
    labels = [name for name in names for _ in range(values[name].size)]
    sns.boxenplot(
        x=column,
        y=labels,
        hue=labels,
        order=names,
        hue_order=names,
        palette=policy_colours(names),
        k_depth=depth,
        showfliers=False,
        legend=False,
        width=0.72,
        line_kws={"color": INK, "linewidth": 1.6},
        ax=ax,
    )
    for row, name in enumerate(names):
        if values[name].size:
            ax.plot(values[name].max(), row, marker="|", markersize=11, color=INK)
    threshold = 60.0 if seconds else 1.0
    ax.set_xscale("symlog", linthresh=threshold, linscale=0.6)
    ax.set_xlim(left=0)
    if seconds:
        top = float(column.max()) if column.size else 1.0
        ticks = [tick for tick in _TICKS_S if tick <= 1.5 * top]
        ax.set_xticks(ticks, [_TICKS_S[tick] for tick in ticks])
        ax.minorticks_off()
    else:
        ax.xaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=threshold))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    ax.set_ylabel("")
    ax.set_xlabel("logarithmic beyond the first tick; line: median, tick: largest value")
    set_title(ax, title)
    return ax
