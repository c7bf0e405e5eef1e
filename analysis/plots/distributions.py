"""Values of jobs by policy: means, quantiles, tails, ratios, also part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, SymmetricalLogLocator

from spillway.analysis.measures.compare import mean_interval
from spillway.analysis.plots.axes import diamonds, legend_above, named_rows, scattered, set_title, time_unit
from spillway.analysis.plots.style import INK, new_axes, panels, policy_colours
from spillway.analysis.tables.jobs import Floats
from spillway.base.units import duration, number

NUMBER = 0.2
"""About the width of a number beside a bar, as a share of the longest bar."""

SPREAD = 0.36
"""Half the height of a policy's strip, in rows."""

GROUP_WIDTH = 0.84
"""Width of a part's group of bars."""

_WIDE_RANGE = 30.0
"""Ratio of the means above which the axis is logarithmic: a linear one would hide the small bars."""

_TICKS_S = {0: "0", 60: "1 min", 600: "10 min", 3600: "1 h", 21_600: "6 h", 86_400: "1 day", 604_800: "1 week"}
_TICKS_S |= {2_592_000: "30 days", 15_552_000: "180 days"}


def bars(
    values: Mapping[str, Sequence[Floats]],
    ax: Axes | None = None,
    *,
    title: str = "Mean waiting time",
    seconds: bool = True,
    marks: Mapping[str, float] | None = None,
) -> Axes:
    """Draw one horizontal bar per policy: the mean of its values, and that mean's 95 % interval where there is one.

    Parameters
    ----------
    values
        Policy name to its runs, one value per job in order of submission, in the order of the bars.
    seconds
        Whether the values are seconds (then the axis takes a fitting unit).
    marks
        A further value of some policies, drawn as a diamond (a published one, say).
    """
    ax = new_axes(ax, 5.4, 1.2 + 0.42 * max(len(values), 1))
    means = [mean_interval(runs) for runs in values.values()]
    top = max((end for interval in means for end in (interval.value, interval.high) if np.isfinite(end)), default=1.0)
    scale, unit = time_unit(top) if seconds else (1.0, "")
    palette = policy_colours(values)
    for row, (name, interval) in enumerate(zip(values, means, strict=True)):
        mean = interval.value / scale
        low, high = (interval.low / scale, interval.high / scale) if interval.is_known else (mean, mean)
        ax.barh(row, mean, height=0.66, color=palette[name])
        if interval.is_known:
            ax.errorbar(mean, row, xerr=[[mean - low], [high - mean]], color=INK, capsize=3, linewidth=1.1)
        beside, points = high, 5
        if marks and name in marks:
            mark = marks[name] / scale
            diamonds(ax, mark, row, 5)
            if high < mark < high + NUMBER * top / scale:  # the number would overlap the diamond
                beside, points = mark, 7
        words = duration(interval.value) if seconds else number(interval.value)
        ax.annotate(words, (beside, row), xytext=(points, 0), textcoords="offset points", va="center")
    named_rows(ax, list(values))
    ax.margins(x=0.16)
    ax.set_xlim(left=0)
    whiskers = "whiskers: 95 % interval of the mean" if any(interval.is_known for interval in means) else ""
    ax.set_xlabel(f"{unit} ({whiskers})" if unit and whiskers else unit or whiskers)
    set_title(ax, title)
    return ax


def part_bars(
    values: Mapping[str, Mapping[str, Floats]],
    ax: Axes | None = None,
    *,
    title: str = "Mean waiting time",
    unit: str = "s",
    marks: Mapping[str, Mapping[str, float]] | None = None,
) -> Axes:
    """Draw a group of bars per part: the mean of each policy's values.

    Parameters
    ----------
    values
        Policy name to part name to one value per job.
    unit
        Unit of the axis, or "".
    marks
        Further values (published ones, say) by policy and part, drawn as small diamonds.
    """
    parts = list(dict.fromkeys(part for columns in values.values() for part in columns))
    ax = new_axes(ax, max(10.0, 4.0 + 0.62 * len(parts)), 4.0)
    palette = policy_colours(values)
    width = GROUP_WIDTH / max(len(values), 1)
    means: list[float] = []
    for place, (name, columns) in enumerate(values.items()):
        at = np.array([parts.index(part) for part in columns]) - GROUP_WIDTH / 2 + (place + 0.5) * width
        mean = np.array([column.mean() for column in columns.values()])
        ax.bar(at, mean, width * 0.92, color=palette[name], label=name)
        means += mean.tolist()
        given = (marks or {}).get(name, {})
        shown = [(x, given[part]) for x, part in zip(at, columns, strict=True) if part in given]
        if shown:
            xs, heights = zip(*shown, strict=True)
            diamonds(ax, xs, heights, 2.6, markeredgewidth=0.6)
    positive = [value for value in means if value > 0]
    if positive and max(positive) > _WIDE_RANGE * min(positive):
        ax.set_yscale("log")
    ax.set_xticks(range(len(parts)), parts)
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.6, max(len(parts), 1) - 0.4)
    ax.grid(axis="y")
    ax.set_ylabel(unit)
    if values:
        legend_above(ax, columns=6)
    set_title(ax, title)
    return ax


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
    count
        Dots per policy at most. The thesis draws 8000 (section 4.2) or 4000.
    seconds
        Whether the values are seconds (then the axis takes a fitting unit).
    """
    ax = new_axes(ax, 8.0, 1.2 + 0.55 * max(len(values), 1))
    tops = {name: np.sort(column)[::-1][:count] for name, column in values.items()}
    largest = max((float(top[0]) for top in tops.values() if top.size), default=1.0)
    scale, unit = time_unit(largest) if seconds else (1.0, "")
    palette = policy_colours(values)
    for row, (name, top) in enumerate(tops.items()):
        scattered(
            ax, row, top / scale, SPREAD, marker=".", markersize=2.6, markeredgewidth=0, color=palette[name], alpha=0.6,
            rasterized=True,
        )  # fmt: skip
    named_rows(ax, list(values), margin=0.5)
    ax.set_xlim(left=0)
    most = max((top.size for top in tops.values()), default=0)
    ax.set_xlabel(f"{unit} ({most:,} largest values)" if unit else f"{most:,} largest values")
    set_title(ax, title)
    return ax


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
        scattered(ax, row, column, 0.16, marker="o", markersize=2.8, color=INK)
        if marks and name in marks:
            diamonds(ax, marks[name], row, 6, zorder=5)
    ax.axvline(1.0, color="#888888", linewidth=1.0, linestyle="--", zorder=0)
    named_rows(ax, list(ratios), margin=0.5)
    ax.set_xlabel(f"mean of each part in relation to {baseline}")
    set_title(ax, title)
    return ax


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
