"""The kinds of the paper's Figures 5 to 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from analysis.plots.style import PALETTE, legend_above, new_axes, save, set_title
from experiments.herbein.published import AWARE, IGNORANT, PROVISIONINGS
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
    paths += save(_boxes(shares, "share of each job's time in computation (%)", "Jobs"), folder / "figure6")
    paths += save(_boxes(decisions, "decision time (s)", "Decisions", log=True), folder / "figure7")
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
        ax.text(place, share / 2, f"{share:.1f}", ha="center", color="white")
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
    """Figure 8: ratios of efficiency and turnaround, aware over ignorant."""
    ax = new_axes(None, 6.0)
    found = {platform: pair for (*_, platform), pair in ratios(rows).items()}
    for index, name in enumerate(("system efficiency (higher is better)", "turnaround time (lower is better)")):
        heights = [found[platform][index] if platform in found else np.nan for platform in PROVISIONINGS]
        ax.bar(np.arange(4) + 0.4 * index - 0.2, heights, 0.4, color=PALETTE[2 * index], label=name)
    ax.axhline(1.0, color="#888888", linewidth=0.8)
    ax.set_xticks(range(4), LABELS)
    ax.set_xlabel("under-provisioning of the file system")
    ax.set_ylabel("I/O-aware / I/O-ignorant")
    legend_above(ax, 2)
    return ax
