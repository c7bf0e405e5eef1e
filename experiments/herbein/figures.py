"""The kinds of the paper's Figures 5 to 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from analysis.colours import PALETTE
from analysis.plots.style import legend_above, new_axes, save, set_title
from experiments.herbein.published import AWARE, IGNORANT, PROVISIONINGS, published
from experiments.herbein.report import Rows, ratios
from experiments.herbein.run import Point, Result

LABELS = ("0 %", "10 %", "20 %", "30 %")
_PLACES = [
    (column + 5 * row, scheduler, platform)
    for row, scheduler in enumerate((IGNORANT, AWARE))
    for column, platform in enumerate(PROVISIONINGS)
]


def draw(results: Mapping[Point, Result], rows: Rows, folder: Path) -> list[Path]:
    """Draw all figures of the runs of one policy, rate mix and contention model; return the files."""
    shares = _by_place(results, _job_shares)
    decisions = _by_place(results, lambda result: result.decisions_s)
    paths = save(_computing(rows), folder / "figure5")
    paths += save(_boxes(shares, "share of each job's time in computation (%)", "Single jobs"), folder / "figure6")
    paths += save(_boxes(decisions, "decision time (s)", "Scheduling decisions", log=True), folder / "figure7")
    return paths + save(_trade_off(rows), folder / "figure8")


def _by_place(
    results: Mapping[Point, Result], values: Callable[[Result], Sequence[float]]
) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for point, result in results.items():
        found.setdefault((point.scheduler, point.platform), []).extend(values(result))
    return found


def _job_shares(result: Result) -> list[float]:
    held, computing = np.array(result.held_s), np.array(result.computing_s)
    shares: list[float] = (100 * np.divide(computing, held, out=np.ones_like(held), where=held > 0)).tolist()
    return shares


def _ticks(ax: Axes) -> None:
    ax.set_xticks([place for place, *_ in _PLACES], [*LABELS, *LABELS])
    ax.set_xlabel("under-provisioning of the file system: I/O-ignorant (left), I/O-aware (right)")


def _computing(rows: Rows) -> Axes:
    """Figure 5: allocated node time, computing and blocked."""
    ax = new_axes(None)
    for place, scheduler, platform in _PLACES:
        found = [row["computing_percent"] for point, row in rows.items() if (point.scheduler, point.platform) == (
            scheduler, platform
        )]  # fmt: skip
        share = float(np.mean(found)) if found else 0.0
        first = place == 0
        ax.bar(place, share, color=PALETTE[0], label="computing" if first else None)
        blocked = 100.0 - share if found else 0.0
        ax.bar(place, blocked, bottom=share, color=PALETTE[5], label="blocked on I/O" if first else None)
        ax.text(place, share / 2, f"{share:.1f}" if found else "", ha="center", color="white")
    _ticks(ax)
    ax.set_ylabel("allocated node time (%)")
    set_title(ax, "Computing and blocked")
    legend_above(ax)
    return ax


def _boxes(values: Mapping[tuple[str, str], list[float]], label: str, title: str, log: bool = False) -> Axes:
    """Figures 6 and 7: boxes from the 25th to the 75th percentile, whiskers from the 5th to the 95th, squares: means;
    crosses: extremes."""
    ax = new_axes(None)
    for place, scheduler, platform in _PLACES:
        found = values.get((scheduler, platform))
        if not found:
            continue
        ax.boxplot(
            [found], positions=[place], whis=(5, 95), showfliers=False, showmeans=True, widths=0.6,
            meanprops={"marker": "s", "markerfacecolor": PALETTE[1], "markeredgecolor": PALETTE[1]},
            medianprops={"color": PALETTE[0]},
        )  # fmt: skip
        ax.plot([place, place], [min(found), max(found)], "x", color=PALETTE[7])
    if log:
        ax.set_yscale("log")
    _ticks(ax)
    ax.set_ylabel(label)
    set_title(ax, title)
    return ax


def _trade_off(rows: Rows) -> Axes:
    """Figure 8: ratios of efficiency and turnaround, aware over ignorant; bars: means, lines: range over seeds."""
    ax = new_axes(None, 6.0)
    found = {platform: pairs for (*_, platform), pairs in ratios(rows).items()}
    literal = all((point.policy, point.mix) == ("easy", "constant") for point in rows)
    for index, (name, words) in enumerate(_RATIOS):
        for number, platform in enumerate(PROVISIONINGS):
            values = [pair[index] for pair in found.get(platform, [])]
            if not values:
                continue
            place, mean = number + 0.4 * index - 0.2, float(np.mean(values))
            ax.bar(place, mean, 0.38, color=PALETTE[2 * index], label=words if number == 0 else None)
            ax.plot([place, place], [min(values), max(values)], color="#222222", linewidth=1.2)
            ax.text(place, 0.04, f"{mean:.2f}", ha="center", color="white")
            stated = published(platform, "", name) if literal else ""
            if stated:
                label = "published" if (index, number) == (0, 0) else None
                ax.plot(place, float(stated), "D", color=PALETTE[5], markersize=6, label=label)
    ax.axhline(1.0, color="#888888", linewidth=0.8)
    ax.set_xticks(range(4), LABELS)
    ax.set_xlabel("under-provisioning of the file system")
    ax.set_ylabel("I/O-aware / I/O-ignorant")
    legend_above(ax, 3)
    return ax


_RATIOS = (("efficiency_ratio", "system efficiency"), ("turnaround_ratio", "turnaround time"))
